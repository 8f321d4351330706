//! Reads a command as far as its files: the script that it runs, and the variables that the shell splits.
//!
//! Knows no grammar: where it is not sure what a word is, it finds nothing.

use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::known_elsewhere::{ABOUT_NAMES, name_elsewhere};
use super::report::Problem;
use crate::files;
use crate::hook::{Hook, HookCommand, Shell, expanded};
use crate::printable::shortened;
use crate::trust::{End, follow_within};

/// The most bytes of a command that is checked, and the most of its words.
const LONGEST_COMMAND: usize = 64 * 1024;
const MOST_WORDS: usize = 20;

/// The bytes of a script that are read: its first line, and the names that it uses.
const BEGINNING: u64 = 64 * 1024;

/// Programs that run the file that their first argument names.
const RUNNERS: [&str; 19] = [
    ".", "bash", "bun", "dash", "deno", "env", "exec", "fish", "ksh", "lua", "node", "perl", "php",
    "pwsh", "python", "ruby", "sh", "source", "zsh",
];

/// Where the interpreter of a script is looked for: a `#!` line may name any path.
const INTERPRETERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// The characters that a shell may replace, or that end a command.
const NOT_PLAIN: [char; 15] = [
    '$', '*', '?', '[', '{', '~', '`', '\\', ';', '&', '|', '(', ')', '<', '>',
];

/// A word that names a file.
struct Script {
    name: String,
    /// The program before it, unless it is the command itself.
    runner: Option<String>,
    key: String,
}

/// Returns why the script of a hook cannot run: the first word if it is a path, or the word behind a program that runs
/// files if it is the name of one. `directory` returns the value of a variable that names a directory.
pub(crate) fn check(hook: &Hook, directory: impl Fn(&str) -> Option<String>) -> Option<Problem> {
    fault(hook, directory, |_| None)
}

/// As [`check`], of a hook of hooks.json: a script for another program finds nothing in its input.
pub(super) fn check_own(
    hook: &Hook,
    directory: impl Fn(&str) -> Option<String>,
) -> Option<Problem> {
    fault(hook, directory, |text| name_elsewhere(hook, text))
}

/// `foreign` returns why a text is for another program.
fn fault(
    hook: &Hook,
    directory: impl Fn(&str) -> Option<String>,
    foreign: impl Fn(&str) -> Option<String>,
) -> Option<Problem> {
    let Some(script) = script_of(hook.command(), directory) else {
        let HookCommand::Program(args) = hook.command() else {
            return None;
        };
        return missing_program(hook, args.first()?, "args[0]");
    };
    let program = script.runner.as_ref().unwrap_or(&script.name);
    if let Some(problem) = missing_program(hook, program, &script.key) {
        return Some(problem);
    }
    let name = shortened(&script.name);
    match place(hook, &script.name)? {
        Place::At(_, metadata) if !metadata.is_file() => None,
        Place::Missing => {
            let words = format!("`{name}` does not exist");
            Some(Problem::warning(&script.key, words))
        }
        Place::At(_, metadata) if script.runner.is_none() && !is_executable(&metadata) => {
            let words = format!("`{name}` is not executable");
            let problem = Problem::warning(&script.key, words);
            Some(problem.with_help("make it executable with `chmod +x`"))
        }
        Place::At(path, _) => fault_within(hook, &script, &path, foreign),
    }
}

/// Returns why a script cannot run, or finds nothing in its input, by its text.
fn fault_within(
    hook: &Hook,
    script: &Script,
    path: &Path,
    foreign: impl Fn(&str) -> Option<String>,
) -> Option<Problem> {
    let text = beginning_of(path)?;
    let name = shortened(&script.name);
    let line = text.split('\n').next().unwrap_or_default();
    if let Some(words) = fault_of_first_line(hook, path, line, script.runner.as_deref()) {
        return Some(Problem::warning(&script.key, format!("`{name}` {words}")));
    }
    let words = foreign(&text)?;
    let problem = Problem::warning(&script.key, format!("in `{name}`: {words}"));
    Some(problem.with_help(ABOUT_NAMES))
}

