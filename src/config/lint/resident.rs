//! Finds probable mistakes in a hook whose process is kept.
//!
//! Reads the command, not the scripts that it names.

use super::{Finding, is_ours, is_posix, variables};
use crate::hook::{CommandText, Hook, HookCommand, Reads, Token, Word, literal_words, words};
use crate::profile::AppProfile;

/// The variables that such a hook has, after a prefix.
const SET: [&str; 4] = ["WORKING_DIR", "RESIDENT", "HOOK_CHAIN", "HOOKS_DISABLE"];

/// Programs that answer only when their input ends.
const READ_TO_THE_END: [&str; 6] = ["cat", "sort", "tac", "tail", "wc", "xargs"];

pub(super) fn lint(
    hook: &Hook,
    is_written: impl Fn(&str) -> bool,
    profile: &AppProfile,
) -> Vec<Finding> {
    let mut found = Vec::new();
    match hook.command() {
        HookCommand::Program(args) => {
            let args: Vec<_> = args.iter().cloned().map(Word::literal).collect();
            let args: Vec<_> = args.iter().collect();
            found.extend(of_program(&args, "args"));
        }
        HookCommand::Shell { text, shell } if is_posix(*shell) => {
            found.extend(of_text(&words(text)));
        }
        HookCommand::Shell { .. } => {}
    }
    found.extend(event_variable(hook, profile));
    if found.is_empty() {
        found.extend(unknown_files(hook));
    }
    if is_written("reads") && hook.reads() == Reads::Environment {
        let message = "a resident hook has no event in its environment";
        let help = "remove `reads`: the hook reads its events from standard input";
        found.push(Finding::new("reads", message).with_help(help));
    }
    found
}

/// Finds a command whose process is never kept.
fn unknown_files(hook: &Hook) -> Option<Finding> {
    if literal_words(hook.command()).is_some() || !hook.inputs().is_empty() {
        return None;
    }
    let (key, help) = match hook.command() {
        HookCommand::Program(_) => (
            "args",
            "name the script as an argument, or list the files in `inputs`",
        ),
        HookCommand::Shell { .. } => (
            "command",
            "write it as `args`, a program and its arguments, or list the files in `inputs`",
        ),
    };
    let message = "the files that this command runs are unknown, so its process is not kept";
    Some(Finding::new(key, message).with_help(help))
}

fn reads_to_the_end(program: &str, key: &str) -> Finding {
    let message = format!(
        "`{program}` reads to the end of its input, which comes only when the process must end"
    );
    Finding::new(key, message).with_help("answer each line as it is read")
}

/// Finds the first program in the text, or in its nested code, that does not answer each line as it comes.
fn of_text(text: &CommandText) -> Option<Finding> {
    let mut commands = text
        .tokens
        .split(|token| matches!(token, Token::Operator(_)));
    let first = commands.find_map(|command| {
        let words = command.iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Operator(_) => None,
        });
        of_program(&words.collect::<Vec<_>>(), "command")
    });
    first.or_else(|| text.nested.iter().find_map(of_text))
}

fn of_program(words: &[&Word], key: &str) -> Option<Finding> {
    let mut words = words.iter().map(|word| &*word.text).peekable();
    let mut loops = false;
    // Skips the words that may precede a program.
    while let Some(word) = words.next_if(|word| stands_before_a_program(word)) {
        loops |= ["while", "until"].contains(&word);
    }
    let program = words.next()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if loops && name == "read" {
        let message = "`while read` makes a system call for each byte of an event";
        let help = "read whole lines, as Python, Node and `jq --unbuffered` do";
        return Some(Finding::new(key, message).with_help(help));
    }
    if name == "jq" {
        return of_jq(words, key);
    }
    // With a file as an argument, it does not read the events.
    let reads_events = words.all(|word| word.starts_with('-'));
    let reads = READ_TO_THE_END.contains(&name) && (reads_events || name == "xargs");
    reads.then(|| reads_to_the_end(name, key))
}

fn stands_before_a_program(word: &str) -> bool {
    let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
        let mut chars = name.chars();
        !name.is_empty() && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let keywords = [
        "while", "until", "do", "if", "then", "else", "elif", "!", "{", "exec", "command",
    ];
    is_assignment || keywords.contains(&word)
}

/// Checks the options of `jq`. Short options may be combined, as in `-sc`.
fn of_jq<'a>(options: impl Iterator<Item = &'a str>, key: &str) -> Option<Finding> {
    let options: Vec<_> = options.filter(|word| word.starts_with('-')).collect();
    let slurps = |word: &&&str| match word.strip_prefix("--") {
        Some(long) => long == "slurp",
        None => word.contains('s') && word.chars().skip(1).all(char::is_alphabetic),
    };
    if options.iter().any(|word| slurps(&word)) {
        return Some(reads_to_the_end("jq --slurp", key));
    }
    if options.contains(&"--unbuffered") {
        return None;
    }
    Some(Finding::new(key, "`jq` buffers its answers").with_help("use `jq --unbuffered`"))
}

