//! Safe access to the files that decide what runs: regular files only, replaced in one step, changed by one
//! process at a time, and writable only by the user.
//!
//! Does not know the content of the files.

mod atomic;
mod lock;
#[cfg(unix)]
mod ownership;
mod regular;
mod there;
mod write;

pub(crate) use atomic::{NewFile, end_of_links, replace};
pub(crate) use lock::{Lock, lock};
#[cfg(unix)]
pub(crate) use ownership::{check, check_system};
pub(crate) use regular::{is_executable, open};
pub(crate) use there::{
    create_directory, dangling_directory, dangling_link, is_missing, is_there, to_nothing,
};
pub(crate) use write::{PathRule, append, copy_to_new, empty};
#[cfg(feature = "cli")]
pub(crate) use write::{create_new, create_private, remove, remove_old};

/// Quotes a text as one word for a shell, for a command that a person copies.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || "/._-+:".contains(c) || cfg!(windows) && c == '\\';
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