/// Returns the script that a command runs.
fn script_of(command: &HookCommand, directory: impl Fn(&str) -> Option<String>) -> Option<Script> {
    let is_shell = matches!(command, HookCommand::Shell { .. });
    let words = words_of(command)?;
    let mut words = words
        .into_iter()
        .map(|word| match is_shell {
            true => unquoted(&with_home(word)).map(|word| expanded(&word, &directory)),
            false => Some(word),
        })
        .enumerate();
    // A variable that is set for the command comes before it.
    let is_set = |word: &Option<String>| word.as_ref().is_some_and(|it| is_assignment(it));
    let (index, first) = words.find(|(_, word)| !is_shell || !is_set(word))?;
    let first = first.filter(|word| is_plain(word))?;
    let key = |index: usize| match is_shell {
        true => "command".to_owned(),
        false => format!("args[{index}]"),
    };
    // A program with a space in its name is a whole command in most cases.
    if is_path(&first) || (!is_shell && first.contains(' ')) {
        return Some(Script {
            name: first,
            runner: None,
            key: key(index),
        });
    }
    let (index, second) = words.next()?;
    let second = second.filter(|word| is_plain(word) && !is_assignment(word))?;
    let is_file = !second.starts_with('-') && Path::new(&second).extension().is_some();
    (is_runner(&first) && is_file).then(|| Script {
        name: second,
        runner: Some(first),
        key: key(index),
    })
}

/// Returns the first words of a command; None if it is for a shell whose words are others.
fn words_of(command: &HookCommand) -> Option<Vec<String>> {
    match command {
        HookCommand::Program(args) => Some(args.iter().take(MOST_WORDS).cloned().collect()),
        HookCommand::Shell { text, shell } => {
            let words = text.split_whitespace().take(MOST_WORDS);
            let is_read = text.len() <= LONGEST_COMMAND && is_posix(*shell);
            is_read.then(|| words.map(str::to_owned).collect())
        }
    }
}

/// Whether the words of a command are those of `sh`.
pub(super) fn is_posix(shell: Option<Shell>) -> bool {
    match shell {
        None => cfg!(unix),
        Some(shell) => !matches!(
            shell,
            Shell::Fish | Shell::Pwsh | Shell::PowerShell | Shell::Cmd
        ),
    }
}

/// Returns a word with the variable that a shell puts in for `~`.
fn with_home(word: String) -> String {
    match word.strip_prefix("~/") {
        Some(rest) => format!("$HOME/{rest}"),
        None => word,
    }
}

/// Returns a word without its quotes; None if a quote ends in another word.
fn unquoted(word: &str) -> Option<String> {
    let is_whole = |quote: char| word.matches(quote).count().is_multiple_of(2);
    (is_whole('"') && is_whole('\'')).then(|| word.replace(['"', '\''], ""))
}

fn is_plain(word: &str) -> bool {
    !word.contains(NOT_PLAIN) && !word.contains("://")
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_name)
    })
}

fn is_path(word: &str) -> bool {
    word.contains('/') || cfg!(windows) && word.contains('\\')
}

fn is_runner(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNNERS.contains(&stem) || RUNNERS.contains(&word)
}

enum Place {
    Missing,
    At(PathBuf, Metadata),
}

/// Returns the file that a word names; None if it is not known where the hook runs. Of a project, only what is within it
/// is looked at, since its files may name any path.
fn place(hook: &Hook, name: &str) -> Option<Place> {
    let name = Path::new(name);
    if let Some(base) = hook.base_dir() {
        let directory = hook.working_dir().unwrap_or(Path::new(""));
        return match follow_within(base, &directory.join(name)) {
            End::Missing => Some(Place::Missing),
            End::Outside => None,
            End::At(path, metadata) => Some(Place::At(base.join(path), metadata)),
        };
    }
    let is_of_server =
        name.to_string_lossy().starts_with(r"\\") || name.to_string_lossy().starts_with("//");
    if !name.is_absolute() || is_of_server {
        return None;
    }
    match name.metadata() {
        Ok(metadata) => Some(Place::At(name.to_owned(), metadata)),
        Err(error) => (error.kind() == std::io::ErrorKind::NotFound).then_some(Place::Missing),
    }
}

