//! Reads the arguments of an interpreter by its grammar: which of them is a script, which is code.
//!
//! Knows nothing of files.

use super::interpreters::{Interpreter, Language, Meaning, Operand};
use crate::hook::Word;

/// What an option gives the interpreter to run.
pub(super) enum Given {
    Script(Word),
    Code(Word),
    Unknown,
}

/// The arguments of a call of an interpreter.
pub(super) struct Interpreted<'a> {
    /// The options that give the interpreter something to run.
    pub(super) options: Vec<(&'a str, Given)>,
    pub(super) operand: Option<&'a Word>,
    pub(super) operand_is: Operand,
    /// Python's `-I`.
    pub(super) is_isolated: bool,
    /// The arguments of the script or code.
    pub(super) rest: &'a [Word],
}

impl<'a> Interpreted<'a> {
    pub(super) fn read(known: &Interpreter, args: &'a [Word]) -> Self {
        let mut run = Self {
            options: Vec::new(),
            operand: None,
            operand_is: known.operand,
            is_isolated: false,
            rest: args,
        };
        // These programs also accept options after their operands.
        let permutes = matches!(known.language, Language::Sed | Language::Jq);
        let is_shell = known.language == Language::Shell;
        while let Some((word, after)) = run.rest.split_first() {
            if word.expands {
                run.options.push((&word.text, Given::Unknown));
                break;
            }
            run.rest = after;
            let ends_options = word.text == "--" || word.text == "-" && is_shell;
            if ends_options {
                run.add_operand(after.first(), known.operand);
                break;
            }
            if is_option(known, &word.text) {
                if !run.option(known, &word.text) {
                    break;
                }
            } else {
                run.add_operand(Some(word), known.operand);
                if !permutes {
                    break;
                }
            }
        }
        if run.operand_is == Operand::Code && !run.options.is_empty() {
            // The operands are input files.
            run.operand = None;
        }
        run
    }

    /// Records the first operand: it is what runs, unless an option has given that. If an option
    /// says that the operand is a script instead of code (jq's `-f`), a further script may follow.
    fn add_operand(&mut self, word: Option<&'a Word>, default: Operand) {
        let Some(word) = word else { return };
        if self.operand.is_none() && self.options.is_empty() {
            self.operand = Some(word);
        } else if self.operand_is != default {
            self.options.push((&word.text, Given::Script(word.clone())));
        }
    }

    /// Reads an option and the words after it that belong to it. Returns false if reading must stop.
    fn option(&mut self, known: &Interpreter, option: &'a str) -> bool {
        let is_python = known.language == Language::Python;
        self.is_isolated |= is_python && known.has_flag(option, 'I');
        let given = match known.option(option) {
            Meaning::Values(count) => return self.skip(option, count),
            Meaning::OperandIs(operand) => {
                self.operand_is = operand;
                return true;
            }
            Meaning::Unknown => None,
            Meaning::Script(value) => self.value(value).map(Given::Script),
            Meaning::Code(value) => self.value(value).map(Given::Code),
        };
        let is_known = given.is_some();
        self.options.push((option, given.unwrap_or(Given::Unknown)));
        // The arguments after Python's code belong to the code.
        is_known && !(is_python && option.contains('c'))
    }

    /// Skips values. An unquoted value may become several words, or none.
    fn skip(&mut self, option: &'a str, count: usize) -> bool {
        let (values, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        let is_one = values.iter().all(|word| word.quoted || !word.expands);
        if !is_one {
            self.options.push((option, Given::Unknown));
        }
        is_one
    }

    fn value(&mut self, attached: Option<&str>) -> Option<Word> {
        if let Some(value) = attached {
            return Some(Word::literal(value));
        }
        let (word, after) = self.rest.split_first()?;
        self.rest = after;
        Some(word.clone())
    }
}

fn is_option(known: &Interpreter, text: &str) -> bool {
    match known.language {
        Language::Shell => text.starts_with(['-', '+']),
        _ => text.starts_with('-') && text.len() > 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::interpreters::interpreter;
    use super::*;

    #[track_caller]
    fn case(command: &str, expected: &str) {
        let mut words = command.split(' ').map(|text| Word {
            expands: text.contains('$'),
            ..Word::literal(text)
        });
        let name = words.next().unwrap().text;
        let args: Vec<Word> = words.collect();
        let run = Interpreted::read(interpreter(&name).unwrap(), &args);
        let mut found: Vec<String> = Vec::new();
        for (option, given) in &run.options {
            found.push(match given {
                Given::Script(word) => format!("script {}", word.text),
                Given::Code(word) => format!("code {}", word.text),
                Given::Unknown => format!("unknown {option}"),
            });
        }
        if let Some(word) = run.operand {
            found.push(match run.operand_is {
                Operand::Script => format!("script {}", word.text),
                Operand::Code => format!("code {}", word.text),
            });
        }
        assert_eq!(found.join(", "), expected, "{command}");
    }

    #[test]
    fn scripts_and_code_are_found() {
        case("sh x.sh -c y", "script x.sh");
        case("bash -e guard", "script guard");
        case("bash -o pipefail -ec x y", "code x");
        case("sh -c -e x", "code x");
        case("sh -- x", "script x");
        case("sh - -x y", "script -x");
        case("bash -euo pipefail x", "script x");
        case("sh $o x", "unknown $o");
        case("sh", "");
        case("python3 -I -W error x.py", "script x.py");
        case("python3 -m tools", "unknown -m");
        case("python3 -c x -m y", "code x");
        case("awk -fx.awk y", "script x.awk");
        case("awk -v $x {print} y", "code {print}");
        case("awk {print} -f y", "code {print}");
        case("sed p x -f y", "script y");
        case("sed p $x", "unknown $x");
        case("jq -e .x", "code .x");
        case("jq --arg a b .x c", "code .x");
        case("jq -f -r x", "script x");
        case("jq . -f x", "script x, script .");
        case("node --check x", "unknown --check");
        case("php -f x y", "script x");
    }
}
