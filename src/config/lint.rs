//! Finds probable mistakes in a usable hook without running it.
//!
//! All findings are warnings: only the shell knows for certain.

mod resident;
mod secrets;

pub(super) use secrets::SecretNames;

use std::ops::Range;
use std::path::Path;

use super::report::Severity;
use crate::events::Vocabulary;
use crate::hook::{Hook, HookCommand, Reads, Shell, Stdin, Token, is_interpreter, words};
use crate::printable::shortened;
use crate::profile::AppProfile;

/// The host's names, events and tools.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) profile: &'a AppProfile,
    pub(super) vocabulary: &'a Vocabulary,
}

/// A problem with one key of a hook.
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) key: String,
    /// The range of the value, from the beginning of the text that was parsed. The reader finds that of a key
    /// in hooks.json.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<String>,
}

impl Finding {
    /// Creates a warning.
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            key: key.into(),
            range: 0..0,
            message: message.into(),
            suggestion: None,
            help: None,
        }
    }

    pub(crate) fn at(mut self, severity: Severity, range: &Range<usize>) -> Self {
        self.severity = severity;
        self.range = range.clone();
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn with_suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Returns the findings of a hook. `is_written` returns whether the entry has a key.
pub(super) fn lint(hook: &Hook, is_written: impl Fn(&str) -> bool, host: Host<'_>) -> Vec<Finding> {
    let profile = host.profile;
    let mut found = unfired(hook, host.vocabulary);
    if !host.vocabulary.declares_events() && found.is_empty() {
        found.extend(unknown_event(hook).or_else(|| no_event(hook)));
    }
    found.extend(missing_working_dir(hook));
    found.extend(bare_interpreter(hook));
    found.extend(missing_in_inherit(hook));
    found.extend(unread_stdin(hook));
    if hook.resident() {
        found.extend(resident::lint(hook, is_written, profile));
    }
    found.extend(outside_of_data(hook));
    if let HookCommand::Program(args) = hook.command() {
        found.extend(shell_words(args, hook.base_dir()));
    }
    if let HookCommand::Shell { text, shell } = hook.command() {
        let is_plain = matches!(shell, None | Some(Shell::Sh | Shell::Dash));
        if is_posix(*shell) {
            // A resident hook has no variables of the event, in whatever quotes.
            found.extend(quoted_variable(text, profile).filter(|_| !hook.resident()));
            found.extend(bash_only(text).filter(|_| is_plain));
        }
    }
    found
}

/// Returns whether the shell reads the words of a command as POSIX defines them.
fn is_posix(shell: Option<Shell>) -> bool {
    match shell {
        None => cfg!(not(windows)),
        Some(shell) => !matches!(shell, Shell::Pwsh | Shell::PowerShell | Shell::Cmd),
    }
}

/// Finds patterns for events and tools that the host does not declare.
fn unfired(hook: &Hook, vocabulary: &Vocabulary) -> Vec<Finding> {
    let mut found = Vec::new();
    for unfired in hook.pattern().unfired(vocabulary) {
        let mut finding = Finding::new("event", unfired.message);
        finding.suggestion = unfired.suggestion;
        finding.help = unfired.help.map(str::to_owned);
        found.push(finding);
    }
    found
}

/// Finds a name without a colon, such as `before`. It never matches, since every event has a colon in its
/// name.
fn no_event(hook: &Hook) -> Option<Finding> {
    let mut alternatives = hook.event_pattern().split(',').map(str::trim);
    let dead = alternatives.find(|text| !text.contains([':', '*', '?', '[']))?;
    let message = format!("`{}` matches no event", shortened(dead));
    let help = "names of events have the form `category:action`, as in `tool:pre_execute`";
    Some(Finding::new("event", message).with_help(help))
}

/// Finds a name with a typo. A pattern may be for an event of the host's own, but not if its name is almost
/// that of a built-in event.
fn unknown_event(hook: &Hook) -> Option<Finding> {
    if hook.pattern().matches_known() {
        return None;
    }
    let nearest = hook.pattern().nearest_known()?;
    let message = format!(
        "`{}` matches no built-in event",
        shortened(hook.event_pattern())
    );
    Some(Finding::new("event", message).with_suggestion(nearest))
}

/// Finds a directory that does not exist. A relative path with an unknown base is not checked.
fn missing_working_dir(hook: &Hook) -> Option<Finding> {
    let own = hook.working_dir()?;
    let path = match hook.base_dir() {
        Some(base) => base.join(own),
        None if own.is_absolute() => own.to_owned(),
        None => return None,
    };
    let missing = !path.is_dir();
    missing.then(|| {
        Finding::new(
            "working_dir",
            format!(
                "`{}` is not a directory",
                shortened(&path.to_string_lossy())
            ),
        )
    })
}

/// Finds a missing variable in `inherit`. An empty list counts as intended.
fn missing_in_inherit(hook: &Hook) -> Option<Finding> {
    let rule = hook.inherit_rule().filter(|it| !it.names().is_empty())?;
    let missing = ["PATH", "HOME"].into_iter().find(|name| {
        let is_set = hook.env().contains_key(*name);
        !is_set && !rule.covers(name)
    })?;
    let message = format!("the list does not pass on `{missing}`, which most programs need");
    let help = format!("add \"{missing}\" to the list, or set it in `env`");
    Some(Finding::new("inherit", message).with_help(help))
}

fn unread_stdin(hook: &Hook) -> Option<Finding> {
    let contradicts = hook.stdin() == Stdin::None && hook.reads() == Reads::Stdin;
    contradicts.then(|| {
        let message = "with \"stdin\": \"none\", the hook has no standard input to read";
        Finding::new("reads", message).with_help("remove one of the two")
    })
}

/// Finds words that only a shell would change or split.
fn shell_words(args: &[String], base: Option<&Path>) -> Option<Finding> {
    let has_home = |word: &String| {
        ["~/", "$HOME", "${HOME}"]
            .iter()
            .any(|it| word.starts_with(it))
    };
    let index = args.iter().position(has_home);
    // Another program may read the word as code.
    if let Some(index) = index.filter(|it| *it == 0 || !reads_its_argument_again(&args[it - 1])) {
        let message = format!(
            "`{}` is used as it is, since `args` run without a shell",
            shortened(&args[index])
        );
        let finding = Finding::new(format!("args[{index}]"), message);
        return Some(finding.with_help("write the whole path, or use `command`"));
    }
    match args {
        [only] if only.contains(' ') && !base.unwrap_or(Path::new("")).join(only).is_file() => {
            let message = format!(
                "`{}` contains a space, but `args` is a list of single words",
                shortened(only)
            );
            let words: Vec<_> = only
                .split_whitespace()
                .map(|word| format!("{word:?}"))
                .collect();
            let help = if only.contains(['$', '&', '|', ';', '<', '>', '(', '`', '"', '\'']) {
                "code for a shell is `command`".to_owned()
            } else {
                format!("write [{}]", shortened(&words.join(", ")))
            };
            Some(Finding::new("args[0]", message).with_help(help))
        }
        _ => None,
    }
}

/// Finds a pointer to a value outside of the event's data. Pointers begin at the data, so such a value would
/// always be missing.
fn outside_of_data(hook: &Hook) -> Option<Finding> {
    hook.when().find_map(|(pointer, _)| {
        let mut parts = pointer.splitn(3, '/').skip(1);
        let (message, help) = match parts.next() {
            None => (
                "is the whole data, which is not a string",
                "name a value in it",
            ),
            Some("data") => (
                "begins with `/data`, but pointers begin in the data",
                "remove `/data`",
            ),
            Some("tool_name") => ("is not in the data", "name the tool in `event`"),
            Some("type") => ("is not in the data", "name the event in `event`"),
            Some("session_id" | "timestamp") => ("is not in the data", "remove the condition"),
            Some(_) => return None,
        };
        let key = format!("when.{pointer}");
        Some(Finding::new(key, format!("`{}` {message}", shortened(pointer))).with_help(help))
    })
}

/// Finds an interpreter without a script. It executes its standard input, which is the event's JSON, as code.
fn bare_interpreter(hook: &Hook) -> Option<Finding> {
    let (key, word) = match hook.command() {
        HookCommand::Shell { text, .. } => ("command", text.trim()),
        HookCommand::Program(args) => match &args[..] {
            [program] => ("args", program.as_str()),
            _ => return None,
        },
    };
    let reads = hook.stdin() == Stdin::Json && is_interpreter(word);
    reads.then(|| {
        let message = format!(
            "`{word}` without a script executes its standard input, the event's JSON, as code"
        );
        Finding::new(key, message).with_help("add a script, or set \"stdin\": \"none\"")
    })
}

/// Finds a variable in single quotes. The shell does not replace it, unless another shell reads the text
/// again.
fn quoted_variable(command: &str, profile: &AppProfile) -> Option<Finding> {
    let tokens = words(command).tokens;
    let mut quoted = Vec::new();
    let mut is_read_again = false;
    for token in &tokens {
        let Token::Word(word) = token else {
            is_read_again = false;
            continue;
        };
        if !is_read_again {
            quoted.extend(&word.single_quoted);
        }
        is_read_again = reads_its_argument_again(&word.text);
    }
    let name = quoted
        .into_iter()
        .flat_map(|text| variables(text))
        .find(|name| is_ours(name, profile))?;
    let message = format!("`${name}` in single quotes is not replaced by its value");
    Some(Finding::new("command", message).with_help(format!("write \"${name}\", in double quotes")))
}

/// Returns whether a program takes shell code or a list of names as an argument, as `sh -c` and `bash -lc`
/// do.
fn reads_its_argument_again(word: &str) -> bool {
    let is_option = word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    is_option || ["eval", "trap", "envsubst"].contains(&word)
}

fn variables(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('$').skip(1).map(|rest| {
        let name = rest.trim_start_matches('{').chars();
        name.take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect()
    })
}

fn is_ours(name: &str, profile: &AppProfile) -> bool {
    let of_prefix = |prefix: &String| {
        let rest = name.strip_prefix(prefix.as_str());
        rest.is_some_and(|rest| rest.starts_with('_') && rest.len() > 1)
    };
    let short = ["EVENT_TYPE", "TOOL_NAME", "TOOL_ARGS", "TOOL_RESULT"];
    profile.env_prefixes().iter().any(of_prefix) || profile.short_names() && short.contains(&name)
}

/// Finds constructs of bash in a command for `/bin/sh`, which is another shell on Debian, Ubuntu, Alpine and
/// the BSDs.
fn bash_only(command: &str) -> Option<Finding> {
    let tokens = words(command).tokens;
    let mut begins = true;
    let mut construct = None;
    for token in &tokens {
        construct = construct.or_else(|| bash_construct(token, begins));
        begins = match token {
            Token::Operator(operator) => !operator.starts_with(['<', '>']),
            Token::Word(word) => [
                "if", "then", "else", "elif", "while", "until", "do", "!", "{",
            ]
            .contains(&&*word.text),
        };
    }
    let construct = construct?;
    let message = format!("`{construct}` only works in bash, and this command runs in /bin/sh");
    Some(Finding::new("command", message).with_help("set \"shell\": \"bash\""))
}

fn bash_construct(token: &Token, begins_a_command: bool) -> Option<&'static str> {
    let word = match token {
        Token::Operator("<<<") => return Some("<<<"),
        Token::Operator(_) => return None,
        Token::Word(word) => word,
    };
    match &*word.text {
        "[[" if begins_a_command && !word.quoted => Some("[["),
        "source" if begins_a_command && !word.quoted => Some("source"),
        _ if word.bare.contains("<(") => Some("<(...)"),
        text => variables(text)
            .any(|name| name == "PIPESTATUS")
            .then_some("PIPESTATUS"),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn linted(hook: &Hook) -> Vec<Finding> {
        let host = Host {
            profile: &AppProfile::default(),
            vocabulary: &Vocabulary::default(),
        };
        lint(hook, |_| false, host)
    }

    fn findings(command: &str) -> Vec<String> {
        let hook = Hook::new("session:start", command).unwrap();
        let found = linted(&hook);
        found.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_variable_in_single_quotes_is_found() {
        for command in [
            "echo '$FORGE_TOOL_NAME'",
            "grep -q 'x' f; echo it\\'s '${OPENCODE_EVENT}'",
            "echo \"it's\" '$TOOL_ARGS'",
            "notify 'ran $FORGE_TOOL_NAME' now",
        ] {
            let found = findings(command);
            assert!(
                found.len() == 1 && found[0].contains("in single quotes"),
                "{command}: {found:?}"
            );
        }
        for command in [
            "echo \"'$FORGE_TOOL_NAME'\"",
            "sh -c 'echo \"$FORGE_TOOL_NAME\"'",
            "bash -ec 'echo $FORGE_TOOL_NAME'",
            "trap 'echo $FORGE_EVENT' EXIT",
            "awk '{print $1}' | grep '$FORGERY' '$FORGE_' '$HOME'",
            "echo '\"' \"$FORGE_EVENT\" '\"'",
            "echo \\' \"$FORGE_EVENT\"",
        ] {
            assert!(
                findings(command).is_empty(),
                "{command}: {:?}",
                findings(command)
            );
        }
    }

    #[test]
    fn a_list_without_path_or_home_is_found() {
        for (names, missing) in [
            (&["LANG"][..], Some("PATH")),
            (&["PATH", "LC_*"], Some("HOME")),
            (&["PATH", "H*"], None),
            (&[], None),
        ] {
            let hook = Hook::new("session:start", "x").unwrap();
            let found = missing_in_inherit(&hook.with_inherit(names.iter().copied()));
            let found = found.map(|it| it.message);
            let expected = missing
                .map(|it| format!("the list does not pass on `{it}`, which most programs need"));
            assert_eq!(found, expected, "{names:?}");
        }
    }

    #[test]
    fn what_only_bash_knows_is_found() {
        for (command, construct) in [
            ("[[ -f x ]] && echo y", "[["),
            ("if [[ $FORGE_EVENT == a* ]]; then exit 1; fi", "[["),
            ("cd a\nsource env.sh", "source"),
            ("true; source env.sh", "source"),
            ("cat <<<\"$FORGE_EVENT\"", "<<<"),
            ("diff <(ls a) b", "<(...)"),
            ("a | b; exit \"${PIPESTATUS[0]}\"", "PIPESTATUS"),
        ] {
            let found = findings(command);
            let expected =
                format!("`{construct}` only works in bash, and this command runs in /bin/sh");
            assert_eq!(found, [expected], "{command}");
            let bash = Hook::new("*", command).unwrap().with_shell(Shell::Bash);
            let found = linted(&bash);
            assert!(found.is_empty(), "{command}");
        }
        for command in [
            "grep '[[' f",
            "echo source of evil",
            "cat <<EOF\n$FORGE_EVENT\nEOF",
            "grep -e \"[[\" \"<(\"",
            "[ -f x ] && . ./env.sh",
            "echo [[:alpha:]]",
        ] {
            assert!(
                findings(command).is_empty(),
                "{command}: {:?}",
                findings(command)
            );
        }
    }
}
