//! The words of a hook's command that may name files, and those that an interpreter may run.
//!
//! Options of programs are not known: a table of them would need a row for each program, and an option that is missing in it
//! would hide a file. Knows interpreters by their names alone, and looks at no files. A word too many is harmless. The rules
//! are in docs/approval.md. Files that a program runs by itself are not found.

use std::collections::{HashMap, HashSet};

use super::definition::Hook;
use super::interpreters::{
    BEFORE_COMMANDS, Kind, LONGEST_WORD, READ_BY_INTERPRETERS, SEPARATORS, STARTERS, completed,
    ends, has_text, is_in, is_input, is_option, kind_of, only_finds, runs_text, says_version,
};
use super::lexer::{Piece, Token, Word, lex};
use crate::entry::HookCommand;

/// The most bytes that are split, with those of texts within texts, and the most words. All are looked up before each
/// run: 4,000 words take a few milliseconds.
const MOST_BYTES: usize = 256 * 1024;
const MOST_WORDS: usize = 4000;
/// The most texts within texts that are read: `sh -c "bash -c '...'"`.
const DEEPEST: usize = 6;
/// The most words after interpreters. Each is looked up in several forms.
const MOST_RUN_WORDS: usize = 200;

/// Returns the value of a variable that is known before the hook runs.
pub(crate) type Value<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The words of a command, `args` and the values of `env`.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The words that may name a file, without repetitions, in their order.
    pub(crate) names: Vec<String>,
    /// The files that are written: they run only as scripts.
    pub(crate) written: Vec<String>,
    pub(crate) runs: Vec<Run>,
    /// True if there is more than a limit allows.
    pub(crate) is_cut: bool,
    /// True if a part of a word is known only when the command runs.
    pub(crate) has_unknown: bool,
    /// True if the command may build names when it runs.
    pub(crate) builds_names: bool,
}

/// The files that one interpreter may run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) words: Vec<RunWord>,
    /// True if the interpreter runs its input when none of its words is a file.
    pub(crate) may_read_program: bool,
}

/// A word after an interpreter.
#[derive(Debug, PartialEq)]
pub(crate) struct RunWord {
    /// The names of the files that may run for this word.
    pub(crate) names: Vec<String>,
    /// True if the word is in an option or directly after one: the next file may run too.
    pub(crate) is_of_option: bool,
    /// True if the word may be a program's text or a module, if it is not a file. The words after it are data then.
    pub(crate) may_be_text: bool,
    /// True if any file may run: the word stands for the interpreter's input, or is known only when the command runs.
    pub(crate) may_be_any: bool,
}

impl Words {
    /// Reads the words of a hook. `value` returns the known values of variables, which are inserted.
    pub(crate) fn of(hook: &Hook, value: &Value<'_>) -> Self {
        let mut reader = Reader {
            words: Self::default(),
            value,
            values: HashMap::new(),
            hook,
            seen: HashSet::new(),
            bytes_left: MOST_BYTES,
            run_words_left: MOST_RUN_WORDS,
        };
        match hook.command() {
            HookCommand::Answer(_) => {}
            HookCommand::Shell { text, .. } => reader.read_text(text, DEEPEST, Text::Code),
            HookCommand::Program(args) => {
                let words: Vec<Word<'_>> = args.iter().map(|arg| Word::plain(arg)).collect();
                let words: Vec<&Word<'_>> = words.iter().collect();
                reader.read_command(&words, DEEPEST, Text::Code);
            }
        }
        for (name, value) in hook.env() {
            reader.read_variable(name, value);
            reader.read_word(&Word::plain(value), DEEPEST, Text::Code);
        }
        reader.words
    }
}

/// The kind of a text in which an interpreter has a name.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    Code,
    /// A text in quotes, a comment or a document: a message, or of another language.
    Prose,
}

struct Reader<'a> {
    words: Words,
    value: &'a Value<'a>,
    /// The variables that were looked up, and whether the command may set them.
    values: HashMap<String, (Option<String>, bool)>,
    hook: &'a Hook,
    seen: HashSet<String>,
    bytes_left: usize,
    run_words_left: usize,
}

