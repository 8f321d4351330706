//! Safe access to the files that decide what runs: regular files only, replaced in one step, changed by one
//! process at a time, and writable only by the user.
//!
//! Does not know the content of the files.

use std::borrow::Cow;
use std::path::Path;

use crate::printable::is_printable;

mod atomic;
mod lock;
#[cfg(unix)]
mod ownership;
mod regular;
mod there;
mod write;

#[cfg(feature = "cli")]
pub(crate) use atomic::replace_program;
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
pub(crate) use write::{
    create_new, create_private, remove, remove_all, remove_directory, remove_old,
};

/// Quotes a path as one word for a shell, for a command that a person copies. A path that cannot be shown as it is has its bytes
/// in octal.
pub(crate) fn quoted_path(path: &Path) -> String {
    let mut path = Cow::Borrowed(path);
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        // An option begins so, too.
        path = Path::new(".").join(path).into();
    }
    match path.to_str() {
        Some(text) if cfg!(windows) || text.chars().all(is_printable) => quoted(text),
        _ if cfg!(windows) => quoted(&path.to_string_lossy()),
        _ => in_octal(path.as_os_str().as_encoded_bytes()),
    }
}

fn in_octal(bytes: &[u8]) -> String {
    let mut word = String::new();
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b' ' => {
                word.push(char::from(*byte));
            }
            _ => word += &format!("\\{byte:03o}"),
        }
    }
    format!("\"$(printf '{word}')\"")
}

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

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;
    use crate::printable;

    /// A shell reads each path as it is, after it was printed.
    #[test]
    fn a_quoted_path_is_one_word() {
        let names: [&[u8]; 12] = [
            b"/a/b",
            b"a b",
            b"it's",
            b"a\"b",
            b"$x `ls` $(ls)",
            b"a\\b",
            b"a\nb",
            b"\x1b[2J %s\\n",
            b"-x",
            b"-\xff",
            b"caf\xe91 100%",
            "g\u{202e}\u{f6}\u{df}e".as_bytes(),
        ];
        for name in names {
            let path = Path::new(OsStr::from_bytes(name));
            let word = printable(&quoted_path(path));
            let shell = Command::new("sh")
                .args(["-c", &format!("printf %s {word}")])
                .output()
                .unwrap();
            let expected = if name.starts_with(b"-") {
                [b"./", name].concat()
            } else {
                name.to_owned()
            };
            assert_eq!(shell.stdout, expected, "{word}");
        }
    }
}
