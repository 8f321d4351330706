//! Reads a command as far as its files: the script that it runs, and the variables that the shell splits.
//!
//! Knows no grammar: where it is not sure what a word is, it finds nothing.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::report::Problem;
use crate::files;
use crate::hook::{Hook, HookCommand, expanded};
use crate::printable::shortened;

/// The most bytes of a command that is checked.
const LONGEST_COMMAND: usize = 64 * 1024;

/// The bytes of a script in which its line ends are looked for.
const BEGINNING: u64 = 4096;

/// Programs that run the file that their first argument names.
const RUNNERS: [&str; 20] = [
    ".",
    "bash",
    "bun",
    "dash",
    "deno",
    "env",
    "exec",
    "fish",
    "ksh",
    "lua",
    "node",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "python",
    "ruby",
    "sh",
    "source",
    "zsh",
];

/// The characters that a shell may replace, or that end a command.
const NOT_PLAIN: [char; 14] = [
    '$', '*', '?', '[', '{', '~', '`', '\\', ';', '&', '|', '(', '<', '>',
];

/// A word that names a file.
struct Script {
    name: String,
    /// The program before it, unless it is the command itself.
    runner: Option<String>,
    key: String,
}

/// Returns why the script of a hook cannot run: the first word if it is a path, or the word behind a program that runs
/// files if it is one. `directory` returns the value of a variable that names a directory.
pub(crate) fn check(hook: &Hook, directory: impl Fn(&str) -> Option<String>) -> Option<Problem> {
    let script = script_of(hook.command(), directory)?;
    if let Some(runner) = &script.runner
        && is_missing_program(hook, runner)
    {
        let words = format!("`{}` is not found in `PATH`", shortened(runner));
        return Some(Problem::warning(script.key, words));
    }
    let path = place(hook, &script.name)?;
    unusable(&script, &path)
}

fn script_of(command: &HookCommand, directory: impl Fn(&str) -> Option<String>) -> Option<Script> {
    let (words, key): (Vec<String>, _) = match command {
        HookCommand::Shell { text, .. } if text.len() > LONGEST_COMMAND => return None,
        HookCommand::Shell { text, .. } => {
            let words = text.split_whitespace().take(MOST_WORDS);
            let words = words.map(|word| expanded(&word.replace(['"', '\''], ""), &directory));
            (words.collect(), "command")
        }
        HookCommand::Program(args) => (args.iter().take(MOST_WORDS).cloned().collect(), "args"),
    };
    let is_plain = |word: &str| !word.contains(NOT_PLAIN);
    let key_of = |index: usize| match key {
        "args" => format!("args[{index}]"),
        key => key.to_owned(),
    };
    let first = words.first().filter(|word| is_plain(word))?;
    if is_path(first) {
        return Some(Script {
            name: first.clone(),
            runner: None,
            key: key_of(0),
        });
    }
    let mut rest = words.iter().enumerate().skip(1);
    let (index, second) = rest.find(|(_, word)| !word.starts_with('-'))?;
    // The argument of `-c` and `-m` is not a file.
    let is_code = words[1..index].iter().any(|word| !word.starts_with("--"));
    if !is_runner(first) || is_code || !is_plain(second) || !is_path(second) {
        return None;
    }
    Some(Script {
        name: second.clone(),
        runner: Some(first.clone()),
        key: key_of(index),
    })
}

/// The most words of a command that are looked at.
const MOST_WORDS: usize = 20;

fn is_path(word: &str) -> bool {
    word.contains('/') || cfg!(windows) && word.contains('\\')
}

fn is_runner(word: &str) -> bool {
    let word = word.strip_suffix(".exe").unwrap_or(word);
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNNERS.contains(&stem) || RUNNERS.contains(&word)
}

/// Returns the file that a word names; None if it is not known where the hook runs. Of a project, only files within it
/// are looked at, since the project may name any path.
fn place(hook: &Hook, name: &str) -> Option<PathBuf> {
    let name = Path::new(name);
    let Some(base) = hook.base_dir() else {
        let is_shared = name.to_string_lossy().starts_with(['\\', '/'])
            && name.to_string_lossy()[1..].starts_with(['\\', '/']);
        return (name.is_absolute() && !is_shared).then(|| name.to_owned());
    };
    let path = match hook.working_dir() {
        Some(directory) => base.join(directory).join(name),
        None => base.join(name),
    };
    let goes_up = path.components().any(|part| part.as_os_str() == "..");
    (path.starts_with(base) && !goes_up).then_some(path)
}

