//! The texts that a command gives to a shell: `bash -c 'sudo ls'`, `ssh host sudo ls`. Does not read them.

use super::expand::{ANY, Arg, FILE_OF_COMMANDS};
use super::options::{Options, behind_options, takes_value};
use super::tables::{Valued, base_name, is_shell, valued};

/// Stands for an unknown part of a text for a shell: a variable without a value.
pub(super) const UNKNOWN_VALUE: &str = "${_}";

/// A text for a shell.
#[derive(Debug, PartialEq)]
pub(super) enum ShellText {
    Text(String),
    /// The text that the command reads.
    Input,
    /// A text that the program may give to a shell or not.
    Perhaps(String),
}

/// The texts that a command gives to a shell, and their arguments: `$0`, `$1`, ..
pub(super) struct ShellTexts<'a> {
    pub(super) texts: Vec<ShellText>,
    pub(super) arguments: &'a [Arg],
}

/// Returns the texts that the command at a place gives to a shell.
pub(super) fn shell_texts(words: &[Arg], at: usize) -> ShellTexts<'_> {
    let (command, words) = (&words[at], &words[at + 1..]);
    let Some(program) = command.known().map(base_name) else {
        return optional(text_of_option(words, None), ShellText::Perhaps);
    };
    let texts = match program {
        _ if is_shell(program) => return texts_of_shell(program, words),
        "su" | "sg" | "script" | "flock" | "runuser" | "vagrant" | "gcloud" => {
            return optional(text_of_option(words, None), ShellText::Text);
        }
        "eval" => joined(words),
        "alias" => {
            let values = words.iter().filter_map(|word| word.text().split_once('='));
            values
                .map(|(_, value)| ShellText::Text(value.to_owned()))
                .collect()
        }
        "." | "source" => Vec::from_iter(words.first().filter(is_input).map(|_| ShellText::Input)),
        "ssh" => texts_of_ssh(words),
        "env" => Vec::from_iter(value_of_split(words).map(ShellText::Text)),
        "nix-shell" => {
            let values = Options::new(program, words).values_of(&["--run", "--command"]);
            values
                .into_iter()
                .map(|(word, _)| ShellText::Text(shell_word(word)))
                .collect()
        }
        "watch" | "trap" => {
            let operands = behind_options(words, &valued(program));
            Vec::from_iter(
                operands
                    .first()
                    .map(|word| ShellText::Text(shell_word(word))),
            )
        }
        "parallel" => texts_of_parallel(behind_options(words, &valued(program))),
        "at" | "batch" => vec![ShellText::Input],
        "git" => Vec::from_iter(git_text(words)),
        // `tmux send-keys -t x 'sudo ls' Enter`
        "tmux" | "hyperfine" | "cmd" | "powershell" | "pwsh" => {
            let texts = words.iter().filter(|word| word.text().contains(' '));
            texts
                .map(|word| ShellText::Perhaps(shell_word(word)))
                .collect()
        }
        _ => Vec::new(),
    };
    ShellTexts {
        texts,
        arguments: &[],
    }
}

fn optional<'a>(
    text: Option<(String, &'a [Arg])>,
    kind: fn(String) -> ShellText,
) -> ShellTexts<'a> {
    match text {
        Some((text, arguments)) => ShellTexts {
            texts: vec![kind(text)],
            arguments,
        },
        None => ShellTexts {
            texts: Vec::new(),
            arguments: &[],
        },
    }
}

fn texts_of_shell<'a>(program: &str, words: &'a [Arg]) -> ShellTexts<'a> {
    let valued = valued(program);
    let text = text_of_option(words, Some(&valued));
    if text.is_some() {
        return optional(text, ShellText::Text);
    }
    let operands = behind_options(words, &valued);
    let is_script = operands.first().is_some_and(|word| !is_input(&word));
    let reads_input = !is_script || has_letter(words, 's');
    ShellTexts {
        texts: Vec::from_iter(reads_input.then_some(ShellText::Input)),
        arguments: operands,
    }
}

/// Returns whether the command is a shell that runs a script whose name is known.
pub(super) fn runs_script(words: &[Arg]) -> bool {
    let program = words.first().and_then(Arg::known).map(base_name);
    program.is_some_and(is_shell) && {
        let given = shell_texts(words, 0);
        let script = given.arguments.first().and_then(Arg::known);
        given.texts.is_empty() && script.is_some()
    }
}

