//! A tool of an agent, by its names there and here.

use super::names::{Pairs, Words};

/// A tool of an agent, by its names there and here.
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) theirs: &'static str,
    /// The tool's usual names in hosts. The first row with a name has it; the first name of a row is the tool's name in
    /// hooks.json.
    pub(crate) ours: Words,
    /// The arguments that have other names here: the agent's name of each, and ours. A host's hooks still find the agent's
    /// names, unless the host maps its arguments.
    pub(crate) arguments: Pairs,
    /// The arguments by which hooks of the agent recognize the tool's operation.
    pub(crate) needs: Words,
    /// The argument with a text of which the tool fetches each address.
    pub(crate) fetches_from: Option<&'static str>,
}

/// Creates a tool without arguments of its own names.
pub(crate) const fn tool(theirs: &'static str, ours: Words) -> Tool {
    Tool {
        theirs,
        ours,
        arguments: &[],
        needs: &[],
        fetches_from: None,
    }
}

impl Tool {
    pub(crate) const fn with_arguments(self, arguments: Pairs) -> Self {
        Self { arguments, ..self }
    }

    pub(crate) const fn needing(self, needs: Words) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn fetching_from(self, text: &'static str) -> Self {
        Self {
            fetches_from: Some(text),
            ..self
        }
    }
}
