//! Commands whose words are literal, so that the files that they run are known without a shell.
//!
//! Knows words; knows nothing of files.

use super::parts::HookCommand;
use super::words::{Token, words};

/// Returns the words of a command if all are literal: no expansion, no operator, no code for another shell.
/// None if the files of the command cannot be determined.
pub(crate) fn literal_words(command: &HookCommand) -> Option<Vec<String>> {
    let words: Vec<String> = match command {
        HookCommand::Program(args) => args.clone(),
        HookCommand::Shell { text, .. } => {
            let tokens = words(text).tokens.into_iter();
            let literal = tokens.map(|token| match token {
                Token::Word(word) if !word.expands && !word.bare.starts_with('~') => {
                    Some(word.text)
                }
                _ => None,
            });
            literal.collect::<Option<_>>()?
        }
    };
    let is_shell = words.iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        ["sh", "bash", "dash", "zsh", "ksh", "fish"].contains(&name)
    });
    let takes_code = |word: &String| word.starts_with('-') && word.ends_with('c');
    (!(is_shell && words.iter().any(takes_code))).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_change_is_not_literal() {
        let of = |text: &str| {
            let text = text.to_owned();
            literal_words(&HookCommand::Shell { text, shell: None })
        };
        for (text, count) in [
            ("python3 -I hooks/guard.py", 3),
            ("exec jq -c '{id} + {}'", 4),
            ("sh guard.sh 'a b'", 3),
        ] {
            assert_eq!(of(text).map(|words| words.len()), Some(count), "{text}");
        }
        for text in [
            "~/guard.py",
            "python3 \"$HOME/guard.py\"",
            "cd hooks && exec python3 guard.py",
            "sh -c 'exec ./guard.py'",
            "bash -ec guard",
            "python3 *.py",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let args = |args: &[&str]| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            literal_words(&HookCommand::Program(args))
        };
        assert_eq!(args(&["a", "$b"]).map(|words| words.len()), Some(2));
        assert_eq!(args(&["/bin/sh", "-c", "./x"]), None);
    }
}