impl Reader<'_> {
    fn read_text(&mut self, text: &str, levels_left: usize, kind: Text) {
        self.words.is_cut |= levels_left == 0 || text.len() > self.bytes_left;
        if levels_left == 0 {
            return;
        }
        let text = beginning_of(text, self.bytes_left);
        self.bytes_left -= text.len();
        let lexed = lex(text);
        for command in &lexed.commands {
            for part in command.split(|token| matches!(token, Token::Operator)) {
                self.read_part(part, levels_left, kind);
            }
        }
        for text in lexed.texts {
            self.read_text(text, levels_left - 1, Text::Prose);
        }
        if cfg!(windows) && text.contains('\\') {
            self.read_text(&text.replace('\\', "/"), levels_left - 1, kind);
        }
    }

    /// Reads the words between two operators.
    fn read_part(&mut self, tokens: &[Token<'_>], levels_left: usize, kind: Text) {
        let mut words = Vec::new();
        for token in tokens {
            match token {
                Token::Word(word) => words.push(word),
                Token::Read(word) => self.read_word(word, levels_left, Text::Code),
                Token::Write(word) => {
                    let written = self.names_of(word);
                    self.words.written.extend(written);
                }
                Token::Operator => {}
            }
        }
        self.read_command(&words, levels_left, kind);
    }

    fn read_command(&mut self, words: &[&Word<'_>], levels_left: usize, kind: Text) {
        let texts: Vec<String> = words.iter().map(|word| text_of(word)).collect();
        let mut before = "";
        for (word, text) in words.iter().zip(&texts) {
            let is_code = kind == Text::Code && runs_text(before);
            self.read_word(
                word,
                levels_left,
                if is_code { Text::Code } else { Text::Prose },
            );
            if let Some((name, value)) = text.split_once('=') {
                self.read_variable(name, value);
            }
            before = text;
        }
        self.find_interpreters(words, &texts, kind);
    }

    /// Adds the names in a word. If it may be a command of its own, reads that too, as of this kind.
    fn read_word(&mut self, word: &Word<'_>, levels_left: usize, kind: Text) {
        let text = text_of(word);
        self.words.builds_names |= ["alias", "eval", "xargs", "parallel"].contains(&&*text);
        for name in self.names_of(word) {
            self.words.builds_names |= name.starts_with('~') || name.contains(['*', '?', '[', '{']);
            self.push(&name);
            for end in ends(&name) {
                self.push(end);
            }
            // `x=./a.sh,./b.sh:./c.sh`, `{sh,guard}`, `["bash","guard"]`
            for piece in name.split(|c: char| SEPARATORS.contains(&c) || c.is_whitespace()) {
                self.push(piece);
            }
        }
        let is_text =
            |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.contains(is_of_shell));
        // Without quotes, the text would be the same word again.
        if text != word.source && word.pieces.iter().any(is_text) {
            self.read_text(&text, levels_left - 1, kind);
            if let Some(value) = behind_name(&text) {
                self.read_text(value, levels_left - 1, kind);
            }
        }
    }

    fn push(&mut self, name: &str) {
        if name.is_empty() || name.len() > LONGEST_WORD || name.contains('\0') {
            return;
        }
        if self.seen.contains(name) {
            return;
        }
        if self.words.names.len() == MOST_WORDS {
            self.words.is_cut = true;
            return;
        }
        self.seen.insert(name.to_owned());
        self.words.names.push(name.to_owned());
    }

    /// Returns the value of a variable, if it is known, and whether the command may set it.
    fn value_of(&mut self, name: &str) -> (Option<String>, bool) {
        if let Some(known) = self.values.get(name) {
            return known.clone();
        }
        let value = (self.value)(name);
        let is_set = value.is_some() && self.is_set(name);
        self.values.insert(name.to_owned(), (value.clone(), is_set));
        (value, is_set)
    }

    /// Returns whether the command may set a variable: it contains its name, and not after `$`.
    fn is_set(&self, name: &str) -> bool {
        let texts = self.hook.command().texts();
        let is_set = |text: &String| {
            let mut names = text.match_indices(name);
            names.any(|(at, _)| !text[..at].ends_with(['$', '{']))
        };
        texts.iter().any(is_set)
    }

    /// Returns a word. If parts of it are not known, returns the texts around these. If parts may have another value,
    /// returns both.
    fn names_of(&mut self, word: &Word<'_>) -> Vec<String> {
        let (mut names, is_set) = self.known_of(word, true);
        if is_set {
            names.extend(self.known_of(word, false).0);
        }
        let has_unknown = names.len() > 1;
        self.words.has_unknown |= has_unknown;
        self.words.builds_names |= has_unknown;
        names
    }

    /// Returns the names in a word, and whether the command may set a variable in it. The value of such a variable is
    /// inserted only if `puts_in` is true.
    fn known_of(&mut self, word: &Word<'_>, puts_in: bool) -> (Vec<String>, bool) {
        let mut names = Vec::new();
        let mut name = String::new();
        let mut may_be_set = false;
        for piece in &word.pieces {
            let value = match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Variable(name) => {
                    let (value, is_set) = self.value_of(name);
                    may_be_set |= is_set;
                    value.filter(|_| puts_in || !is_set)
                }
                Piece::Output => None,
            };
            match value {
                // `$(git rev-parse --show-toplevel)/guard.sh`
                Some(text) if name.is_empty() && !names.is_empty() => {
                    name.push_str(text.trim_start_matches('/'));
                }
                Some(text) => name.push_str(&text),
                None => names.push(std::mem::take(&mut name)),
            }
        }
        names.push(name);
        (names, may_be_set)
    }

    /// Adds the files that the value of a variable makes an interpreter run.
    fn read_variable(&mut self, name: &str, value: &str) {
        if !is_in(READ_BY_INTERPRETERS, name) {
            return;
        }
        let mut run = Run::default();
        for token in lex(value).commands.into_iter().flatten() {
            if let Token::Word(word) = token {
                if run.words.len() >= self.run_words_left {
                    self.words.is_cut = true;
                    break;
                }
                let mut run_word = self.run_word(&word, Some(""), Kind::File);
                for name in self.names_of(&word) {
                    // `LD_PRELOAD=./a:./b`
                    run_word.names.extend(name.split(':').map(str::to_owned));
                }
                run.words.push(run_word);
            }
        }
        self.push_run(run);
    }

    /// Adds the files that the interpreters among the words of a command may run. An interpreter that is not the command
    /// itself, and one in prose, runs no more than the files after it.
    fn find_interpreters(&mut self, words: &[&Word<'_>], texts: &[String], kind: Text) {
        if only_finds(texts) {
            return;
        }
        let mut name_at = None;
        let mut place = Place::default();
        for (at, text) in texts.iter().enumerate() {
            let is_unknown = is_unknown(words[at]);
            let of_unknown = (place.is_first() && is_unknown).then_some(Kind::File);
            // The second `sh` of `sh -c '..' sh x` is the name of the program, and the `.` of `find . -name x` a directory.
            let is_command = name_at != Some(at) && (place.is_first() || text != ".");
            if let Some(kind_of_run) = kind_of(text).or(of_unknown).filter(|_| is_command) {
                if self.run_words_left == 0 {
                    self.words.is_cut = true;
                    return;
                }
                let behind = &texts[at + 1..];
                let mut run = self.run_of(kind_of_run, &words[at + 1..], behind);
                let may_start = place.may_start(text) && !is_unknown && !says_version(behind);
                run.may_read_program &= kind == Text::Code && may_start;
                if kind == Text::Prose {
                    only_named(&mut run);
                }
                let is_shell = kind_of_run == Kind::Shell && !text.contains('=');
                let name = name_behind(&run).filter(|_| is_shell);
                name_at = name.map(|name| at + 1 + name);
                self.push_run(run);
            }
            place.pass(text, is_unknown);
        }
    }

    /// Returns the files that an interpreter may run of the words after it.
    fn run_of(&mut self, kind: Kind, words: &[&Word<'_>], texts: &[String]) -> Run {
        let mut run = Run {
            may_read_program: kind != Kind::Options,
            ..Run::default()
        };
        let mut option = (kind == Kind::Command).then_some("");
        for (word, text) in words.iter().zip(texts) {
            if run.words.len() >= self.run_words_left {
                self.words.is_cut = true;
                break;
            }
            let is_option = is_option(text);
            if kind == Kind::Options && !is_option && option.is_none() {
                continue;
            }
            let before = option.take();
            let takes_next = is_option && !text.contains('=') && text != "--";
            option = takes_next.then_some(&**text);
            let mut run_word = self.run_word(word, before, kind);
            run_word.may_be_any |= is_input(text) || ends(text).any(is_input);
            if kind != Kind::Options {
                let is_flags = is_option && !text.starts_with("--");
                run_word.may_be_any |= kind == Kind::Shell && is_flags && text.contains('s');
                run_word.may_be_text = !is_option && before.is_some_and(has_text);
            }
            run.words.push(run_word);
        }
        run
    }

    /// Reads a word after an interpreter. `option` is directly before it.
    fn run_word(&mut self, word: &Word<'_>, option: Option<&str>, kind: Kind) -> RunWord {
        let mut names = Vec::new();
        let parts = self.names_of(word);
        let is_option = parts.first().is_some_and(|part| is_option(part));
        for part in &parts {
            if !is_option {
                let is_module = option.is_some_and(|option| option.ends_with('m'));
                match kind {
                    Kind::Options => names.push(part.clone()),
                    // For a shell, `.` is a directory. For other interpreters, it is one with `index.js`.
                    Kind::Shell if part == "." => {}
                    _ => names.extend(completed(part, is_module)),
                }
            }
            if part.contains('{') {
                names.extend(part.split(SEPARATORS).map(str::to_owned));
            }
            for end in ends(part) {
                // `-r./pre`, `-Bmx`, `--require=./pre`
                let before = &part[..part.len() - end.len()];
                // `-MName=import`
                if let Some((name, _)) = end.split_once('=') {
                    names.extend(completed(name, true));
                }
                if kind != Kind::Options && (before.len() == 2 || before.ends_with(['m', 'M', '=']))
                {
                    names.extend(completed(end, true))
                } else {
                    names.push(end.to_owned())
                }
            }
        }
        RunWord {
            names,
            is_of_option: is_option || option.is_some(),
            may_be_text: false,
            may_be_any: !is_option && parts.len() > 1,
        }
    }

    fn push_run(&mut self, run: Run) {
        let runs_something = run.may_read_program || !run.words.is_empty();
        if runs_something && !self.words.runs.contains(&run) {
            self.run_words_left = self.run_words_left.saturating_sub(run.words.len());
            self.words.runs.push(run);
        }
    }
}

/// The words before a word in its command.
#[derive(Default)]
struct Place {
    has_program: bool,
    has_starter: bool,
}

impl Place {
    /// Returns whether the word is the command itself.
    fn is_first(&self) -> bool {
        !self.has_program
    }

    /// Returns whether a program of this name is started: as the command, by another one, or by an option (`--filter=sh`).
    fn may_start(&self, text: &str) -> bool {
        self.is_first() || self.has_starter || text.starts_with('-')
    }

    fn pass(&mut self, text: &str, is_unknown: bool) {
        // `{descriptor}>x . ./guard`
        let is_descriptor = text.starts_with('{') && text.ends_with('}');
        let is_before = is_descriptor || text.contains('=') || text.starts_with('-');
        self.has_starter |= is_in(STARTERS, text);
        self.has_program |= !is_unknown && !is_before && !is_in(BEFORE_COMMANDS, text);
        // `function f { . ./x; }`
        self.has_program &= text != "{";
    }
}

/// Returns whether no part of a word is known before the command runs.
fn is_unknown(word: &Word<'_>) -> bool {
    let mut pieces = word.pieces.iter();
    pieces.all(|piece| !matches!(piece, Piece::Text(_)))
}

/// Keeps only the files that a run in prose names: no patterns, as of `. * 2`, and no other files.
fn only_named(run: &mut Run) {
    for word in &mut run.words {
        word.may_be_any = false;
        word.names.retain(|name| !is_glob(name));
    }
}

/// Returns the index of the name of a shell's program, as in `sh -c '..' sh x`: after the text, if only options are before
/// it.
fn name_behind(run: &Run) -> Option<usize> {
    let text = run.words.iter().position(|word| word.may_be_text)?;
    let is_option = |word: &RunWord| word.is_of_option;
    // The text itself may use the name: `"$0" x`.
    let mut forms = ["$0", "${0", "@:0", "ARGV0", "argv"].iter();
    let names = &run.words[text].names;
    let takes_name = forms.any(|form| names.iter().any(|name| name.contains(form)));
    (run.words[..text].iter().all(is_option) && !takes_name).then_some(text + 1)
}

/// Returns whether a name is a pattern for several.
pub(crate) fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '[']) && !name.contains(is_of_shell) && !name.starts_with('/')
}

