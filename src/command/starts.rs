//! Where commands begin in the words of a command, and the texts that it gives to a shell.
//!
//! `timeout 9 sudo ls` has two commands, `bash -c 'sudo ls'` one and a text. Reads no text itself.

use std::ops::Range;

use super::expand::{ANY, Arg, FILE_OF_COMMANDS};
use super::syntax::assignment;
use super::tables::{
    base_name, has_data, has_long_value, is_shell, letters_with_value, marks, words_before_command,
};

/// The most commands in the words of one.
const MOST_STARTS: usize = 20;

/// Where commands begin in words.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// The places of programs.
    pub(super) places: Vec<usize>,
    /// The words that a program may run or not: `yarn workspace a npm publish`.
    pub(super) tail: Range<usize>,
}

pub(super) fn starts(words: &[Arg]) -> Starts {
    let mut places = Vec::new();
    let mut next = Some(0);
    while let Some(at) = next.filter(|at| *at < words.len() && places.len() < MOST_STARTS) {
        places.push(at);
        next = match program(words, at) {
            Some(program) => command_after(program, words, at),
            None => None,
        };
    }
    let Some(last) = places.last().copied() else {
        return Starts::default();
    };
    let program = program(words, last);
    let marks = marks(program.unwrap_or(""));
    add_marked(&mut places, words, last, marks);
    let is_data = program.is_some_and(has_data);
    let tail = if is_data { 0..0 } else { last + 1..words.len() };
    Starts { places, tail }
}

/// Returns the name of the program at a place, if it is known.
pub(super) fn program(words: &[Arg], at: usize) -> Option<&str> {
    words.get(at).and_then(Arg::known).map(base_name)
}

/// Returns the words behind a program. Those of `find -exec` end at `;` or at `+`.
pub(super) fn arguments(words: &[Arg], program: usize) -> &[Arg] {
    let words = &words[program + 1..];
    let is_end = |place: &usize| match words[*place].text() {
        ";" => true,
        "+" => *place > 0 && words[place - 1].span != words[*place].span,
        _ => false,
    };
    let end = (0..words.len()).find(is_end).unwrap_or(words.len());
    &words[..end]
}

/// Returns the place of the command that a program runs.
fn command_after(program: &str, words: &[Arg], at: usize) -> Option<usize> {
    let mut before = words_before_command(program)?;
    let letters = letters_with_value(program);
    let mut place = at + 1;
    while let Some(word) = words.get(place) {
        let text = word.text();
        if text == "--" {
            return Some(place + 1 + before);
        }
        // `command -v sudo` prints a path.
        if program == "command" && matches!(text, "-v" | "-V") {
            return None;
        }
        if word.is_option() {
            place += 1 + usize::from(takes_value(text, letters));
        } else if program != "exec" && assignment(text).is_some() {
            place += 1;
        } else if before > 0 {
            before -= 1;
            place += 1;
        } else {
            break;
        }
    }
    Some(place)
}

/// Returns whether the word behind an option is its value.
pub(super) fn takes_value(option: &str, letters: &str) -> bool {
    if option.starts_with("--") {
        return has_long_value(option);
    }
    let mut chars = option.chars().skip(1);
    // The first letter with a value takes the rest of the word, if there is any.
    let has_value = chars.any(|c| letters.contains(c));
    has_value && chars.next().is_none()
}

/// Adds the commands behind `exec`, `run`, `--`, `-exec`. Behind options and a first word, as in `docker exec -it db psql`,
/// each word may be the program.
fn add_marked(places: &mut Vec<usize>, words: &[Arg], last: usize, marks: &[&str]) {
    let is_mark = |word: &Arg| word.known().is_some_and(|text| marks.contains(&text));
    let behind = words.iter().enumerate().skip(last + 1);
    for (index, word) in behind {
        if !is_mark(word) || places.len() >= MOST_STARTS {
            continue;
        }
        let is_foreach = word.text() == "foreach";
        let options = words[index + 1..]
            .iter()
            .take_while(|word| is_foreach && word.is_option());
        places.push(index + 1 + options.count());
        if !is_foreach && !word.text().starts_with('-') {
            add_operands(places, words, index + 1);
        }
    }
    places.retain(|place| *place < words.len());
}

fn add_operands(places: &mut Vec<usize>, words: &[Arg], first: usize) {
    let mut is_behind_option = false;
    let mut operands = 0;
    for (index, word) in words.iter().enumerate().skip(first) {
        if word.is_option() {
            is_behind_option = true;
            continue;
        }
        if index > first {
            places.push(index);
        }
        operands += usize::from(!is_behind_option);
        if operands == 2 || places.len() >= MOST_STARTS {
            break;
        }
        is_behind_option = false;
    }
}

/// What stands for an unknown part in a text for a shell: a variable without a value.
pub(super) const UNKNOWN_VALUE: &str = "${_}";

