//! Detects commands that need no shell: a path and plain words, where a shell would only execute the file.
//!
//! Knows the characters without a meaning for a shell, and the changes that a shell makes to the environment. Executes
//! nothing.

use std::path::Path;

use crate::entry::HookCommand;

/// Returns the words of a command that needs no shell; empty if the shell must run it.
pub(super) fn direct_words<'a>(
    command: &'a HookCommand,
    working_dir: &Path,
    sets_pwd: bool,
) -> Vec<&'a str> {
    let HookCommand::Shell { text, shell: None } = command else {
        return Vec::new();
    };
    // A shell corrects a `PWD` that is not the working directory.
    let pwd_is_right = working_dir.is_absolute() && !sets_pwd;
    if cfg!(unix) && pwd_is_right {
        plain_words(text)
    } else {
        Vec::new()
    }
}

/// Splits a command of plain characters into words. The first word contains a slash: so it is not a builtin, a function or
/// an alias, and is not searched for on the `PATH`.
fn plain_words(text: &str) -> Vec<&str> {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let is_of_words = |byte: u8| is_plain(byte) || is_blank(char::from(byte)) || byte == b'=';
    let words = text.split(is_blank).filter(|word| !word.is_empty());
    let first = words.clone().next();
    let is_direct = first.is_some_and(|first| names_a_file(first) && !first.contains('='));
    // Most commands end here, without being split.
    if is_direct && text.bytes().all(is_of_words) {
        words.collect()
    } else {
        Vec::new()
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.,/:@%+-".contains(&byte)
}

/// Returns whether the system and a shell find the same file for this path. The standard library does not specify how a
/// relative path is resolved together with another working directory. On Linux it is resolved after the
/// change of directory, which the tests check.
fn names_a_file(word: &str) -> bool {
    let relative_is_safe = cfg!(any(target_os = "linux", target_os = "android"));
    // In bash `%/x` is a job.
    let is_path = word.starts_with('/') || relative_is_safe && word.contains('/');
    is_path && !word.starts_with('%')
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::entry::Shell;
    use crate::hook::Hook;

    #[test]
    fn a_path_with_plain_words_needs_no_shell() {
        for text in [
            "/bin/true",
            "./guard.sh",
            "hooks/guard.sh --strict",
            "/bin/echo a b c",
            "./x A=1 --name=value = ==",
            "../x %1 +x -x @file a:b 1,2 _",
            "-x/y",
            "+x/y",
            "//x",
            "dir/",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(plain_words(text), words, "{text}");
        }
        assert_eq!(plain_words("  ./x\ta  b "), ["./x", "a", "b"]);
    }

    #[test]
    fn all_other_commands_need_the_shell() {
        for text in [
            "",
            " ",
            "true",
            "echo /bin/true",
            ". ./x",
            "A=1 ./x",
            "%/x",
            "./A=1",
            "/x=/y",
            "./x\n",
            "./x a\nb",
            "./x\r",
            "~/x",
            "./x ~",
            "./x *",
            "./x a?",
            "./x [a]",
            "./x {a,b}",
            "./x $A",
            "./x `a`",
            "./x 'a'",
            "./x \"a\"",
            "./x \\a",
            "./x #a",
            "./x;",
            "./x&",
            "./x|y",
            "./x>y",
            "./x <y",
            "(./x)",
            "! ./x",
            "./x !a",
            "./x ^a",
            "./x a\0",
            "./ä",
            "./x ä",
        ] {
            assert!(plain_words(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn an_own_shell_or_pwd_needs_the_shell() {
        let hook = Hook::new("*", "./x").unwrap();
        let words = |hook: &Hook, dir: &str, sets_pwd: bool| {
            direct_words(hook.action(), Path::new(dir), sets_pwd).len()
        };
        assert_eq!(words(&hook, "/tmp", false), 1);
        assert_eq!(words(&hook, "/tmp", true), 0);
        assert_eq!(words(&hook, "tmp", false), 0);
        let hook = hook.with_shell(Shell::Sh);
        assert_eq!(words(&hook, "/tmp", false), 0);
        let program = Hook::program("*", ["./x"]).unwrap();
        assert_eq!(words(&program, "/tmp", false), 0);
    }
}
