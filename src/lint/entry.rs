//! Finds probable mistakes in a usable entry of a hooks.json.
//!
//! `conditions` looks at its `when`, `shell` at the text of a command, `script` at the files that it names.

use std::path::Path;

use super::host::{Finding, Host};
use super::pattern::unfired;
use super::{agent_names, conditions, script, shell};
use crate::command::Outline;
use crate::entry::{Decision, HookCommand};
use crate::events::{EventSpec, EventType, Vocabulary};
use crate::hook::Hook;
use crate::printable::shortened;
use crate::problem::Problem;
use crate::profile::COMMON_PREFIX;

const CHECKS: [fn(&Hook, &Host) -> Option<Finding>; 9] = [
    working_dir,
    conditions::finding,
    answer,
    foreign_name,
    shell_word,
    single_quoted,
    last_test,
    relative,
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
        script::check_own(hook, host, checks_scripts, |name| directory_in(name, hook))
    } else {
        None
    };
    unfired.chain(mistakes).chain(script).collect()
}

/// Returns whether a hook can block an event of the host.
fn guards(hook: &Hook, vocabulary: &Vocabulary) -> bool {
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

fn finding(key: &str, message: &str, help: &str) -> Finding {
    (key.to_owned(), message.to_owned(), help.to_owned())
}

fn working_dir(hook: &Hook, _: &Host) -> Option<Finding> {
    let directory = hook.working_dir()?.to_string_lossy();
    let is_replaced = directory == "~" || directory.starts_with("~/") || directory.starts_with('$');
    let message = "`~` and variables are not replaced here";
    is_replaced.then(|| finding("working_dir", message, "write the whole path"))
}

/// Finds an answer that has no effect on the events of its hook.
fn answer(hook: &Hook, _: &Host) -> Option<Finding> {
    let HookCommand::Answer(answer) = hook.action() else {
        return None;
    };
    let after = EventType::ToolPostExecute;
    if answer.updated_output.is_some() && !hook.pattern().matches_type(&after) {
        let message = "`updatedOutput` has an effect only on `tool:post_execute`";
        let help = "before a tool, `updatedInput` changes its input";
        return Some(finding("answer", message, help));
    }
    let stops = matches!(answer.decision, Some(Decision::Block | Decision::Ask));
    let message = "after a tool, nothing can be blocked any more";
    (stops && hook.pattern().matches_only(&after))
        .then(|| finding("answer", message, "name `tool:pre_execute`"))
}

/// Finds a name of another program in the command.
fn foreign_name(hook: &Hook, host: &Host) -> Option<Finding> {
    let texts = hook.action().texts();
    let mut places = texts.iter().enumerate();
    places.find_map(|(index, text)| {
        let (message, help) = agent_names::foreign(hook, text, host)?;
        let key = match hook.action() {
            HookCommand::Program(_) => format!("args[{index}]"),
            HookCommand::Shell { .. } | HookCommand::Answer(_) => "command".to_owned(),
        };
        Some((key, message, help.to_owned()))
    })
}

/// Finds words that only a shell would change. Behind an option, as in `sh -c`, another program may read them as code.
fn shell_word(hook: &Hook, host: &Host) -> Option<Finding> {
    let HookCommand::Program(args) = hook.action() else {
        return None;
    };
    let is_replaced = |word: &str| {
        let variable = word.strip_prefix('$').map(name_at);
        let is_known = variable.is_some_and(|name| name == "HOME" || is_of_event(name, host));
        word.starts_with("~/") || is_known
    };
    let mut words = args.iter().enumerate();
    let (index, word) = words.find(|(_, word)| is_replaced(word))?;
    if index > 0 && args[index - 1].starts_with('-') {
        return None;
    }
    let word = shortened(word);
    Some((
        format!("args[{index}]"),
        format!("`{word}` is used as it is, since `args` run without a shell"),
        "write the whole value, or use `command`".to_owned(),
    ))
}

/// Returns the name at the beginning of the text after a `$`.
fn name_at(text: &str) -> &str {
    let text = text.strip_prefix('{').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Returns whether this is the name of a variable with a value of the event.
fn is_of_event(name: &str, host: &Host) -> bool {
    let mut prefixes = host.prefixes.iter().map(String::as_str);
    let is_prefix = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    is_prefix(COMMON_PREFIX) || prefixes.any(is_prefix)
}

/// Finds a variable of the event that is a word in single quotes. A word after an option, as in `sh -c`, may be code.
fn single_quoted(hook: &Hook, host: &Host) -> Option<Finding> {
    let words = Outline::read(script::posix_text(hook)?).words;
    let name = words.windows(2).find_map(|pair| {
        let quoted = pair[1].strip_prefix("'$")?.strip_suffix('\'')?;
        let name = name_at(quoted);
        let is_whole = quoted.len() <= name.len() + "{}".len();
        (is_whole && is_of_event(name, host) && !pair[0].starts_with('-')).then_some(name)
    })?;
    let name = shortened(name);
    let message = format!("`${name}` is in single quotes, in which the shell replaces nothing");
    Some(finding(
        "command",
        &message,
        &format!("write \\\"${name}\\\""),
    ))
}

/// Finds a search or a test after which the command only exits with a failure, so that it always fails.
fn last_test(hook: &Hook, _: &Host) -> Option<Finding> {
    let test = shell::last_test(script::posix_text(hook)?);
    let test = test.filter(|test| test.always_fails)?;
    let message = format!("this command never exits with 0: {}", test.why());
    Some(finding("command", &message, &test.help()))
}

/// Finds a script of the user that is searched for in the host's directory.
fn relative(hook: &Hook, host: &Host) -> Option<Finding> {
    let is_elsewhere = hook.working_dir().is_some_and(Path::is_absolute);
    if !host.begins_anywhere || is_elsewhere {
        return None;
    }
    let (key, name) = script::relative(hook, |name| directory_in(name, hook))?;
    let name = shortened(&name);
    let message =
        format!("`{name}` is searched for in the directory in which the host was started");
    let help = "write the whole path, or set `working_dir`";
    Some(finding(key, &message, help))
}

/// Finds a hook that looks like a guard, and runs in the background, where it can block nothing.
fn background(hook: &Hook, host: &Host) -> Option<Finding> {
    if !hook.background() || !is_where_guards_are(hook, host) {
        return None;
    }
    let texts = hook.action().texts();
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
    Some(finding("background", &message, help))
}

/// Returns the part of a command or a script that is intended to block: an answer that decides, or an exit code.
fn refusal(text: &str) -> Option<String> {
    // The answer may be JSON within quotes, or an object of another language.
    let unquoted = text.replace(|c: char| c.is_whitespace() || "'\"\\".contains(c), "");
    if unquoted.contains("decision:block") || unquoted.contains("decision:ask") {
        return Some("the decision".to_owned());
    }
    // The language of the text is not always known. In shells, `exit(1)` means nothing; elsewhere, `exit 1` rarely does.
    let code = shell::exit_code(text).map(|code| format!("`exit {code}`"));
    code.or_else(|| {
        let calls = text.split("exit(").skip(1);
        let mut codes = calls.filter_map(|call| call.split(')').next()?.trim().parse::<u8>().ok());
        let code = codes.find(|code| *code > 0)?;
        Some(format!("`exit({code})`"))
    })
}
