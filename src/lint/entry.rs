//! Finds probable mistakes in a usable entry of a hooks.json.
//!
//! `shell` looks at the text of a command, `script` at the files that it names.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::foreign_names::{ABOUT_NAMES, name_elsewhere};
use super::pattern::unfired;
use super::{agent_names, of_command, script, shell};
use crate::entry::{Decision, HookCommand};
use crate::events::{
    EventSpec, EventType, LIKE_AN_EVENT, OF_ANY_EVENT, Vocabulary, nearest, never_text,
};
use crate::hook::{Condition, Hook};
use crate::printable::shortened;
use crate::problem::Problem;
use crate::profile::COMMON_PREFIX;
use crate::redact::Redactor;

/// The names of a host.
#[derive(Default)]
pub(crate) struct Host {
    /// Its events and tools.
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// Its own prefixes of the variables that hooks receive.
    pub(crate) prefixes: Vec<String>,
    /// True if the scripts of hooks are checked, as far as their place is known.
    pub(crate) looks_at_files: bool,
    /// True if the file is the user's or the administrator's own, so that its hooks begin in the host's directory.
    pub(crate) begins_anywhere: bool,
}

/// The longest timeout, in seconds, that is not reported as one in milliseconds.
const LONGEST_USUAL: Duration = Duration::from_secs(60 * 60);

/// The most names of `inherit` that are checked: checking takes longer than reading.
const MOST_NAMES: usize = 20;

/// A probable mistake: its key, the message, and the fix.
type Finding = (String, String, String);

const CHECKS: [fn(&Hook, &Host) -> Option<Finding>; 13] = [
    timeout,
    working_dir,
    when,
    of_command,
    untestable,
    answer,
    foreign_name,
    shell_word,
    single_quoted,
    last_test,
    relative,
    inherit,
    background,
];

/// Returns warnings about a hook, each with its key. If `checks_scripts`, also warns about files and programs that the hook
/// needs.
pub(crate) fn entry(hook: &Hook, host: &Host, checks_scripts: bool) -> Vec<Problem> {
    let unfired = unfired(hook.pattern(), &host.vocabulary).into_iter();
    let mistakes = CHECKS.iter().filter_map(|check| check(hook, host));
    let mistakes =
        mistakes.map(|(key, message, help)| Problem::warning(key, message).with_help(help));
    // The script of a hook that is switched off may come later.
    let is_looked_at =
        hook.enabled() && host.looks_at_files && (checks_scripts || guards(hook, &host.vocabulary));
    let script = if is_looked_at {
        script::check_own(hook, checks_scripts, |name| directory_in(name, hook))
    } else {
        None
    };
    unfired.chain(mistakes).chain(script).collect()
}

/// Returns whether a hook can block an event of the host.
pub(crate) fn guards(hook: &Hook, vocabulary: &Vocabulary) -> bool {
    let mut events = vocabulary.events().iter();
    let is_for = |event: &EventType| hook.pattern().matches_type(event);
    !hook.background() && events.any(|event| event.can_block() && is_for(event.event_type()))
}

/// Returns whether a hook is only for events that hooks can block. One for other events too probably observes.
fn is_where_guards_are(hook: &Hook, host: &Host) -> bool {
    let events = host.vocabulary.events().iter();
    let events = events.filter(|event| hook.pattern().matches_type(event.event_type()));
    let mut events = events.peekable();
    events.peek().is_some() && events.all(EventSpec::can_block)
}

/// Returns the directory in a variable, if it is known here.
fn directory_in(name: &str, hook: &Hook) -> Option<String> {
    let path = match name {
        "HOME" if !hook.env().contains_key("HOME") => home::home_dir(),
        name if name.ends_with("_WORKING_DIR") => hook.base_dir().map(Path::to_owned),
        _ => None,
    }?;
    Some(path.to_string_lossy().into_owned())
}

fn timeout(hook: &Hook, _: &Host) -> Option<Finding> {
    let timeout = hook
        .own_timeout()
        .filter(|timeout| *timeout > LONGEST_USUAL)?;
    let seconds = timeout.as_secs_f64();
    let intended = seconds / 1000.0;
    Some((
        "timeout".to_owned(),
        format!("{seconds} seconds are longer than an hour"),
        format!("the unit is seconds, not milliseconds: {seconds} milliseconds are {intended}"),
    ))
}

fn working_dir(hook: &Hook, _: &Host) -> Option<Finding> {
    let directory = hook.working_dir()?.to_string_lossy();
    let is_replaced = directory == "~" || directory.starts_with("~/") || directory.starts_with('$');
    let finding = [
        "working_dir",
        "`~` and variables are not replaced here",
        "write the whole path",
    ];
    is_replaced.then(|| finding.map(str::to_owned).into())
}

