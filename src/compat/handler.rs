//! Converts one handler of another tool to a hook, by that tool's rules.
//!
//! Knows the keys of handlers, not the rest of the file.

use std::sync::Arc;
use std::time::Duration;

use super::lint;
use super::protocol::ToolProtocol;
use super::reader::{Reader, list, object, text};
use super::rule::Rule;
use super::tool::{Event, Tool, has};
use crate::config::reading::{Node, Problem};
use crate::hook::{FailurePolicy, Hook, Shell};
use crate::printable::shortened;

impl Reader<'_> {
    /// Adds the hook of a handler, or returns the problem that makes the handler unusable. `group` has the matcher.
    pub(super) fn handler(
        &mut self,
        node: Node<'_, '_>,
        group: &ToolProtocol,
    ) -> Result<(), Problem> {
        check_type(node, self.origin.tool)?;
        let event = &group.event;
        let start = node.range().start;
        let hook = self.command(node, event)?;
        let mut hook = hook
            .with_source(self.file.source(None, start))
            .with_on_failure(self.policy(node, event))
            .with_timeout(self.timeout(node, event));
        if let Some(base) = &self.origin.base_dir {
            hook = hook.with_base_dir(Arc::clone(base));
        }
        if self.runs_in_background(node, event) {
            hook = hook.with_background();
        }
        if let Some(name) = self.text(node, "name") {
            hook = hook.with_name(name);
        }
        if let Some(description) = self.text(node, "description") {
            hook = hook.with_description(description);
        }
        let hook = self.with_environment(node, hook);
        let protocol = ToolProtocol {
            rule: self.rule(node, event)?,
            status_message: self.text(node, "statusMessage").map(str::to_owned),
            context_limit: self.context_limit(node),
            ..group.clone()
        };
        for problem in lint::command(node, &hook, &protocol) {
            self.report(problem);
        }
        let hook = hook.with_protocol(Arc::new(protocol));
        self.file.add(hook, false, start);
        Ok(())
    }

    /// Returns the value of a key that the tool reads, as `read` has it; another value is reported and ignored.
    fn value<'t, 'a, T>(
        &mut self,
        node: Node<'t, 'a>,
        key: &str,
        expected: &str,
        read: impl Fn(Node<'t, 'a>) -> Option<T>,
    ) -> Option<T> {
        let value = node.get(key);
        let value = value.filter(|_| has(self.origin.tool.keys, key))?;
        let found = read(value);
        if found.is_none() {
            let shown = match (value.text(), value.number()) {
                (Some(text), _) => format!("`{}`", shortened(text)),
                (_, Some(number)) => number.to_string(),
                _ => value.kind().to_owned(),
            };
            self.report(value.warning(format!(
                "expected {expected}, found {shown}; the key is ignored"
            )));
        }
        found
    }

    fn text<'t>(&mut self, node: Node<'t, '_>, key: &str) -> Option<&'t str> {
        self.value(node, key, "a string", |it| it.text())
    }

    /// Returns the value of a key if it is one of two strings.
    fn choice<'t>(
        &mut self,
        node: Node<'t, '_>,
        key: &str,
        [first, second]: [&str; 2],
    ) -> Option<&'t str> {
        let expected = format!("`{first}` or `{second}`");
        let is_one = |text: &&str| *text == first || *text == second;
        self.value(node, key, &expected, |it| it.text().filter(is_one))
    }

    fn command(&mut self, node: Node<'_, '_>, event: &Event) -> Result<Hook, Problem> {
        let of_windows = node.get("commandWindows").filter(|_| cfg!(windows));
        let of_windows = of_windows.filter(|_| has(self.origin.tool.keys, "commandWindows"));
        let Some(given) = of_windows.or_else(|| node.get("command")) else {
            return Err(node.error("`command` is missing"));
        };
        let text = string(given)?;
        let pattern = event.ours.unwrap_or_default();
        let is_read = has(self.origin.tool.keys, "args");
        let hook = match node.get("args").filter(|_| is_read) {
            Some(args) => {
                let words = list(args, "a list of strings")?.map(string);
                let words: Vec<_> = words.collect::<Result<_, _>>()?;
                Hook::program(pattern, [text].into_iter().chain(words))
            }
            None => Hook::new(pattern, text),
        };
        let hook = hook.map_err(|error| given.error(error.to_string()))?;
        // For `bash`, the default, `protocol` chooses the shell.
        Ok(match self.choice(node, "shell", ["bash", "powershell"]) {
            Some("powershell") => hook.with_shell(Shell::Pwsh),
            _ => hook,
        })
    }

    fn rule(&mut self, node: Node<'_, '_>, event: &Event) -> Result<Option<Rule>, Problem> {
        let rule = self.value(node, "if", "a string", |it| {
            Some((it, Rule::new(it.text()?)))
        });
        let Some((given, rule)) = rule else {
            return Ok(None);
        };
        if !event.is_of_tool() {
            let name = event.name;
            let words =
                format!("the hook never runs: `{name}` has no tool that a rule could match");
            return Err(given.warning(words).with_help("remove `if`"));
        }
        if let Some(words) = rule.misunderstood() {
            self.report(given.warning(words));
        }
        Ok(Some(rule))
    }

    fn context_limit(&mut self, node: Node<'_, '_>) -> Option<usize> {
        let is_number = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
        let (key, expected) = ("additionalContextLimit", "a number of tokens");
        let tokens = self.value(node, key, expected, |it| it.number().filter(is_number));
        // Any larger number is no limit.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        tokens.map(|tokens| tokens as usize)
    }

    /// Returns the failure policy. Default: failures are ignored, as the tools do, unless the handler
    /// or the host sets another policy.
    fn policy(&mut self, node: Node<'_, '_>, event: &Event) -> FailurePolicy {
        match self.choice(node, "onFailure", ["continue", "block"]) {
            Some("block") => FailurePolicy::Block,
            _ if self.origin.is_strict => FailurePolicy::Block,
            None if event.is_closed => FailurePolicy::Block,
            _ => FailurePolicy::Continue,
        }
    }

    fn timeout(&mut self, node: Node<'_, '_>, event: &Event) -> Duration {
        let tool = self.origin.tool;
        let (expected, seconds) = match tool.milliseconds {
            true => ("milliseconds above 0", 0.001),
            false => ("seconds above 0", 1.0),
        };
        let mut read = |key| {
            self.value(node, key, expected, |it| {
                let number = it.number().filter(|number| *number > 0.0)?;
                Some((number, lint::timeout(it, number, tool)))
            })
        };
        let Some((number, problem)) = read("timeout").or_else(|| read("timeoutSec")) else {
            return event.timeout;
        };
        if let Some(problem) = problem {
            self.report(problem);
        }
        let own = Duration::try_from_secs_f64(number * seconds).unwrap_or(Duration::MAX);
        own.min(event.longest.unwrap_or(Duration::MAX))
    }

    fn runs_in_background(&mut self, node: Node<'_, '_>, event: &Event) -> bool {
        let mut is_on = |key| self.value(node, key, "true or false", |it| it.switch());
        let is_async = [is_on("async"), is_on("asyncRewake")].contains(&Some(true));
        is_async && event.longest.is_none() && !event.is_closed
    }

    fn with_environment(&mut self, node: Node<'_, '_>, mut hook: Hook) -> Hook {
        let expected = "an object of strings";
        let given = self.value(node, "env", expected, |it| it.is_object().then_some(it));
        let Some(given) = given else {
            return hook;
        };
        for member in given.members() {
            let name = member.key;
            let is_name = !name.is_empty() && !name.contains(['=', '\0']);
            match string(member.value) {
                Ok(value) if is_name => hook = hook.with_env(name, value),
                _ => {
                    let words = format!("`{}` cannot be set", shortened(name));
                    self.report(given.warning(words));
                }
            }
        }
        hook
    }
}

fn check_type(node: Node<'_, '_>, tool: &Tool) -> Result<(), Problem> {
    object(node, "an object with `type` and `command`")?;
    let Some(given) = node.get("type") else {
        let problem = node.error(format!("has no `type`, so {} ignores it", tool.title));
        return Err(problem.with_help("add \"type\": \"command\""));
    };
    match text(given)? {
        "command" => Ok(()),
        other if has(tool.other_types, other) => Err(given.warning(format!(
            "handlers of type `{other}` do not run: only type `command` is supported"
        ))),
        other => {
            let words = format!("expected `command`, found `{}`", shortened(other));
            Err(given.error(words).with_suggestion_of(Some("command")))
        }
    }
}

/// Returns a string that a process can receive.
fn string(node: Node<'_, '_>) -> Result<String, Problem> {
    let nul = || node.error("expected a string without the character NUL");
    let text = Some(text(node)?).filter(|text| !text.contains('\0'));
    text.map(str::to_owned).ok_or_else(nul)
}
