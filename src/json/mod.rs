//! JSON texts: reading one as a tree of values with their places, and the reasons why one cannot be read.
//!
//! Knows nothing of hooks. Each JSON text that comes from outside (a file, an event, an answer, a case) passes
//! [`readable`].

mod fault;
mod node;
mod position;
mod syntax;
mod text;
mod tree;

pub(crate) use fault::Fault;
#[cfg(feature = "cli")]
pub(crate) use node::JsonTree;
pub(crate) use node::{Member, Node, kind};
pub use position::Position;
pub(crate) use position::Positions;
pub(crate) use text::{Readable, parse, read, readable, values};
#[cfg(test)]
pub(crate) use tree::{DEEPEST, MOST_VALUES};
pub(crate) use tree::{LARGEST_TEXT, NOT_AN_OBJECT, parse_object, parse_options, too_large};