/// Finds a glob that probably does not match the intended values.
fn when(hook: &Hook, _: &Host) -> Option<Finding> {
    hook.when().find_map(|(pointer, condition)| {
        if of_command::has_finding(hook, pointer, condition) {
            return None;
        }
        // A whole command in a list or within `not` is intended.
        let is_alone = matches!(condition, Condition::Glob(_));
        let is_of_command = is_alone && pointer.ends_with("/command");
        let mut globs = globs_of(condition).filter_map(|glob| about_glob(glob, is_of_command));
        let (message, help) = globs.next()?;
        Some((format!("when.{pointer}"), message, help))
    })
}

fn of_command(hook: &Hook, _: &Host) -> Option<Finding> {
    of_command::finding(hook)
}

/// Finds a condition on a value that no event of the hook has, or that is never text: each event then counts as matched by a
/// guard. A host may add data that it has not declared, so only events with declared data count.
fn untestable(hook: &Hook, host: &Host) -> Option<Finding> {
    let events = host.vocabulary.events().iter();
    let events: Vec<_> = events
        .filter(|event| hook.pattern().matches_type(event.event_type()))
        .collect();
    let are_known = events
        .iter()
        .all(|event| event.data_keys().next().is_some());
    if events.is_empty() || !are_known {
        return None;
    }
    let mut pointers = hook.when().map(|(pointer, _)| pointer);
    pointers.find_map(|pointer| {
        let (why, help) = about_pointer(pointer.strip_prefix('/')?, &events)?;
        let message = format!("{why}, so the condition cannot be tested");
        Some((format!("when.{pointer}"), message, help))
    })
}

/// The keys of an event's JSON, none of which is a typo of a key in its data.
const BESIDE_THE_DATA: [&str; 5] = ["type", "timestamp", "data", "tool_name", "session_id"];

/// Returns the reason why no text can be found in these events, and the fix. The pointer has no slash at its beginning.
fn about_pointer(pointer: &str, events: &[&EventSpec]) -> Option<(String, String)> {
    let (key, is_whole) = match pointer.split_once('/') {
        Some((key, _)) => (key, false),
        None => (pointer, true),
    };
    let has_key = |event: &EventSpec| {
        let is_of_tool = key == "tool_args" && event.may_have_tool();
        is_of_tool || event.data_keys().any(|(name, _)| name == key)
    };
    if events.iter().any(|event| has_key(event)) {
        let are_ours = events.iter().all(|event| event.event_type().is_known());
        let kind = never_text(key).filter(|_| is_whole && are_ours)?;
        return Some((
            format!("`{key}` is {kind}, and not text"),
            "remove the condition, and test the value in the hook's command".to_owned(),
        ));
    }
    if OF_ANY_EVENT.contains(&key) || key.contains('~') {
        return None;
    }
    let keys = events.iter().flat_map(|event| event.data_keys());
    let keys: BTreeSet<_> = keys.map(|(name, _)| name).collect();
    let similar = nearest(key, keys.iter().copied(), LIKE_AN_EVENT);
    let help = match similar.filter(|_| !BESIDE_THE_DATA.contains(&key)) {
        Some(key) => format!("did you mean `/{key}`?"),
        None => {
            let pointers: Vec<_> = keys.iter().map(|key| format!("`/{key}`")).collect();
            let pointers = pointers.join(", ");
            format!("a pointer begins within the event's data, which has {pointers}")
        }
    };
    let why = format!("no event of this hook has `{}` in its data", shortened(key));
    Some((why, help))
}

fn globs_of(condition: &Condition) -> impl Iterator<Item = &str> {
    let condition = match condition {
        Condition::Not(inner) => inner,
        condition => condition,
    };
    let globs = match condition {
        Condition::Glob(glob) => std::slice::from_ref(glob),
        Condition::OneOf(globs) => globs,
        _ => &[],
    };
    globs.iter().map(String::as_str)
}

/// Returns the mistake in a glob, and the fix.
fn about_glob(glob: &str, is_of_command: bool) -> Option<(String, String)> {
    let display = shortened(glob);
    let is_whole = !glob.contains(['*', '?', '[']) && !glob.is_empty();
    let (mistake, help) = match glob {
        _ if glob.starts_with('^') || glob.contains("\\b") => (
            "is a glob, and looks like a regular expression",
            "a regular expression is {\"regex\": \"...\"}".to_owned(),
        ),
        _ if is_whole && is_of_command => (
            "has no `*`: it matches only a value that is exactly this",
            format!("to find it within a value, write `*{display}*`"),
        ),
        _ if glob.starts_with('!') => (
            "begins with `!`, which means nothing in a glob",
            "for all others, write {\"not\": \"...\"}".to_owned(),
        ),
        _ => return None,
    };
    Some((format!("`{display}` {mistake}"), help))
}