/// The host is an operand, and options may stand behind it, too.
fn texts_of_ssh(words: &[Arg]) -> Vec<ShellText> {
    let valued = valued("ssh");
    match behind_options(words, &valued) {
        [] => Vec::new(),
        [_host, rest @ ..] => match behind_options(rest, &valued) {
            [] => vec![ShellText::Input],
            command => joined(command),
        },
    }
}

/// Each word behind `:::` is a command if none stands before.
fn texts_of_parallel(operands: &[Arg]) -> Vec<ShellText> {
    let text = |word: &Arg| ShellText::Text(shell_word(word));
    match operands {
        [first, commands @ ..] if first.text() == ":::" => commands.iter().map(text).collect(),
        operands => operands.iter().take(1).map(text).collect(),
    }
}

/// Returns whether a shell reads a word as its standard input: `-`, `<(..)`.
fn is_input(word: &&Arg) -> bool {
    word.text().starts_with(FILE_OF_COMMANDS) || matches!(word.text(), "-" | "/dev/stdin")
}

fn has_letter(words: &[Arg], letter: char) -> bool {
    let options = words.iter().take_while(|word| word.is_option());
    let mut clusters = options.filter(|word| !word.text().starts_with("--"));
    clusters.any(|word| word.text().contains(letter))
}

/// Returns the value of `-c`, also in a cluster as in `-lc`, and of `--command`, and the words behind it. Those of a shell
/// stand before its operands.
fn text_of_option<'a>(words: &'a [Arg], shell: Option<&Valued>) -> Option<(String, &'a [Arg])> {
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let text = word.text();
        if let Some(value) = text.strip_prefix("--command=") {
            return Some((value.to_owned(), &words[place + 1..]));
        }
        let is_cluster = word.is_option() && !text.starts_with("--");
        if text == "--command" || is_cluster && text.contains('c') {
            let behind = &words[place + 1..];
            let is_value = |word: &Arg| !word.is_option() && word.text() != "--";
            let value = behind.iter().position(is_value)?;
            return Some((shell_word(&behind[value]), &behind[value + 1..]));
        }
        let is_operand = !word.is_option() && !text.starts_with('+');
        if is_operand && shell.is_some() {
            return None;
        }
        place += 1 + usize::from(shell.is_some_and(|valued| takes_value(text, valued)));
    }
    None
}

/// Returns the value of `env -S`, which is split into a command.
fn value_of_split(arguments: &[Arg]) -> Option<String> {
    for (index, word) in arguments
        .iter()
        .enumerate()
        .take_while(|(_, word)| word.is_option())
    {
        let text = word.text();
        if text == "-S" || text == "--split-string" {
            return Some(join(&arguments[index + 1..]));
        }
        let attached = text.strip_prefix("--split-string=");
        let attached = attached.or_else(|| text.strip_prefix("-S"));
        if let Some(value) = attached {
            return Some(value.to_owned());
        }
    }
    None
}

/// Returns the text of `git submodule foreach`, `git bisect run` and `git rebase --exec`.
fn git_text(arguments: &[Arg]) -> Option<ShellText> {
    let is_mark = |word: &Arg| matches!(word.known(), Some("foreach" | "run" | "--exec" | "-x"));
    let place = arguments.iter().position(is_mark)?;
    let is_known = |word: &Arg| matches!(word.known(), Some("submodule" | "bisect" | "rebase"));
    if !arguments[..place].iter().any(is_known) {
        return None;
    }
    let mut command = arguments[place + 1..].iter();
    let text = command.find(|word| !word.is_option())?;
    Some(ShellText::Text(shell_word(text)))
}

fn joined(words: &[Arg]) -> Vec<ShellText> {
    Vec::from_iter((!words.is_empty()).then(|| ShellText::Text(join(words))))
}

fn join(words: &[Arg]) -> String {
    let words: Vec<_> = words.iter().map(shell_word).collect();
    words.join(" ")
}

/// Returns a word as a text for a shell.
fn shell_word(word: &Arg) -> String {
    word.values.join("\n").replace(ANY, UNKNOWN_VALUE)
}
