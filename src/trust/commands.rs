//! Splits a shell's code into simple commands, each with its words and redirections.
//!
//! Knows the grammar of POSIX shells as far as it decides where a command begins. In constructs that it does
//! not know (a function's body, bash's `[[` in another shell), it may treat a word too many as a command.

use crate::hook::{CommandText, Token, Word};

/// The parts of a shell's code.
#[derive(Default)]
pub(super) struct Code {
    pub(super) commands: Vec<Command>,
    /// Code within this code (command substitutions), to be read separately.
    pub(super) nested: Vec<CommandText>,
    /// The code could not be read completely.
    pub(super) incomplete: bool,
}

#[derive(Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) input: Input,
    /// The targets of `>` and similar redirections.
    pub(super) outputs: Vec<Word>,
}

/// The standard input of a command, if its own redirections say so.
#[derive(Default, Clone)]
pub(super) enum Input {
    #[default]
    Inherited,
    File(Word),
    /// A here-document, or more than one redirection.
    Other,
}

/// Splits code into commands. `has_tests`: the shell knows `[[`.
pub(super) fn commands(read: CommandText, has_tests: bool) -> Code {
    let mut reader = Reader {
        has_tests,
        ..Reader::default()
    };
    for token in read.tokens {
        reader.token(token);
    }
    reader.end_command();
    Code {
        commands: reader.commands,
        nested: read.nested,
        incomplete: read.incomplete
            || reader.incomplete
            || reader.in_test
            || !reader.cases.is_empty(),
    }
}

#[derive(Default)]
struct Reader {
    commands: Vec<Command>,
    command: Command,
    redirection: Option<&'static str>,
    has_tests: bool,
    in_test: bool,
    incomplete: bool,
    /// For each open `case`, whether its next words are patterns.
    cases: Vec<bool>,
}

impl Reader {
    fn token(&mut self, token: Token) {
        match token {
            Token::Word(word) if self.in_test => {
                self.incomplete |= word.quotes_code;
                self.in_test = !is(&word, "]]");
            }
            Token::Operator(_) if self.in_test => {}
            Token::Word(word) if self.cases.last() == Some(&true) => {
                if is(&word, "esac") {
                    self.cases.pop();
                }
            }
            Token::Operator(operator) if self.cases.last() == Some(&true) => {
                if operator == ")" {
                    self.set_patterns(false);
                }
            }
            Token::Word(word) => self.word(word),
            Token::Operator(operator) => self.operator(operator),
        }
    }

    fn set_patterns(&mut self, are_next: bool) {
        if let Some(patterns) = self.cases.last_mut() {
            *patterns = are_next;
        }
    }

    fn operator(&mut self, operator: &'static str) {
        if operator.starts_with(['<', '>']) {
            self.redirection = Some(operator);
            return;
        }
        self.end_command();
        if operator.starts_with(";;") || operator == ";&" {
            self.set_patterns(true);
        }
    }

    fn end_command(&mut self) {
        self.redirection = None;
        let command = std::mem::take(&mut self.command);
        if !command.is_new() {
            self.commands.push(command);
        }
    }

    fn word(&mut self, word: Word) {
        let command = &mut self.command;
        match self.redirection.take() {
            Some("<") => command.take_input(Input::File(word)),
            Some("<>") => {
                command.outputs.push(word.clone());
                command.take_input(Input::File(word));
            }
            Some(">" | ">>" | ">|") => command.outputs.push(word),
            // A file descriptor; in bash it may also be a file.
            Some(">&") if !is_descriptor(&word) => command.outputs.push(word),
            Some(">&") => {}
            Some(_) => command.take_input(Input::Other),
            None if command.is_new() && self.is_keyword(&word) => {}
            None if self.command.is_case() && is(&word, "in") => {
                self.command = Command::default();
                self.cases.push(true);
            }
            None => self.command.words.push(word),
        }
    }

    /// Whether a word at the beginning of a command is a reserved word of the shell, after which another command
    /// begins or ends.
    fn is_keyword(&mut self, word: &Word) -> bool {
        if word.quoted || word.expands {
            return false;
        }
        match &*word.text {
            "[[" if self.has_tests => self.in_test = true,
            "esac" => drop(self.cases.pop()),
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "!"
            | "{" | "}" => {}
            _ => return false,
        }
        true
    }
}

impl Command {
    /// Whether nothing of the command has been read yet: only then can a word be a reserved word.
    fn is_new(&self) -> bool {
        let inherits = matches!(self.input, Input::Inherited);
        self.words.is_empty() && self.outputs.is_empty() && inherits
    }

    fn is_case(&self) -> bool {
        let is_first = self.words.first().is_some_and(|word| is(word, "case"));
        let inherits = matches!(self.input, Input::Inherited);
        is_first && self.words.len() == 2 && self.outputs.is_empty() && inherits
    }

    fn take_input(&mut self, input: Input) {
        self.input = match self.input {
            Input::Inherited => input,
            _ => Input::Other,
        };
    }
}

fn is_descriptor(word: &Word) -> bool {
    let is_plain = |c: char| c.is_ascii_digit() || c == '-';
    !word.expands && word.text.chars().all(is_plain)
}

fn is(word: &Word, text: &str) -> bool {
    !word.quoted && word.text == text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::words;

    #[track_caller]
    fn case(code: &str, expected: &str) {
        let read = commands(words(code), false);
        let shown = |words: &[Word]| {
            let words: Vec<&str> = words.iter().map(|word| &*word.text).collect();
            words.join(" ")
        };
        let mut found: Vec<String> = Vec::new();
        for command in &read.commands {
            let mut line = shown(&command.words);
            match &command.input {
                Input::File(input) => line += &format!(" <{}", input.text),
                Input::Other => line += " <?",
                Input::Inherited => {}
            }
            for output in &command.outputs {
                line += &format!(" >{}", output.text);
            }
            found.push(line);
        }
        if read.incomplete {
            found.push("INCOMPLETE".to_owned());
        }
        assert_eq!(found.join(" / "), expected, "{code}");
    }

    #[test]
    fn commands_begin_where_posix_says() {
        case("a b; c && d | e &", "a b / c / d / e");
        case("if a; then b; else c; fi", "a / b / c");
        case("while ! a <x; do { b; }; done >y", "a <x / b /  >y");
        case("for f in a b; do c; done", "for f in a b / c");
        case("case $x in a|b) c ;; (d) e ;; esac; f", "c / e / f");
        case(
            "case a in\n b)\n case c in d) e;; esac ;;\nesac\nf",
            "e / f",
        );
        case("case a in b) c", "c / INCOMPLETE");
        case("(a; b) 2>&1", "a / b");
        case("f() { a; }; f", "f / a / f");
        case("A=1 B= a", "A=1 B= a");
        case("\"if\" a", "if a");
        case("[[ a || b ]]", "[[ a / b ]]");
        case("sh <<E\nx\nE", "sh <?");
        case("sh <a <b 2>&1 >&c", "sh <? >c");
        case(">a case b in c", "case b in c >a");
        case("time case b in c", "time case b in c");
    }
}