/// Finds an answer that is given too often, or has no effect on the events of its hook.
fn answer(hook: &Hook, _: &Host) -> Option<Finding> {
    let HookCommand::Answer(answer) = hook.command() else {
        return None;
    };
    let mut conditions = hook.when();
    let is_of_command = |(pointer, condition): &(&str, &Condition)| {
        pointer.ends_with("/command")
            && globs_of(condition).next().is_some()
            && !of_command::has_finding(hook, pointer, condition)
    };
    if let Some((pointer, _)) = conditions.find(is_of_command) {
        let message = "a glob is for paths, and a command has many spellings";
        let help = match answer.decision {
            Some(Decision::Allow) => "for a command, write {\"runs_only\": [\"...\"]}",
            _ => "for a command, write {\"runs\": \"...\"}",
        };
        return Some((
            format!("when.{pointer}"),
            message.to_owned(),
            help.to_owned(),
        ));
    }
    let after = EventType::ToolPostExecute;
    let (message, help) = if answer.updated_output.is_some() && !hook.pattern().matches_type(&after)
    {
        (
            "`updatedOutput` has an effect only on `tool:post_execute`",
            "before a tool, `updatedInput` changes its input",
        )
    } else if matches!(answer.decision, Some(Decision::Block | Decision::Ask))
        && hook.pattern().matches_only(&after)
    {
        (
            "after a tool, nothing can be blocked any more",
            "name `tool:pre_execute`",
        )
    } else {
        return None;
    };
    Some(("answer".to_owned(), message.to_owned(), help.to_owned()))
}

/// Finds a name of another program in the command.
fn foreign_name(hook: &Hook, _: &Host) -> Option<Finding> {
    let texts = hook.command().texts();
    let names = texts.iter().map(|text| foreign_name_in(hook, text));
    let (index, found) = names.enumerate().find(|(_, found)| found.is_some())?;
    let key = match hook.command() {
        HookCommand::Program(_) => format!("args[{index}]"),
        HookCommand::Shell { .. } | HookCommand::Answer(_) => "command".to_owned(),
    };
    let (message, help) = found?;
    Some((key, message, help.to_owned()))
}

/// Returns a message about a name of another program in a text of a hook, and the fix.
fn foreign_name_in(hook: &Hook, text: &str) -> Option<(String, &'static str)> {
    if let Some(message) = name_elsewhere(hook, text) {
        return Some((message, ABOUT_NAMES));
    }
    if let Some(name) = agent_names::of_agent(hook, text) {
        let help = "write the path from the directory in which the hook runs";
        return Some((
            format!("`${name}` is not set for hooks of hooks.json"),
            help,
        ));
    }
    Some((agent_names::placeholder(text)?, agent_names::NO_PLACEHOLDER))
}

/// Finds words that only a shell would change. Behind an option, as in `sh -c`, another program may read them as code.
fn shell_word(hook: &Hook, host: &Host) -> Option<Finding> {
    let HookCommand::Program(args) = hook.command() else {
        return None;
    };
    let mut words = args.iter().enumerate();
    let (index, word) = words.find(|(_, word)| is_replaced_by_shell(word, host))?;
    if index > 0 && args[index - 1].starts_with('-') {
        return None;
    }
    let help = if word.starts_with('~') {
        "write the whole path, or use `command`"
    } else {
        "to have a shell put in the variable, use `command`"
    };
    let word = shortened(word);
    let message = format!("`{word}` is used as it is, since `args` run without a shell");
    Some((format!("args[{index}]"), message, help.to_owned()))
}

/// Returns whether a word begins with the home directory, or with a variable of the event.
fn is_replaced_by_shell(word: &str, host: &Host) -> bool {
    let Some(name) = word.strip_prefix('$') else {
        return word.starts_with("~/");
    };
    let name = name.strip_prefix('{').unwrap_or(name);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let name = &name[..end.unwrap_or(name.len())];
    name == "HOME" || is_of_event(name, host)
}

/// Returns whether this is the name of a variable with a value of the event.
fn is_of_event(name: &str, host: &Host) -> bool {
    let own = host.prefixes.iter().map(String::as_str);
    own.chain([COMMON_PREFIX]).any(|prefix| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with('_'))
    })
}

/// Finds a variable of the event in single quotes.
fn single_quoted(hook: &Hook, host: &Host) -> Option<Finding> {
    let text = script::posix_text(hook)?;
    let name = shell::quoted_variable(text, |name| is_of_event(name, host))?;
    let name = shortened(name);
    Some((
        "command".to_owned(),
        format!("`${name}` is in single quotes, in which the shell replaces nothing"),
        format!("write \\\"${name}\\\""),
    ))
}

