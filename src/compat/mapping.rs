//! A tool of the host under the names that another agent's hooks read: its own name, and those of its arguments.
//!
//! A name that is not mapped stays. Two arguments never become one.

use serde_json::{Map, Value};

use crate::agents::Agent;

/// A tool of the host, from the view of an agent's hooks.
#[derive(Debug, Clone)]
pub(crate) struct MappedTool {
    pub(super) agent: &'static Agent,
    pub(super) ours: String,
    pub(super) theirs: String,
    /// The host's names of arguments, each with the agent's.
    pub(super) arguments: Vec<(String, String)>,
}

impl MappedTool {
    /// Returns the arguments of a call under the agent's names.
    pub(super) fn there(&self, call: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        self.renamed(call, |key| {
            let mut pairs = self.arguments.iter();
            Some(&*pairs.find(|(ours, _)| ours == key)?.1)
        })
    }

    /// Returns the arguments that a hook has set under the host's names, which are those in the call.
    pub(super) fn back(
        &self,
        call: &Map<String, Value>,
        changed: &Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let is_mapped = |key: &str| self.arguments.iter().any(|(ours, _)| ours == key);
        self.renamed(changed, |key| {
            if call.contains_key(key) && !is_mapped(key) {
                return None;
            }
            let mut pairs = self.arguments.iter().filter(|(_, theirs)| theirs == key);
            let first = pairs.clone().next();
            let called = pairs.find(|(ours, _)| call.contains_key(ours));
            called.or(first).map(|(ours, _)| &**ours)
        })
    }

    fn renamed<'a>(
        &self,
        arguments: &Map<String, Value>,
        new_name: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Map<String, Value>, String> {
        let mut all = Map::new();
        for (key, value) in arguments {
            let name = new_name(key).unwrap_or(key);
            if all.insert(name.to_owned(), value.clone()).is_some() {
                let (tool, agent) = (&self.ours, self.agent.title());
                return Err(format!(
                    "two arguments of the tool `{tool}`, as it is mapped for {agent}, have the name `{name}`"
                ));
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::compat::CLAUDE;

    fn tool(arguments: &[(&str, &str)]) -> MappedTool {
        let arguments = arguments
            .iter()
            .map(|(ours, theirs)| ((*ours).to_owned(), (*theirs).to_owned()));
        MappedTool {
            agent: CLAUDE,
            ours: "fs_write".to_owned(),
            theirs: "Write".to_owned(),
            arguments: arguments.collect(),
        }
    }

    fn object(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    const PLAIN: &[(&str, &str)] = &[("path", "file_path"), ("contents", "content")];
    const SWAPPED: &[(&str, &str)] = &[("a", "b"), ("b", "a")];
    const EITHER: &[(&str, &str)] = &[("path", "file_path"), ("file", "file_path")];

    #[test]
    fn arguments_have_the_agents_names() {
        for (names, call, expected) in [
            (
                PLAIN,
                r#"{"path": 1, "contents": 2, "mode": 3}"#,
                r#"{"file_path": 1, "content": 2, "mode": 3}"#,
            ),
            (PLAIN, r#"{"file_path": 1}"#, r#"{"file_path": 1}"#),
            (PLAIN, r#"{"path": 1, "file_path": 2}"#, "`file_path`"),
            (PLAIN, r#"{"content": 1, "contents": 2}"#, "`content`"),
            (SWAPPED, r#"{"a": 1, "b": 2}"#, r#"{"b": 1, "a": 2}"#),
            (EITHER, r#"{"file": 1}"#, r#"{"file_path": 1}"#),
            (EITHER, r#"{"file": 1, "path": 2}"#, "`file_path`"),
        ] {
            match tool(names).there(&object(call)) {
                Ok(mapped) => assert_eq!(json!(mapped), json!(object(expected)), "{call}"),
                Err(why) => assert!(why.ends_with(expected), "{call}: {why}"),
            }
        }
    }

    #[test]
    fn changes_come_back_under_the_names_of_the_call() {
        for (names, call, changed, expected) in [
            (
                PLAIN,
                r#"{"path": 1}"#,
                r#"{"file_path": 2, "content": 3, "x": 4}"#,
                r#"{"path": 2, "contents": 3, "x": 4}"#,
            ),
            (
                PLAIN,
                r#"{"file_path": 1}"#,
                r#"{"file_path": 2}"#,
                r#"{"file_path": 2}"#,
            ),
            (PLAIN, r#"{"path": 1}"#, r#"{"path": 2}"#, r#"{"path": 2}"#),
            (
                PLAIN,
                r#"{"path": 1}"#,
                r#"{"path": 2, "file_path": 3}"#,
                "`path`",
            ),
            (SWAPPED, r#"{"b": 1}"#, r#"{"a": 2}"#, r#"{"b": 2}"#),
            (
                SWAPPED,
                r#"{"a": 1, "b": 2}"#,
                r#"{"a": 2, "b": 1}"#,
                r#"{"b": 2, "a": 1}"#,
            ),
            (
                EITHER,
                r#"{"file": 1}"#,
                r#"{"file_path": 2}"#,
                r#"{"file": 2}"#,
            ),
            (EITHER, "{}", r#"{"file_path": 2}"#, r#"{"path": 2}"#),
        ] {
            match tool(names).back(&object(call), &object(changed)) {
                Ok(mapped) => {
                    assert_eq!(json!(mapped), json!(object(expected)), "{call} {changed}")
                }
                Err(why) => assert!(why.ends_with(expected), "{call} {changed}: {why}"),
            }
        }
    }
}