/// Returns the form of a word in a text: the parts that a shell inserts are variables.
fn text_of(word: &Word<'_>) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Variable(name) => text.extend(["${", name, "}"]),
            Piece::Output => text.push_str("$()"),
        }
    }
    text
}

/// Returns whether a character has a meaning for a shell, so that a text with it may be a command.
fn is_of_shell(c: char) -> bool {
    c.is_whitespace() || "'\"\\`$;&|()<>".contains(c)
}

/// Returns the text after an option or a name: `--split-string=sh x`, `alias.x=!sh x`.
fn behind_name(word: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(is_of_name);
    is_name.then(|| value.trim_start_matches('!'))
}

/// Returns at most `most` bytes.
fn beginning_of(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::thorough::all_cases;

    fn value(name: &str) -> Option<String> {
        match name {
            "ROOT" => Some("/a b".to_owned()),
            "HOME" => Some("/home/x".to_owned()),
            "PWD" => Some(".".to_owned()),
            _ => None,
        }
    }

    fn words(command: &str) -> Words {
        Words::of(&Hook::new("*", command).unwrap(), &value)
    }

    #[test]
    fn every_name_is_among_the_words() {
        for (text, expected) in [
            ("./guard.sh --strict", "./guard.sh"),
            ("test -f x&&./g.sh;exit", "./g.sh"),
            ("cd sub && ./x.sh", "sub"),
            ("(./a.sh|./b.sh)>log", "./b.sh"),
            ("./gua''rd.sh", "./guard.sh"),
            ("./gu\\ard.sh", "./guard.sh"),
            ("./gu\\\nard.sh", "./guard.sh"),
            ("./a\\ b.sh", "./a b.sh"),
            ("\"./my guard.sh\" x", "./my guard.sh"),
            ("./\"my guard\".sh", "./my guard.sh"),
            ("sh -c '\"./my guard.sh\"'", "./my guard.sh"),
            ("sh -c 'exec ./a.sh --x'", "./a.sh"),
            ("sh -c \"sh -c \\\"./a.sh\\\"\"", "./a.sh"),
            ("sh -c './gu\"ar\"d.sh'", "./guard.sh"),
            ("\"$ROOT\"/guard.py", "/a b/guard.py"),
            ("sh -c '\"$ROOT\"/guard.py'", "/a b/guard.py"),
            ("${ROOT:-.}/x.sh", "/a b/x.sh"),
            ("${ROOTS}/x.sh", "x.sh"),
            ("~/x.sh", "/home/x/x.sh"),
            ("x=~/x.sh", "/home/x/x.sh"),
            ("~+/x.sh", "./x.sh"),
            ("$(git rev-parse --show-toplevel)/x.sh", "x.sh"),
            ("lib/$(cat x)/y.sh", "lib/"),
            ("${OTHER:-$(cat a.sh)}/x.sh", "a.sh"),
            ("x=./a.sh,./b.sh:./c.sh", "./b.sh"),
            ("./run=guard.sh", "./run=guard.sh"),
            ("echo `./a.sh`", "./a.sh"),
            ("./it\\'s.sh", "./it's.sh"),
            ("--require=./hook.js", "./hook.js"),
            ("env -Csub x", "sub"),
            ("a\n./b.sh\nc", "./b.sh"),
            ("'./a\nb.sh'", "./a\nb.sh"),
            ("sh './a\\b.sh'", "./a\\b.sh"),
            ("sh ./gu\u{a0}ard.sh", "./gu\u{a0}ard.sh"),
            ("# don't\nsh ./\"my guard\".sh", "./my guard.sh"),
            ("# sh ./a.sh", "./a.sh"),
            ("sh <<lib/x.sh\n\tlib/x.sh", "lib/x.sh"),
            (": ${x:-<<lib/x.sh}\nlib/x.sh", "lib/x.sh"),
            ("${HOME#$HOME}lib/x.sh", "lib/x.sh"),
            ("${HOME:+./lib}/x.sh", "./lib"),
            ("HOME=./lib; sh ~/x.sh", "x.sh"),
            ("HOME=./lib; sh ~/x.sh", "/home/x/x.sh"),
            ("echo 'a\\'; sh ./\"my guard\".sh", "./my guard.sh"),
            ("'--x=./a b.sh'", "./a b.sh"),
            ("--require=./a,b.js", "./a,b.js"),
            ("node -e 'require(\"./a.js\")'", "./a.js"),
            ("python3 -c \"run(['bash','guard'])\"", "guard"),
            ("cat <<E\nopen('./a.sh')\nE", "./a.sh"),
        ] {
            let names = words(text).names;
            assert!(
                names.iter().any(|name| name == expected),
                "{text}: {names:?}"
            );
        }
        let written = words("x > log >> other");
        assert_eq!(
            (written.written, written.names),
            (
                vec!["log".to_owned(), "other".to_owned()],
                vec!["x".to_owned()]
            )
        );
    }

    /// Returns the words of each run: after `-`, a word in or after an option; after `"`, a word that may be a text; `*`,
    /// any file.
    fn runs_in(command: &str) -> String {
        let display = |word: &RunWord| {
            let marks = [
                (word.is_of_option, "-"),
                (word.may_be_text, "\""),
                (word.may_be_any, "*"),
            ];
            let marks = marks
                .iter()
                .filter(|(is_so, _)| *is_so)
                .map(|(_, mark)| *mark);
            marks.collect::<String>() + word.names.first().map_or("", |name| name)
        };
        let runs = words(command).runs.into_iter().map(|run| {
            let mut all: Vec<_> = run.words.iter().map(display).collect();
            all.extend(run.may_read_program.then(|| "<".to_owned()));
            all.join(" ")
        });
        runs.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn words_behind_interpreters_are_found() {
        let mut wrong = String::new();
        for (command, expected) in [
            ("./guard.sh x", ""),
            ("sh guard x", "guard x <"),
            ("sh < guard > log", "<"),
            ("sh 2>/dev/null guard >>log 2>&1", "guard <"),
            ("sh a; sh b && sh c | sh", "a <; b <; c <; <"),
            ("(sh a)|sh 'b c'", "a <; b c <"),
            ("bash -euo pipefail guard", "-uo -pipefail guard <"),
            ("bash --norc guard x", "- -guard x <"),
            ("sh -- guard", "- guard <"),
            ("bash -c 'sh guard' x", "guard <; - -\"sh guard x <"),
            (
                "sh -c '\"$@\"' x sh guard",
                "- -\"\"$@\" x sh guard <; guard",
            ),
            ("find . -exec sh -c x sh log ;", "- -\"x sh log <"),
            ("sh \"$X\" y", "* y <"),
            ("sh -c \"$X\" y", "- -\"* y <"),
            ("cat x|bash -es -- guard", "-*s - guard <"),
            ("sh guard command -v", "guard command - <"),
            (
                "SHELL=/bin/sh ionice -c 3 sh guard",
                "ionice - -\"3 sh guard <; guard <",
            ),
            (
                "perl -e 'exec @ARGV' sh guard",
                "- -\"exec @ARGV sh guard <; guard",
            ),
            ("sh -c '\"$0\" guard' sh", "guard; - -\"\"$0\" guard sh <"),
            ("echo 'the python hook'; echo 'python x'", "hook; x"),
            ("sh /dev//stdin x", "*/dev//stdin x <"),
            ("{fd}>x . ./guard", "./guard <"),
            (
                "sh /dev/stdin; sh /dev/fd/3; sh - x",
                "*/dev/stdin <; */dev/fd/3 <; *- x <",
            ),
            ("find . -name x; git add .", ""),
            (". ./env && if . ./x; then :; fi", "./env <; ./x <"),
            ("2>/dev/null . ./x; command -p . ./y", "./x <; ./y <"),
            ("f() { . ./x; }; function g { . ./y; }", "./x <; ./y <"),
            ("command -v python3 && which sh", ""),
            ("env X=1 /usr/bin/python3.11 -I guard", "- -guard <"),
            ("env -S'sh guard'; env '--split-string=sh x'", "guard; x"),
            ("git -c alias.s='!sh guard' s", "guard <"),
            ("exec \"sh\",\"x\"; run(['bash','x'])", "<"),
            ("BASH_ENV=./pre bash -c true", "-./pre; - -\"true <"),
            ("python3 -Bm pkg.guard x", "-m -\"pkg.guard x <"),
            (
                "node -r ./pre --import=./b ./tool",
                "- -./pre -./b ./tool <",
            ),
            ("deno run -A guard", "-run - -guard <"),
            ("awk -f prog data", "- -prog"),
            ("awk '{print}' data; jq .[] x | y .", ""),
            ("make -frules -C sub all", "-rules - -sub"),
            ("cat x | make -f -", "- -*-"),
            ("eval \"$(cat x)\"", "* <"),
        ] {
            let runs = runs_in(command);
            if runs != expected {
                wrong += &format!("{command}: {runs}, not {expected}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn names_are_completed() {
        let names = completed("a.b.c", true);
        for name in ["a/__init__.py", "a/b/__init__.py", "a/b/c.py", "a.b.c"] {
            assert!(names.contains(&name.to_owned()), "{name}");
        }
        for (command, name) in [
            ("perl -MA::B -e 1", "A/B.pm"),
            ("perl -Ma=x -e 1", "a.pm"),
            ("python3 -Bmx.y", "x/y.py"),
            ("sh ~/x", "/home/x/x.sh"),
        ] {
            let words = words(command);
            let names = words
                .runs
                .iter()
                .flat_map(|run| &run.words)
                .flat_map(|word| &word.names);
            assert!(names.clone().any(|other| other == name), "{command}");
        }
    }

    #[test]
    fn what_is_built_is_known() {
        for (command, has_unknown, builds_names) in [
            ("sh \"$ROOT/x.sh\" | cat", false, false),
            ("sh $X", true, true),
            ("sh $(x)", true, true),
            ("sh *.sh", false, true),
            ("echo x | xargs sh", false, true),
            ("~user/x", false, true),
            ("~/x", false, false),
        ] {
            let words = words(command);
            assert_eq!(
                (words.has_unknown, words.builds_names),
                (has_unknown, builds_names),
                "{command}"
            );
        }
    }

    #[test]
    fn what_is_not_read_is_said() {
        assert!(!words("sh guard").is_cut);
        assert!(!words("grep -E '\\.js$' x && grep \"a$\" y").is_cut);
        assert!(words(&format!("sh {}", "x ".repeat(MOST_RUN_WORDS + 1))).is_cut);
        let mut deep = "sh guard".to_owned();
        for _ in 0..DEEPEST + 2 {
            deep = format!("sh -c {}", serde_json::to_string(&deep).unwrap());
        }
        assert!(words(&deep).is_cut);
        let many: String = (0..10_000).map(|n| format!("{n} ")).collect();
        let many = words(&many);
        assert!(many.is_cut && many.names.len() == MOST_WORDS);
        let long = words(&format!("sh ./x.sh # {}", "x".repeat(MOST_BYTES)));
        assert!(long.is_cut && long.names.contains(&"./x.sh".to_owned()));
    }

    /// Reading these texts takes no time or memory that grows with the square of the length.
    #[test]
    fn long_texts_are_read_soon() {
        for word in [
            "sh ",
            "awk -",
            "a|sh - - - ",
            "$(",
            "\"$(",
            "=x",
            "${a:-",
            "<<x\n",
            "'\"",
            "`",
            "\\",
        ] {
            let count = if all_cases() { 20_000 } else { 5_000 };
            let _ = words(&format!("x {}", word.repeat(count)));
        }
        let modules = words(&format!(
            "python3 -m {}; python3 -m{}",
            "a.".repeat(60_000),
            "a.".repeat(2_000)
        ));
        let names = modules.runs.iter().flat_map(|run| &run.words);
        assert!(names.map(|word| word.names.len()).sum::<usize>() < 200);
    }

    proptest! {
        /// Any quoting of a name that a shell undoes.
        #[test]
        fn a_quoted_name_is_found(
            name in "[a-z./ ]{1,12}",
            quotes in proptest::collection::vec(0..4, 12),
        ) {
            let quoted: String = name.chars().zip(quotes).map(|(c, quote)| match (quote, c) {
                (0, ' ') | (1, _) => format!("\\{c}"),
                (2, _) => format!("'{c}'"),
                (3, _) => format!("\"{c}\""),
                (_, ' ') => "' '".to_owned(),
                _ => c.to_string(),
            }).collect();
            let words = words(&format!("true && sh {quoted}; true"));
            prop_assert!(words.names.contains(&name), "{quoted}: {:?}", words.names);
            let mut behind = words.runs.iter().flat_map(|run| &run.words);
            // A shell does not run a directory.
            prop_assert!(name == "." || behind.any(|word| word.names.contains(&name)));
        }
    }
}