/// Finds a search or a test after which the command only exits with a failure, so that it always fails.
fn last_test(hook: &Hook, _: &Host) -> Option<Finding> {
    let test = shell::last_test(script::posix_text(hook)?);
    let test = test.filter(|test| test.always_fails)?;
    let message = format!("this command never exits with 0: {}", test.why());
    Some(("command".to_owned(), message, test.help()))
}

/// Finds a script of the user that is searched for in the host's directory.
fn relative(hook: &Hook, host: &Host) -> Option<Finding> {
    let is_elsewhere = hook.working_dir().is_some_and(Path::is_absolute);
    if !host.begins_anywhere || is_elsewhere {
        return None;
    }
    let (key, name) = script::relative(hook, |name| directory_in(name, hook))?;
    let name = shortened(&name);
    Some((
        key.to_owned(),
        format!("`{name}` is searched for in the directory in which the host was started"),
        "write the whole path, or set `working_dir`".to_owned(),
    ))
}

/// Finds the first name in `inherit` that looks like that of a secret. A name with a star is skipped, since it may be for
/// other variables.
fn inherit(hook: &Hook, _: &Host) -> Option<Finding> {
    let mut names = hook.inherit()?.iter().take(MOST_NAMES);
    let name = names.find(|name| !name.contains('*') && is_secret(name))?;
    let name = shortened(name);
    Some((
        "inherit".to_owned(),
        format!("the list passes on `{name}`, whose name looks like that of a secret"),
        "remove it unless the hook needs it".to_owned(),
    ))
}

/// Finds a hook that looks like a guard, and runs in the background, where it can block nothing.
fn background(hook: &Hook, host: &Host) -> Option<Finding> {
    if !hook.background() || !is_where_guards_are(hook, host) {
        return None;
    }
    let texts = hook.command().texts();
    let in_command = texts.iter().find_map(|text| refusal(text));
    let refusal = match in_command {
        Some(refusal) => format!("{refusal} in its command"),
        None => {
            let can_look = hook.enabled() && host.looks_at_files;
            let directory = |name: &str| directory_in(name, hook);
            let script = can_look.then(|| script::beginning_of_own(hook, directory));
            let (name, text) = script.flatten()?;
            format!("{} in `{}`", refusal(&text)?, shortened(&name))
        }
    };
    let message = format!(
        "the hook runs in the background, so nothing waits for it: {refusal} blocks nothing"
    );
    let help = "remove `\"background\": true`, or name an event that hooks cannot block";
    Some(("background".to_owned(), message, help.to_owned()))
}

/// Returns the part of a command or a script that is intended to block: an answer that decides, or an exit code.
fn refusal(text: &str) -> Option<String> {
    // The answer may be JSON within quotes, or an object of another language.
    let unquoted = text.replace(|c: char| c.is_whitespace() || "'\"\\".contains(c), "");
    let decisions = ["decision:block", "decision:ask"];
    if decisions.iter().any(|decision| unquoted.contains(decision)) {
        return Some("the decision".to_owned());
    }
    // The language of the text is not always known. In shells, `exit(1)` means nothing; elsewhere, `exit 1` rarely does.
    let code = shell::exit_code(text).map(|code| format!("`exit {code}`"));
    code.or_else(|| exit_call(text).map(|code| format!("`exit({code})`")))
}

/// Returns the code in a call such as `sys.exit(1)`, if it is not 0.
fn exit_call(text: &str) -> Option<u8> {
    let calls = text.split("exit(").skip(1);
    let mut codes = calls.filter_map(|call| call.split(')').next()?.trim().parse().ok());
    codes.find(|code| *code > 0)
}

/// Returns whether the value of a variable of this name would be masked. The two exceptions are directories.
fn is_secret(name: &str) -> bool {
    let value = json!({name: "x9x9"});
    !["PWD", "OLDPWD"].contains(&name) && Redactor::default().value(&value)[name] != "x9x9"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_list_is_found() {
        for (names, secret) in [
            (&["PATH", "HOME", "GITHUB_TOKEN"][..], Some("GITHUB_TOKEN")),
            (&["DB_PASSWORD", "PATH"], Some("DB_PASSWORD")),
            (&["PATH", "HOME", "*_TOKEN", "PWD", "TERM"], None),
            (&[], None),
        ] {
            let hook = Hook::new("session:start", "x").unwrap();
            let hook = hook.with_inherit(names.iter().copied());
            let mistake = inherit(&hook, &Host::default());
            let expected = secret.map(|name| {
                format!("the list passes on `{name}`, whose name looks like that of a secret")
            });
            assert_eq!(
                mistake.map(|(_, message, _)| message),
                expected,
                "{names:?}"
            );
        }
    }
}
