//! Reads a command up to the script that it runs, and checks the script.
//!
//! Finds nothing if the meaning of a word is not certain.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::agent_names;
use super::host::Host;
use crate::command::Outline;
use crate::entry::{HookCommand, Shell};
use crate::files;
use crate::hook::Hook;
use crate::named::{End, follow_within};
use crate::printable::shortened;
use crate::problem::Problem;
use crate::process::program_directories;

/// The most bytes of a command that is checked.
const LONGEST_COMMAND: usize = 64 * 1024;

/// The bytes of a script that are read: its first line, and the names that it uses.
const BEGINNING: u64 = 64 * 1024;

/// The directories in which the interpreter of a script is checked: a `#!` line may name any path.
const INTERPRETERS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// The characters that a shell may replace by other words.
const NOT_PLAIN: [char; 5] = ['*', '?', '[', '{', '~'];

/// The first words of a command, as far as they are known.
struct Start {
    /// The program, if it is searched for in `PATH`.
    program: Option<String>,
    /// The file that runs.
    script: Option<String>,
    key: &'static str,
    program_key: &'static str,
}

/// Returns the problem that keeps the script of a hook from running. The script is the first word if it is a path, or the word
/// after a program that runs files if it names one. `directory` returns the value of a variable that names a directory.
pub(super) fn check(hook: &Hook, directory: impl Fn(&str) -> Option<String>) -> Option<Problem> {
    beginning(hook, &start_of(hook, directory)?, true).err()
}

/// Does what [`check`] does for a hook of hooks.json. Also finds a script for another program, whose names do not occur in our
/// input. Checks whether the script can run only if `checks_start`.
pub(super) fn check_own(
    hook: &Hook,
    host: &Host,
    checks_start: bool,
    directory: impl Fn(&str) -> Option<String>,
) -> Option<Problem> {
    let start = start_of(hook, directory)?;
    let text = match beginning(hook, &start, checks_start) {
        Ok(text) => text?,
        Err(problem) => return Some(problem),
    };
    if text.is_empty() {
        // Shells and interpreters treat it as a program that succeeds.
        let message = format!(
            "`{}` is empty: it checks nothing",
            shortened(&start.script?)
        );
        return Some(Problem::warning(start.key, message));
    }
    let (message, help) = agent_names::field(hook, &text, host)?;
    let message = format!("in `{}`: {message}", shortened(&start.script?));
    Some(Problem::warning(start.key, message).with_help(help))
}

/// Returns the name of the script of a hook, and the beginning of its text, if it can be read.
pub(super) fn beginning_of_own(
    hook: &Hook,
    directory: impl Fn(&str) -> Option<String>,
) -> Option<(String, String)> {
    let start = start_of(hook, directory)?;
    let text = beginning(hook, &start, false).ok().flatten()?;
    Some((start.script?, text))
}

/// Returns the beginning of the script's text, if it can be read; or the problem that keeps the script from running, if
/// `checks_start`.
fn beginning(hook: &Hook, start: &Start, checks_start: bool) -> Result<Option<String>, Problem> {
    let fault = |message: String| {
        if checks_start {
            Err(Problem::warning(start.key, message))
        } else {
            Ok(None)
        }
    };
    let program = start.program.as_deref();
    if let Some(program) =
        program.filter(|program| checks_start && is_missing_program(hook, program))
    {
        let message = format!("`{}` is not found in `PATH`", shortened(program));
        let problem = Problem::warning(start.program_key, message);
        return Err(problem.with_help("install it, or write its whole path"));
    }
    let Some(script) = &start.script else {
        return Ok(None);
    };
    let name = shortened(script);
    let (path, metadata) = match place(hook, script) {
        End::Missing => return fault(format!("`{name}` does not exist")),
        End::At(path, metadata) if metadata.is_file() => (path, metadata),
        End::At(..) | End::Outside(_) => return Ok(None),
    };
    if program.is_none() && cfg!(unix) && !files::is_executable(&metadata) {
        let fault = fault(format!("`{name}` is not executable"));
        let help = format!(
            "make it executable with `chmod +x {}`",
            files::quoted_path(&path)
        );
        return fault.map_err(|problem| problem.with_help(help));
    }
    let Some(text) = beginning_of(&path) else {
        return Ok(None);
    };
    if !checks_start {
        return Ok(Some(text));
    }
    let line = text.split('\n').next().unwrap_or_default();
    match fault_of_first_line(hook, &path, line, program) {
        Some(message) => fault(format!("`{name}` {message}")),
        None => Ok(Some(text)),
    }
}

/// Returns the first words of a command; None if they are not known.
fn start_of(hook: &Hook, directory: impl Fn(&str) -> Option<String>) -> Option<Start> {
    let (words, keys): (Vec<_>, _) = match hook.action() {
        HookCommand::Program(args) => {
            let words = args.iter().take(2).cloned();
            (words.collect(), ["args[0]", "args[1]"])
        }
        HookCommand::Shell { .. } => {
            let first = Outline::read(posix_text(hook)?).steps.into_iter().next();
            let words = first?.words.into_iter().take(2);
            let words = words.map_while(|word| word.value(&directory));
            (words.collect(), ["command"; 2])
        }
        HookCommand::Answer(_) => return None,
    };
    let mut words = words.into_iter();
    let first = words.next()?;
    let second = words.next().filter(|second| runs(&first, second));
    let (program, script, key) = match second {
        _ if is_path(&first) && is_plain(&first) => (None, Some(first), keys[0]),
        Some(second) => (Some(first), Some(second), keys[1]),
        None if matches!(hook.action(), HookCommand::Program(_)) || is_runner(&first) => {
            (Some(first), None, keys[0])
        }
        // A shell has builtins.
        None => return None,
    };
    Some(Start {
        program,
        script,
        key,
        program_key: keys[0],
    })
}