/// Finds a variable of an event, unless the hook sets it itself.
fn event_variable(hook: &Hook, profile: &AppProfile) -> Option<Finding> {
    let (key, texts): (_, Vec<&str>) = match hook.command() {
        HookCommand::Shell { text, .. } => ("command", vec![text]),
        HookCommand::Program(args) => ("args", args.iter().map(String::as_str).collect()),
    };
    let is_set = |name: &str| {
        let prefixes = profile.env_prefixes().iter();
        let mut rests = prefixes.filter_map(|prefix| name.strip_prefix(prefix.as_str()));
        hook.env().contains_key(name)
            || rests.any(|rest| SET.contains(&rest.trim_start_matches('_')))
    };
    let name = texts
        .into_iter()
        .flat_map(variables)
        .find(|name| is_ours(name, profile) && !is_set(name))?;
    let message = format!("`${name}` is not set: a resident hook has no variables of an event");
    Some(Finding::new(key, message).with_help("read the event from standard input"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn messages(hook: &Hook) -> Vec<String> {
        let found = lint(hook, |_| true, &AppProfile::default());
        let found = found.into_iter().filter(|it| it.key != "reads");
        found
            .map(|it| format!("{}: {}", it.key, it.message))
            .collect()
    }

    #[test]
    fn a_command_whose_files_are_unknown_is_found() {
        let hook = |command: &str| Hook::new("*", command).unwrap().with_resident();
        case(&hook("~/guard.py"), Some("are unknown"));
        case(&hook("./guard.py"), None);
        case(&hook("~/guard.py").with_inputs(["guard.py"]), None);
    }

    #[track_caller]
    fn case(hook: &Hook, expected: Option<&str>) {
        let found = messages(hook);
        let command = hook.command();
        match expected {
            None => assert!(found.is_empty(), "{command}: {found:?}"),
            Some(words) => assert!(
                found.len() == 1 && found[0].contains(words),
                "{command}: {found:?}"
            ),
        }
    }

    #[test]
    fn what_does_not_answer_each_line_is_found() {
        const END: &str = "reads to the end";
        for (command, expected) in [
            ("cat", Some("`cat` reads to the end")),
            ("/bin/cat - | ./guard", Some(END)),
            ("event=$(cat); ./guard \"$event\"", Some(END)),
            ("A=1 sort", Some(END)),
            ("exec jq -sc .", Some("`jq --slurp` reads")),
            ("jq -c '{id}'", Some("`jq` buffers")),
            ("exec jq -c --unbuffered '{id}'", None),
            ("jq --unbuffered -c --slurp .", Some("`jq --slurp`")),
            (
                "while IFS= read -r line; do echo x; done",
                Some("each byte"),
            ),
            (
                "true; until ! read line; do echo x; done",
                Some("each byte"),
            ),
            ("while true; do ./x; done", None),
            ("cat rules | wc -l >n; ./guard", Some("`wc`")),
            ("cat rules >all; exec ./guard cat", None),
            ("./guard.py --read cat", None),
            ("echo 'cat'", None),
        ] {
            case(
                &Hook::new("*", command).unwrap().with_inputs(["x"]),
                expected,
            );
        }
        for (args, expected) in [
            (&["cat"][..], Some("args: `cat`")),
            (&["jq", "-c", "."], Some("args: `jq`")),
            (&["jq", "--unbuffered", "-c", "."], None),
            (&["python3", "-I", "cat"], None),
        ] {
            case(&Hook::program("*", args.iter().copied()).unwrap(), expected);
        }
    }

    #[test]
    fn a_variable_of_the_event_is_found() {
        for (command, name) in [
            ("./guard \"$FORGE_TOOL_NAME\"", Some("FORGE_TOOL_NAME")),
            ("./guard ${OPENCODE_EVENT}", Some("OPENCODE_EVENT")),
            ("sh -c './guard $TOOL_ARGS'", Some("TOOL_ARGS")),
            ("cd \"$FORGE_WORKING_DIR\" && ./guard $FORGE_RESIDENT", None),
            ("./guard $FORGE_HOOK_CHAIN $HOME $FORGE_OWN", None),
        ] {
            let hook = Hook::new("*", command).unwrap();
            let hook = hook.with_env("FORGE_OWN", "1").with_inputs(["x"]);
            let expected = name.map(|name| format!("command: `${name}` is not set"));
            case(&hook, expected.as_deref());
        }
        let args = Hook::program("*", ["sh", "-c", "./guard $FORGE_EVENT"]).unwrap();
        case(&args, Some("args: `$FORGE_EVENT` is not set"));
    }

    #[test]
    fn only_reads_that_is_written_is_found() {
        let hook = Hook::new("*", "./guard")
            .unwrap()
            .with_resident()
            .with_inputs(["x"]);
        let profile = AppProfile::default();
        let found = |hook: &Hook, written: bool| lint(hook, |_| written, &profile).len();
        assert_eq!((found(&hook, true), found(&hook, false)), (1, 0));
        assert_eq!(found(&hook.with_reads(Reads::Stdin), true), 0);
    }
}
