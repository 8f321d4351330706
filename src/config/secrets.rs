//! Finds names in a hook's `inherit` that look like names of secrets.

use serde_json::json;

use super::report::Problem;
use crate::hook::Hook;
use crate::printable::shortened;
use crate::redact::Redactor;

/// The most names of a file that are checked: checking takes longer than reading.
const MOST_NAMES: usize = 20_000;

/// Checks the names of all hooks of a file.
pub(crate) struct SecretNames {
    redactor: Redactor,
    left: usize,
}

impl SecretNames {
    pub(crate) fn new() -> Self {
        Self {
            redactor: Redactor::new(),
            left: MOST_NAMES,
        }
    }

    /// Returns a warning for the first such name. A name with a star is skipped, since it may be for other
    /// variables.
    pub(crate) fn lint(&mut self, hook: &Hook) -> Option<Problem> {
        let rule = hook.inherit_rule()?;
        let names = rule.names().iter().filter(|name| !name.contains('*'));
        let mut names = names.take(self.left);
        let name = names.find(|name| {
            self.left -= 1;
            is_secret(name, &self.redactor)
        })?;
        let message = format!(
            "the list passes on `{}`, whose name looks like that of a secret",
            shortened(name)
        );
        let help = "remove it unless the hook needs it";
        Some(Problem::warning("inherit", message).with_help(help))
    }
}

/// Returns whether the value of a variable of this name would be masked. The two exceptions are directories.
fn is_secret(name: &str, redactor: &Redactor) -> bool {
    let value = json!({name: "x9x9"});
    !["PWD", "OLDPWD"].contains(&name) && redactor.value(&value)[name] != "x9x9"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn case(found: &mut SecretNames, names: &[&str], secret: Option<&str>) {
        let hook = Hook::new("session:start", "x").unwrap();
        let found = found.lint(&hook.with_inherit(names.iter().copied()));
        let expected = secret
            .map(|it| format!("the list passes on `{it}`, whose name looks like that of a secret"));
        assert_eq!(found.map(|it| it.message), expected, "{names:?}");
    }

    #[test]
    fn a_secret_in_a_list_is_found() {
        let mut found = SecretNames::new();
        let token = Some("GITHUB_TOKEN");
        case(&mut found, &["PATH", "HOME", "GITHUB_TOKEN"], token);
        case(&mut found, &["DB_PASSWORD", "PATH"], Some("DB_PASSWORD"));
        case(
            &mut found,
            &["PATH", "HOME", "*_TOKEN", "PWD", "TERM"],
            None,
        );
        case(&mut found, &[], None);
    }

    #[test]
    fn only_the_first_of_many_names_are_checked() {
        let mut found = SecretNames {
            left: 3,
            ..SecretNames::new()
        };
        case(&mut found, &["A", "B"], None);
        case(&mut found, &["DB_PASSWORD"], Some("DB_PASSWORD"));
        case(&mut found, &["DB_PASSWORD"], None);
    }
}