/// Programs that run the file whose name follows.
const RUNNERS: &str = "bash bun dash deno env exec fish ksh lua node nodejs perl php powershell pwsh pypy python ruby sh \
     source tclsh zsh";

/// The program that most hooks use to read their input.
const JQ: &str = "jq";

fn is_runner(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    stem == JQ || RUNNERS.split(' ').any(|runner| runner == stem)
}

/// Returns whether the program runs the file that the next word names.
fn runs(program: &str, word: &str) -> bool {
    // An absolute path is a file. Another word without an extension may be a command of the program.
    let path = Path::new(word);
    let is_file = !word.starts_with('-') && (path.is_absolute() || path.extension().is_some());
    is_runner(program) && program != JQ && is_file && !word.contains('=') && is_plain(word)
}

/// Returns the script of a command that is named by a relative path, with its key.
pub(super) fn relative(
    hook: &Hook,
    directory: impl Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    let Start { script, key, .. } = start_of(hook, directory)?;
    let script = script.filter(|script| Path::new(script).is_relative())?;
    Some((key, script))
}

/// Returns the text of a command for a shell such as `sh`, if it is not too long.
pub(super) fn posix_text(hook: &Hook) -> Option<&str> {
    use Shell::{Cmd, Fish, PowerShell, Pwsh};
    let HookCommand::Shell { text, shell } = hook.action() else {
        return None;
    };
    let is_other = matches!(shell, Some(Fish | Pwsh | PowerShell | Cmd));
    let is_posix = !is_other && (shell.is_some() || cfg!(unix));
    (is_posix && text.len() <= LONGEST_COMMAND).then_some(text)
}

fn is_plain(word: &str) -> bool {
    !word.contains(NOT_PLAIN) && !word.contains("://")
}

fn is_path(word: &str) -> bool {
    word.contains('/') || cfg!(windows) && word.contains('\\')
}

/// Returns the path of a word, as far as the hook's directory is known. A path of a project must be within the project,
/// since its files may name any path.
fn place(hook: &Hook, name: &str) -> End {
    let is_of_server = name.starts_with(r"\\") || name.starts_with("//");
    let (base, directory) = match hook.base_dir() {
        Some(base) => (base, hook.working_dir()),
        None if Path::new(name).is_absolute() && !is_of_server => (Path::new("/"), None),
        None => return End::Outside(PathBuf::new()),
    };
    match follow_within(base, &directory.unwrap_or(Path::new("")).join(name)) {
        End::At(path, metadata) => End::At(base.join(path), metadata),
        end => end,
    }
}

/// Returns the reason why the first line of a script keeps it from running.
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
        None => {
            interpreter.is_some() || path.extension().is_some_and(|extension| extension == "sh")
        }
    };
    if line.ends_with('\r') && is_for_shell {
        return Some("has CRLF line ends, with which it does not run: save it with LF".to_owned());
    }
    let mut words = interpreter?.split_whitespace();
    let program = words.next()?;
    let (directory, name) = program.rsplit_once('/')?;
    if !INTERPRETERS.contains(&directory) {
        return None;
    }
    let named = words
        .next()
        .filter(|word| name == "env" && !word.starts_with('-'));
    let is_missing = match named {
        Some(named) => is_missing_program(hook, named),
        None => !Path::new(program).exists(),
    };
    let missing = shortened(named.unwrap_or(program));
    is_missing.then(|| format!("needs `{missing}`, which is not found"))
}

fn beginning_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = files::open(path).ok()?;
    file.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether the `PATH` that a hook inherits has no such program.
fn is_missing_program(hook: &Hook, program: &str) -> bool {
    let has_own = hook.env().contains_key("PATH") || hook.inherit().is_some();
    // These are builtins of the shell.
    let is_builtin = matches!(program, "." | "exec" | "source");
    if has_own || is_builtin || is_path(program) || cfg!(windows) {
        return false;
    }
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    !program_directories(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_script_is_a_script() {
        let script = |text: &str| {
            let hook = Hook::new("*", text).unwrap();
            let start = start_of(&hook, |name| (name == "ROOT").then(|| "/root".to_owned()));
            start.and_then(|start| start.script)
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
            ("'./my guard.sh'", Some("./my guard.sh")),
            ("2>/dev/null ./guard.sh>log", Some("./guard.sh")),
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
            ("'/a/guard.sh' x", Some("/a/guard.sh")),
            ("\"/a/guard.sh\" x", Some("/a/guard.sh")),
            ("sh '/a/guard.sh'", Some("/a/guard.sh")),
            ("sh '/a/guard' x", Some("/a/guard")),
            ("sh guard", None),
            ("! ./guard.sh", Some("./guard.sh")),
            ("(./guard.sh)", None),
            ("${ROOT:-.}/guard.sh", Some("/root/guard.sh")),
            ("${ROOT:+x/}guard.sh", None),
            ("$(x)/guard.sh", None),
        ] {
            assert_eq!(script(text).as_deref(), expected, "{text}");
        }
    }
}