/// A text for a shell.
#[derive(Debug, PartialEq)]
pub(super) enum ShellText {
    Text(String),
    /// What the command reads.
    Input,
    /// A text, if the program, which is unknown, is a shell.
    Perhaps(String),
}

/// Returns the texts that the command at a place gives to a shell.
pub(super) fn shell_texts(words: &[Arg], at: usize) -> Vec<ShellText> {
    let (command, arguments) = (&words[at], &words[at + 1..]);
    let Some(program) = command.known().map(base_name) else {
        let text = text_of_option(arguments, "");
        return text.map(ShellText::Perhaps).into_iter().collect();
    };
    let joined = |words: &[Arg]| (!words.is_empty()).then(|| ShellText::Text(join(words)));
    if program == "tmux" {
        // `tmux send-keys -t x 'sudo ls' Enter`
        let texts = arguments.iter().filter(|word| word.text().contains(' '));
        return texts
            .map(|word| ShellText::Perhaps(shell_word(word)))
            .collect();
    }
    let text = match program {
        _ if is_shell(program) => shell_text(arguments),
        "su" | "sg" | "script" | "flock" | "runuser" | "vagrant" | "gcloud" => {
            text_of_option(arguments, "").map(ShellText::Text)
        }
        "eval" => joined(arguments),
        "." | "source" => Some(ShellText::Input).filter(|_| reads_commands(arguments)),
        "ssh" => match operands(arguments, letters_with_value(program)) {
            [] => None,
            [_host] => Some(ShellText::Input),
            [_host, command @ ..] => joined(command),
        },
        "env" => value_of_split(arguments).map(ShellText::Text),
        "watch" | "trap" | "parallel" => {
            let operands = operands(arguments, letters_with_value(program));
            operands
                .first()
                .map(|word| ShellText::Text(shell_word(word)))
        }
        "at" | "batch" => Some(ShellText::Input),
        "git" => git_text(arguments),
        _ => None,
    };
    text.into_iter().collect()
}

fn shell_text(arguments: &[Arg]) -> Option<ShellText> {
    if let Some(text) = text_of_option(arguments, "oO") {
        return Some(ShellText::Text(text));
    }
    let is_stdin = |word: &Arg| matches!(word.known(), Some("-" | "/dev/stdin"));
    let reads_input = match operands(arguments, "oO") {
        [] => true,
        [first, ..] => {
            is_stdin(first)
                || has_letter(arguments, 's')
                || reads_commands(std::slice::from_ref(first))
        }
    };
    reads_input.then_some(ShellText::Input)
}

/// Returns whether the first word is `<(..)`, or standard input.
fn reads_commands(arguments: &[Arg]) -> bool {
    let reads =
        |word: &Arg| word.text().starts_with(FILE_OF_COMMANDS) || word.text() == "/dev/stdin";
    arguments.first().is_some_and(reads)
}

fn has_letter(arguments: &[Arg], letter: char) -> bool {
    let options = arguments.iter().take_while(|word| word.is_option());
    let mut clusters = options.filter(|word| !word.text().starts_with("--"));
    clusters.any(|word| word.text().contains(letter))
}

/// Returns the value of `-c`, also in a cluster as in `-lc`, and of `--command`.
fn text_of_option(arguments: &[Arg], letters: &str) -> Option<String> {
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let text = word.text();
        if let Some(value) = text.strip_prefix("--command=") {
            return Some(value.to_owned());
        }
        let is_cluster = word.is_option() && !text.starts_with("--");
        if text == "--command" || is_cluster && text.contains('c') {
            let mut values = arguments[place + 1..].iter();
            let is_value = |word: &&Arg| !word.is_option() && word.text() != "--";
            return values.find(is_value).map(shell_word);
        }
        let is_operand = !word.is_option() && !text.starts_with('+');
        if is_operand && !letters.is_empty() {
            return None;
        }
        place += 1 + usize::from(is_cluster && takes_value(text, letters));
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

/// Returns the words behind the options.
pub(super) fn operands<'a>(arguments: &'a [Arg], letters: &str) -> &'a [Arg] {
    let mut place = 0;
    while let Some(word) = arguments.get(place) {
        let text = word.text();
        if text == "--" {
            place += 1;
            break;
        }
        let is_option = word.is_option() || text.starts_with('+') && letters == "oO";
        if !is_option {
            break;
        }
        place += 1 + usize::from(takes_value(text, letters));
    }
    &arguments[place.min(arguments.len())..]
}

fn join(words: &[Arg]) -> String {
    let words: Vec<_> = words.iter().map(shell_word).collect();
    words.join(" ")
}

/// Returns a word as a text for a shell.
fn shell_word(word: &Arg) -> String {
    word.values.join("\n").replace(ANY, UNKNOWN_VALUE)
}
