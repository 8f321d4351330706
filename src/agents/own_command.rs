//! The commands in agents' settings that start this program: which ones are ours, and nothing else.
//!
//! `install` writes them, `uninstall` removes them, and a host that reads the same hooks.json does not run them.

use std::ffi::OsStr;
use std::path::Path;

use super::agent::Agent;
use crate::command::{Join, Outline, Step};

/// The program's name, by which its handlers are recognised.
pub(crate) const PROGRAM: &str = "forge-hooks";

/// The option with the file in which events are recorded.
#[cfg(feature = "cli")]
pub(crate) const TRACE_EVENTS: &str = "--trace-events";

/// The option with a variable of the agent that hooks get too.
#[cfg(feature = "cli")]
pub(crate) const INHERIT: &str = "--inherit";

/// The beginning of the script that runs the program: as it is, and with its output kept until it has ended.
pub(crate) const RUN: &str = r#"if [ -s "$0" ]; then "$0" "$@"; else (exit 3); fi; "#;
pub(crate) const RUN_AND_KEEP: &str = r#"if [ -s "$0" ]; then a=$("$0" "$@"); else (exit 3); fi; "#;

/// The first words of the message of the script that runs if the program has not answered.
pub(crate) const DID_NOT_RUN: &str = "forge-hooks did not run";

/// A command of an agent's settings that starts this program, and does nothing else: alone, in our script, or before `|| exit 2`.
pub(crate) struct OwnCommand {
    /// The program and its arguments.
    words: Vec<String>,
    /// The script that starts it; none in a registration by hand.
    #[cfg(feature = "cli")]
    pub(crate) script: Option<String>,
}

impl OwnCommand {
    /// Reads a command; none if it is not one of ours. Only such handlers are replaced by `install` and removed by `uninstall`.
    pub(crate) fn read(agent: &Agent, command: &str) -> Option<Self> {
        own_words(agent, command)
    }

    /// Returns whether a command starts this program for the agent, whatever else it does.
    #[cfg(feature = "cli")]
    pub(crate) fn is_within(agent: &Agent, command: &str) -> bool {
        let Outline { steps, .. } = Outline::read(command);
        steps.iter().any(|step| {
            let words = step.words.iter();
            let words: Vec<_> = words
                .map(|word| word.value(|_| Some("$".to_owned())))
                .collect();
            words.windows(3).any(|words| match words {
                [Some(program), Some(hook), Some(name)] => {
                    is_called_so(Path::new(program)) && hook == "hook" && name == agent.name()
                }
                _ => false,
            })
        })
    }

    /// Returns the name of the event.
    #[cfg(feature = "cli")]
    pub(crate) fn event(&self) -> &str {
        &self.words[3]
    }

    #[cfg(feature = "cli")]
    pub(crate) fn program(&self) -> &Path {
        Path::new(&self.words[0])
    }

    /// Returns the program and its arguments.
    #[cfg(feature = "cli")]
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the value of an option. Of several values, the program uses the last one.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let is_named = |word: &String| word.split('=').next() == Some(name);
        let at = self.words.iter().rposition(is_named)?;
        match self.words[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => self.words.get(at + 1).map(String::as_str),
        }
    }

    /// Returns all values of an option.
    #[cfg(feature = "cli")]
    pub(crate) fn options<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let words = self.words.iter().enumerate();
        words.filter_map(move |(at, word)| match word.split_once('=') {
            Some((known, value)) => (known == name).then_some(value),
            None if word == name => self.words.get(at + 1).map(String::as_str),
            None => None,
        })
    }
}

/// Returns a command of ours, its words from the program on.
fn own_words(agent: &Agent, command: &str) -> Option<OwnCommand> {
    let Outline { steps, words } = Outline::read(command);
    // Another word is an assignment, a keyword or of a redirection.
    if words.len() > steps.iter().map(|step| step.words.len()).sum() {
        return None;
    }
    let (own, behind) = steps.split_first()?;
    let words = words_of(own)?;
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let (own, _script) = match &all[..] {
        ["/bin/sh", "-c", script, rest @ ..] if is_our_script(script) => (rest, Some(*script)),
        all => (all, None),
    };
    let [program, "hook", name, event, ..] = own else {
        return None;
    };
    let is_alone = match behind {
        [] => true,
        [exit] if exit.place.join == Join::Or => {
            words_of(exit).is_some_and(|words| words.len() == 2 && words[0] == "exit")
        }
        _ => false,
    };
    let is_hook = *name == agent.name() && agent.event_named(event).is_some();
    let is_ours = is_alone && is_hook && is_called_so(Path::new(program));
    is_ours.then(|| OwnCommand {
        words: own.iter().map(|word| (*word).to_owned()).collect(),
        #[cfg(feature = "cli")]
        script: _script.map(str::to_owned),
    })
}

/// Returns whether a script has the form of the one that `install` writes. Another script may mention it.
fn is_our_script(script: &str) -> bool {
    [RUN, RUN_AND_KEEP]
        .iter()
        .any(|run| script.starts_with(run))
        && script.contains(DID_NOT_RUN)
        && ["; exit 1", "; exit 2"]
            .iter()
            .any(|end| script.ends_with(end))
}

/// Returns whether a program has this program's name.
pub(crate) fn is_called_so(program: &Path) -> bool {
    let name = program.file_name();
    [PROGRAM, "forge-hooks.exe"]
        .iter()
        .any(|own| name == Some(OsStr::new(own)))
}

fn words_of(step: &Step<'_>) -> Option<Vec<String>> {
    // A registration by hand may contain `$HOME`.
    let words = step.words.iter();
    words
        .map(|word| word.value(|_| Some("$".to_owned())))
        .collect()
}