/// Returns why the first line of a script keeps it from running.
fn fault_of_first_line(
    hook: &Hook,
    path: &Path,
    line: &str,
    runner: Option<&str>,
) -> Option<String> {
    if !cfg!(unix) {
        return None;
    }
    let interpreter = line.strip_prefix("#!").filter(|_| runner.is_none());
    let is_for_shell = match runner {
        Some(runner) => ["sh", "bash", "dash", "ksh", "zsh", "."].contains(&runner),
        None => interpreter.is_some() || path.extension().is_some_and(|it| it == "sh"),
    };
    if line.ends_with('\r') && is_for_shell {
        return Some("has CRLF line ends, with which it does not run: save it with LF".to_owned());
    }
    let mut words = interpreter?.split_whitespace();
    let program = Path::new(words.next()?);
    let is_usual = |it: &&str| program.parent() == Some(Path::new(it));
    if !INTERPRETERS.iter().any(is_usual) {
        return None;
    }
    let missing = match words.next() {
        Some(named) if program.ends_with("env") && !named.starts_with('-') => {
            is_missing_program(hook, named).then(|| named.to_owned())
        }
        _ => (!program.exists()).then(|| program.to_string_lossy().into_owned()),
    }?;
    let missing = shortened(&missing);
    Some(format!("needs `{missing}`, which is not found"))
}

fn beginning_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = files::open(path).ok()?;
    file.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn missing_program(hook: &Hook, program: &str, key: &str) -> Option<Problem> {
    is_missing_program(hook, program).then(|| {
        let words = format!("`{}` is not found in `PATH`", shortened(program));
        Problem::warning(key, words)
    })
}

/// Whether the `PATH` that a hook inherits has no such program.
fn is_missing_program(hook: &Hook, program: &str) -> bool {
    let has_own = hook.env().contains_key("PATH") || hook.inherit_rule().is_some();
    // The shell itself has these.
    let is_builtin = matches!(program, "." | "exec" | "source");
    if has_own || is_builtin || is_path(program) || cfg!(windows) {
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
/// in assignments. In a text with other commands within, comments or here-documents, quotes are not followed.
pub(super) fn split_variables(text: &str) -> impl Iterator<Item = &str> {
    let is_simple = !["$(", "`", "<<", "#"].iter().any(|it| text.contains(it));
    let text = if is_simple { text } else { "" };
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
                return variable(&text[at + 1..]);
            }
            _ => {}
        }
        None
    })
}

/// Whether a shell does not split what stands behind this text: in an assignment, behind `case`, and where a list of words
/// is meant.
fn is_kept_whole(before: &str) -> bool {
    let ends_word = |c: char| c.is_whitespace() || ";&|(".contains(c);
    let start = before.rfind(ends_word).map_or(0, |at| at + 1);
    let mut words = before[..start].split_whitespace().rev();
    before[start..].contains('=') || matches!(words.next(), Some("case" | "in"))
}

/// Returns the name of a variable behind `$`; None if the shell puts in something else.
fn variable(text: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.strip_prefix('{') {
        Some(braced) => braced
            .split_once('}')
            .map(|(name, _)| name)
            .filter(|it| it.chars().all(is_name)),
        None => Some(&text[..text.find(|c| !is_name(c)).unwrap_or(text.len())]),
    }
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
            ("echo \"$(basename \"$A\")\"", &[]),
            ("echo $((1 + $A)) # $B", &[]),
            ("cat <<X\n$A\nX", &[]),
            ("echo ${A:-none}", &[]),
            ("x=/tmp/$A.log", &[]),
            ("case x$A in x) ;; esac", &[]),
            ("for f in $A; do echo; done", &[]),
        ] {
            let found: Vec<_> = split_variables(text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
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
            ("sh --posix ./guard.sh", None),
            ("node --import tsx/esm ./guard.ts", None),
            ("A=./x B=/y ./guard.sh", Some("./guard.sh")),
            ("env A=./x ./guard.sh", None),
            ("'./my guard.sh'", None),
            ("curl http://x/y.sh", None),
            ("sh -c ./guard.sh", None),
            ("python3 -m a/b", None),
            ("cd sub && ./guard.sh", None),
            ("mkdir -p ./logs", None),
            ("echo x > ./log", None),
            ("$HOME/guard.sh", None),
            ("test -f ./x && ./x", None),
            ("guard.sh", None),
            ("python3 guard.py", Some("guard.py")),
            ("node --test guard", None),
        ] {
            assert_eq!(script(text).as_deref(), expected, "{text}");
        }
    }
}