fn unusable(script: &Script, path: &Path) -> Option<Problem> {
    let name = shortened(&script.name);
    let problem = |words: String| Problem::warning(&script.key, words);
    let Ok(metadata) = path.metadata() else {
        return Some(problem(format!("`{name}` does not exist")));
    };
    if !metadata.is_file() {
        return None;
    }
    if script.runner.is_none() && !is_executable(&metadata) {
        let words = format!("`{name}` is not executable");
        return Some(problem(words).with_help(format!("chmod +x {name}")));
    }
    let beginning = beginning_of(path)?;
    let first = beginning.lines().next().unwrap_or_default();
    let interpreter = first.strip_prefix("#!").map(str::trim);
    let is_of_shell = path
        .extension()
        .is_some_and(|it| it == "sh" || it == "bash");
    if beginning.contains("\r\n") && cfg!(unix) && (interpreter.is_some() || is_of_shell) {
        let words = format!("`{name}` has CRLF line ends, with which it does not run");
        return Some(problem(words).with_help(format!("sed -i 's/\\r$//' {name}")));
    }
    let interpreter = interpreter?.split_whitespace().next()?;
    if script.runner.is_none() && cfg!(unix) && !Path::new(interpreter).exists() {
        let words = format!(
            "`{name}` needs `{}`, which does not exist",
            shortened(interpreter)
        );
        return Some(problem(words));
    }
    None
}

fn beginning_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = files::open(path).ok()?;
    file.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the `PATH` that a hook inherits has no such program.
fn is_missing_program(hook: &Hook, program: &str) -> bool {
    let has_own = hook.env().contains_key("PATH") || hook.inherit_rule().is_some();
    // The shell itself has these.
    let is_builtin = matches!(program, "." | "exec" | "source");
    if has_own || is_builtin || cfg!(windows) {
        return false;
    }
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    !std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &Metadata) -> bool {
    true
}

/// Returns the variables outside of quotes whose values a shell splits into words: not those in `[[ ]]`, behind `case` and
/// in assignments.
pub(super) fn split_variables(text: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut is_escaped = false;
    let mut is_in_test = false;
    text.char_indices().filter_map(move |(at, c)| {
        if std::mem::take(&mut is_escaped) {
            return None;
        }
        match (c, quote) {
            ('\\', Some('"') | None) => is_escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('[', None) if text[at..].starts_with("[[") => is_in_test = true,
            (']', None) if text[at..].starts_with("]]") => is_in_test = false,
            ('$', None) if !is_in_test && !is_kept_whole(&text[..at]) => {
                return Some(variable(&text[at + 1..]));
            }
            _ => {}
        }
        None
    })
}

/// Whether a shell does not split what stands behind this text.
fn is_kept_whole(before: &str) -> bool {
    before.ends_with('=') || before.trim_end().ends_with("case")
}

/// Returns the name of a variable behind `$`.
fn variable(text: &str) -> &str {
    let text = text.strip_prefix('{').unwrap_or(text);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    &text[..text.find(|c| !is_name(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_outside_of_quotes_are_split() {
        for (text, expected) in [
            ("[ $A = x ]", &["A"][..]),
            ("echo ${B}/x \"$C\" '$D' \\$E $F", &["B", "F"]),
            ("case $A in x) ;; esac", &[]),
            ("[[ $A == x ]] && echo $B", &["B"]),
            ("x=$A; echo \"it's $B\"", &[]),
            ("echo \"a\\\" $A\"", &[]),
        ] {
            let found: Vec<_> = split_variables(text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn only_a_script_is_a_script() {
        let script = |text: &str| {
            let hook = Hook::new("*", text).unwrap();
            let found = script_of(hook.command(), |name| {
                (name == "ROOT").then(|| "/root".to_owned())
            });
            found.map(|script| script.name)
        };
        for (text, expected) in [
            ("./guard.sh --strict", Some("./guard.sh")),
            ("hooks/guard.py", Some("hooks/guard.py")),
            ("\"$ROOT\"/guard.sh", Some("/root/guard.sh")),
            ("python3.12 ./guard.py x/y", Some("./guard.py")),
            ("sh --posix ./guard.sh", Some("./guard.sh")),
            ("sh -c ./guard.sh", None),
            ("python3 -m a/b", None),
            ("cd sub && ./guard.sh", None),
            ("mkdir -p ./logs", None),
            ("echo x > ./log", None),
            ("$HOME/guard.sh", None),
            ("test -f ./x && ./x", None),
            ("guard.sh", None),
        ] {
            assert_eq!(script(text).as_deref(), expected, "{text}");
        }
    }
}
