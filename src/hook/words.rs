//! The words of a hook's command that may name files, and those that an interpreter may run.
//!
//! Knows interpreters by their names alone, and looks at no files. A word too many is harmless. The rules are in
//! docs/approval.md; what a program runs by itself is not found.

use std::collections::{HashMap, HashSet};

use super::definition::Hook;
use super::lexer::{Piece, Token, Word, lex};
use crate::entry::HookCommand;

/// The most bytes that are split, with those of texts within texts, and the most words. All are looked up before each
/// run: 4,000 words take a few milliseconds.
const MOST_BYTES: usize = 256 * 1024;
const MOST_WORDS: usize = 4000;
/// Linux allows no longer path (PATH_MAX).
const LONGEST_WORD: usize = 4096;
/// The most texts within texts that are read: `sh -c "bash -c '...'"`.
const DEEPEST: usize = 6;
/// The most words behind interpreters. Each is looked up in several forms.
const MOST_RUN_WORDS: usize = 200;
/// The most ends of one word.
const MOST_ENDS: usize = 8;

/// Programs that run a file, or the text that they read.
const INTERPRETERS: &str = "\
    sh bash dash zsh ksh ash fish csh tcsh rbash mksh yash posh osh nu elvish xonsh pwsh \
    powershell . source eval python pypy py node nodejs ruby perl php lua luajit tclsh wish \
    expect";

/// Interpreters whose first word may be a command of their own, as in `deno run guard`.
const HAVE_COMMANDS: &str = "bun deno";

/// Programs that run files which stand in or behind an option, as in `make -f rules`; other files are their input.
const RUN_OPTIONS: &str = "awk gawk mawk nawk jq make gmake sed gsed";

/// Variables by which an interpreter finds what it runs first: names of files, or options.
const READ_BY_INTERPRETERS: &str = "\
    BASH_ENV ENV LD_PRELOAD MAKEFILES NODE_OPTIONS PERL5LIB PERL5OPT PYTHONPATH \
    PYTHONSTARTUP RUBYOPT";

/// Words before a command that are none of its own.
const BEFORE_COMMANDS: &str =
    "if then else elif do while until ! { time exec command builtin coproc";

/// Returns the value of a variable that is known before the hook runs.
pub(crate) type Value<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The words of a command, `args` and the values of `env`.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// What may name a file, without repetitions, in their order.
    pub(crate) names: Vec<String>,
    /// The files that are written: they run only as scripts.
    pub(crate) written: Vec<String>,
    pub(crate) runs: Vec<Run>,
    /// There is more than a limit allows.
    pub(crate) is_cut: bool,
    /// A part of a word is known only when the command runs.
    pub(crate) has_unknown: bool,
    /// The command may build names when it runs.
    pub(crate) builds_names: bool,
}

/// What one interpreter may run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) words: Vec<RunWord>,
    /// It runs what it reads if none of its words is a file.
    pub(crate) may_read_program: bool,
}

/// A word behind an interpreter.
#[derive(Debug, PartialEq)]
pub(crate) struct RunWord {
    /// The names of the files that may run for this word.
    pub(crate) names: Vec<String>,
    /// It stands in an option or directly behind one: the next file may run too.
    pub(crate) is_of_option: bool,
    /// If it is no file, it is a program's text or a module: what follows is data.
    pub(crate) may_be_text: bool,
    /// Any file may run: it means what the interpreter reads, or is known only when the command runs.
    pub(crate) may_be_any: bool,
}

impl Words {
    /// Reads the words of a hook. `value` knows the variables whose values are put in.
    pub(crate) fn of(hook: &Hook, value: &Value<'_>) -> Self {
        let mut reader = Reader {
            words: Self::default(),
            value,
            values: HashMap::new(),
            seen: HashSet::new(),
            bytes_left: MOST_BYTES,
            run_words_left: MOST_RUN_WORDS,
        };
        match hook.command() {
            HookCommand::Answer(_) => {}
            HookCommand::Shell { text, .. } => reader.read_text(text, DEEPEST),
            HookCommand::Program(args) => {
                let words: Vec<Word<'_>> = args.iter().map(|arg| Word::plain(arg)).collect();
                let words: Vec<&Word<'_>> = words.iter().collect();
                reader.read_command(&words, DEEPEST);
            }
        }
        for (name, value) in hook.env() {
            reader.read_variable(name, value);
            reader.read_word(&Word::plain(value), DEEPEST);
        }
        reader.words
    }
}

struct Reader<'a> {
    words: Words,
    value: &'a Value<'a>,
    values: HashMap<String, Option<String>>,
    seen: HashSet<String>,
    bytes_left: usize,
    run_words_left: usize,
}

impl Reader<'_> {
    fn read_text(&mut self, text: &str, levels_left: usize) {
        self.words.is_cut |= levels_left == 0 || text.len() > self.bytes_left;
        if levels_left == 0 {
            return;
        }
        let text = beginning_of(text, self.bytes_left);
        self.bytes_left -= text.len();
        let lexed = lex(text);
        for command in &lexed.commands {
            for part in command.split(|token| matches!(token, Token::Operator(_))) {
                self.read_part(part, levels_left);
            }
        }
        for text in lexed.texts {
            self.read_text(text, levels_left - 1);
        }
        if cfg!(windows) && text.contains('\\') {
            self.read_text(&text.replace('\\', "/"), levels_left - 1);
        }
    }

    fn read_part(&mut self, tokens: &[Token<'_>], levels_left: usize) {
        let mut words = Vec::new();
        for token in tokens {
            match token {
                Token::Word(word) => words.push(word),
                Token::Read(word) => self.read_word(word, levels_left),
                Token::Write(word) => {
                    let written = self.names_of(word);
                    self.words.written.extend(written);
                }
                Token::Operator(_) => {}
            }
        }
        self.read_command(&words, levels_left);
    }

    fn read_command(&mut self, words: &[&Word<'_>], levels_left: usize) {
        for word in words {
            self.read_word(word, levels_left);
            if let Some((name, value)) = text_of(word).split_once('=') {
                self.read_variable(name, value);
            }
        }
        self.find_interpreters(words);
    }

    /// Adds the names in a word. If it may be a command of its own, reads that too.
    fn read_word(&mut self, word: &Word<'_>, levels_left: usize) {
        let text = text_of(word);
        self.words.builds_names |= ["alias", "eval", "xargs", "parallel"].contains(&&*text);
        for name in self.names_of(word) {
            let is_of_other = name.starts_with('~') && self.at_home(&name) == name;
            self.words.builds_names |= is_of_other || name.contains(['*', '?', '[', '{']);
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
        if word.pieces.iter().any(is_text) {
            self.read_text(without_name(&text), levels_left - 1);
        }
    }

    fn push(&mut self, name: &str) {
        if name.is_empty() || name.len() > LONGEST_WORD || name.contains('\0') {
            return;
        }
        let name = self.at_home(name);
        if self.seen.contains(&name) {
            return;
        }
        if self.words.names.len() == MOST_WORDS {
            self.words.is_cut = true;
            return;
        }
        self.seen.insert(name.clone());
        self.words.names.push(name);
    }

    /// Puts the directory in for `~/` and `~+/`. In quotes a shell leaves them alone, and one file more is looked up.
    fn at_home(&mut self, name: &str) -> String {
        for (tilde, variable) in [("~/", "HOME"), ("~+/", "PWD")] {
            if let Some(rest) = name.strip_prefix(tilde)
                && let Some(value) = self.value_of(variable)
            {
                return format!("{value}/{rest}");
            }
        }
        name.to_owned()
    }

    fn value_of(&mut self, name: &str) -> Option<String> {
        if let Some(known) = self.values.get(name) {
            return known.clone();
        }
        let value = (self.value)(name);
        self.values.insert(name.to_owned(), value.clone());
        value
    }

    /// Returns a word; or where parts of it are not known, what stands around these.
    fn names_of(&mut self, word: &Word<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let mut name = String::new();
        for piece in &word.pieces {
            let known = match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Variable(name) => self.value_of(name),
                Piece::Output => None,
            };
            match known {
                // `$(git rev-parse --show-toplevel)/guard.sh`
                Some(text) if name.is_empty() && !names.is_empty() => {
                    name.push_str(text.trim_start_matches('/'));
                }
                Some(text) => name.push_str(&text),
                None => names.push(std::mem::take(&mut name)),
            }
        }
        let has_unknown = !names.is_empty();
        self.words.has_unknown |= has_unknown;
        self.words.builds_names |= has_unknown;
        names.push(name);
        names
    }

    /// Adds what the value of a variable makes an interpreter run.
    fn read_variable(&mut self, name: &str, value: &str) {
        if !is_in(READ_BY_INTERPRETERS, name) {
            return;
        }
        let mut run = Run::default();
        for command in lex(value).commands {
            for token in command {
                if let Token::Word(word) = token {
                    run.words.push(self.run_word(&word, Some("")));
                }
            }
        }
        self.push_run(run);
    }

    fn find_interpreters(&mut self, words: &[&Word<'_>]) {
        let texts: Vec<String> = words.iter().map(|word| text_of(word)).collect();
        if only_finds(&texts) {
            return;
        }
        let mut name_at = None;
        let mut is_first = true;
        for (at, text) in texts.iter().enumerate() {
            // In `sh -c '..' sh x` it is the name of the program, in `find . -name x` a directory.
            let is_command = name_at != Some(at) && (is_first || text != ".");
            if let Some(kind) = kind_of(text).filter(|_| is_command) {
                if self.run_words_left == 0 {
                    self.words.is_cut = true;
                    return;
                }
                let (run, text_at) = self.run_of(kind, &words[at + 1..], &texts[at + 1..]);
                name_at = text_at.map(|text_at| at + 1 + text_at + 1);
                self.push_run(run);
            }
            let is_before = text.contains('=') || text.starts_with('-');
            is_first = is_in(BEFORE_COMMANDS, text) || is_first && is_before;
        }
    }

    /// Returns what an interpreter may run of the words behind it, and where a program's text stands among these.
    fn run_of(
        &mut self,
        kind: Kind,
        words: &[&Word<'_>],
        texts: &[String],
    ) -> (Run, Option<usize>) {
        let mut run = Run {
            may_read_program: kind != Kind::Options,
            ..Run::default()
        };
        let mut text_at = None;
        let mut option = (kind == Kind::Command).then_some("");
        for (at, (word, text)) in words.iter().zip(texts).enumerate() {
            if run.words.len() >= self.run_words_left {
                self.words.is_cut = true;
                break;
            }
            let is_option = is_option(text);
            if kind == Kind::Options && !is_option && option.is_none() {
                continue;
            }
            let before = option.take();
            option = Some(&**text).filter(|_| is_option && !text.contains('=') && text != "--");
            let mut found = self.run_word(word, before);
            found.may_be_any |= is_input(text) || ends(text).any(is_input);
            if kind != Kind::Options {
                found.may_be_any |= text == "-s";
                found.may_be_text = !is_option && before.is_some_and(has_text);
            }
            if found.may_be_text && text_at.is_none() {
                text_at = Some(at);
            }
            run.words.push(found);
        }
        (run, text_at)
    }

    /// Reads a word behind an interpreter. `option` stands directly before it.
    fn run_word(&mut self, word: &Word<'_>, option: Option<&str>) -> RunWord {
        let mut names = Vec::new();
        let parts = self.names_of(word);
        let is_option = is_option(word.source);
        for part in &parts {
            if !is_option {
                let is_module = option.is_some_and(|option| option.ends_with('m'));
                names.extend(completed(&self.at_home(part), is_module));
            }
            for end in ends(part) {
                // `-r./pre`, `-Bmx`, `--require=./pre`
                let before = &part[..part.len() - end.len()];
                let end = self.at_home(end);
                // `-MName=import`
                if let Some((name, _)) = end.split_once('=') {
                    names.extend(completed(name, true));
                }
                match before.len() == 2 || before.ends_with(['m', 'M', '=']) {
                    true => names.extend(completed(&end, true)),
                    false => names.push(end),
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
        if !self.words.runs.contains(&run) {
            self.run_words_left = self.run_words_left.saturating_sub(run.words.len());
            self.words.runs.push(run);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Command,
    Options,
}

/// Returns which files the program that a word names runs, by its path too, and with its version: `/usr/bin/python3.11`.
fn kind_of(word: &str) -> Option<Kind> {
    let mut names = word.split(SEPARATORS).chain(ends(word)).chain([word]);
    names.find_map(|part| {
        let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let kinds = [
            (INTERPRETERS, Kind::File),
            (HAVE_COMMANDS, Kind::Command),
            (RUN_OPTIONS, Kind::Options),
        ];
        // In `sub/.` it is a directory, in `.[]` a part of another language.
        let is_named =
            |list| is_in(list, stem) || is_in(list, name) && (name != "." || word == ".");
        let kind = kinds.into_iter().find(|(list, _)| is_named(list));
        kind.map(|(_, kind)| kind)
    })
}

fn is_in(list: &str, name: &str) -> bool {
    list.split(' ').any(|listed| listed == name)
}

/// Whether a word names a program that runs the first file behind it.
pub(crate) fn runs_file(word: &str) -> bool {
    matches!(kind_of(word), Some(Kind::File | Kind::Command))
}

/// Whether a command only looks for a program, as `command -v python3`.
fn only_finds(words: &[String]) -> bool {
    let is_search = |pair: &[String]| pair[0] == "command" && matches!(&*pair[1], "-v" | "-V");
    let first = words.first().map_or("", |word| word);
    matches!(first, "which" | "type") || words.windows(2).any(is_search)
}

/// Whether a word means what is read: standard input, or another descriptor.
fn is_input(word: &str) -> bool {
    let is_descriptor = |prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| !rest.contains('/'))
    };
    matches!(word, "-" | "/dev/stdin")
        || is_descriptor("/dev/fd/")
        || is_descriptor("/proc/self/fd/")
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Whether a name is a pattern for several.
pub(crate) fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '[']) && !name.contains(is_of_shell) && !name.starts_with('/')
}

/// Whether a program's text or the name of a module may stand behind an option, as in `sh -euc '..'`, `python3 -m x`.
fn has_text(option: &str) -> bool {
    !option.starts_with("--") && option.ends_with(['c', 'e', 'm'])
}

const SEPARATORS: [char; 8] = ['=', ',', ':', '!', '{', '}', '[', ']'];

/// Returns what may stand in a word behind an option or a name: `-Csub`, `-frules`, `--require=./pre`.
fn ends(word: &str) -> impl Iterator<Item = &str> {
    let is_option = word.starts_with('-') && !word.starts_with("--");
    let letters = word.char_indices().skip(2).map(|(at, _)| at);
    let letters = letters.take(if is_option { MOST_ENDS } else { 0 });
    let behind = word
        .match_indices(SEPARATORS)
        .map(|(at, separator)| at + separator.len());
    letters.chain(behind.take(MOST_ENDS)).map(|at| &word[at..])
}

/// Returns the names that an interpreter may try for a word, as a file, a directory or a module.
fn completed(text: &str, is_module: bool) -> Vec<String> {
    const ENDINGS: [&str; 13] = [
        ".sh", ".py", ".pyc", ".so", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".pm", ".pmc",
        ".lua",
    ];
    const WITHIN: [&str; 4] = ["/index.js", "/package.json", "/__main__.py", "/__init__.py"];
    let mut names = vec![text.to_owned()];
    let mut base = text.replace("::", "/");
    if is_module && !text.contains('/') {
        base = base.replace('.', "/");
        for (at, _) in base.match_indices('/') {
            let endings = ["py", "pyc", "so"].iter();
            names.extend(endings.map(|ending| format!("{}/__init__.{ending}", &base[..at])));
        }
    }
    names.extend(ENDINGS.iter().chain(&WITHIN).map(|end| base.clone() + end));
    names
}

/// The form of a word in a text: the parts that a shell puts in are variables.
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

/// Whether a character has a meaning for a shell, so that a text with it may be a command.
fn is_of_shell(c: char) -> bool {
    c.is_whitespace() || "'\"\\`$;&|()<>".contains(c)
}

/// Returns a word without the option or the name before a text: `--split-string=sh x`, `alias.x=!sh x`.
fn without_name(word: &str) -> &str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match word.split_once('=') {
        Some((name, value)) if name.chars().all(is_of_name) => value.trim_start_matches('!'),
        _ => word,
    }
}

/// Returns at most so many bytes.
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

    /// The words of each run: behind `-`, in or behind an option; behind `"`, what may be a text; `*`, any file.
    fn found(command: &str) -> String {
        let shown = |word: &RunWord| {
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
            let mut all: Vec<_> = run.words.iter().map(shown).collect();
            all.extend(run.may_read_program.then(|| "<".to_owned()));
            all.join(" ")
        });
        runs.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn words_behind_interpreters_are_found() {
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
                "- -\"\"$@\" x sh guard <; guard <",
            ),
            ("find . -exec sh -c x sh log ;", "- -\"x sh log <"),
            ("sh \"$X\" y", "* y <"),
            ("sh -c \"$X\" y", "- -\"* y <"),
            ("cat x|sh -s -- guard", "-* - guard <"),
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
            (
                "env -S'sh guard'; env '--split-string=sh x'",
                "guard <; x <",
            ),
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
            assert_eq!(found(command), expected, "{command}");
        }
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
            assert!(names.clone().any(|it| it == name), "{command}");
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
        assert!(words(&format!("sh {}", "x ".repeat(MOST_RUN_WORDS + 1))).is_cut);
        let mut deep = "sh guard".to_owned();
        for _ in 0..DEEPEST + 2 {
            deep = format!("sh -c {}", serde_json::to_string(&deep).unwrap());
        }
        assert!(words(&deep).is_cut);
        // Neither takes time or memory that grows with the square of the length.
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
            let _ = words(&format!("x {}", word.repeat(20_000)));
        }
        let many: String = (0..10_000).map(|n| format!("{n} ")).collect();
        let many = words(&many);
        assert!(many.is_cut && many.names.len() == MOST_WORDS);
        let long = words(&format!("sh ./x.sh # {}", "x".repeat(MOST_BYTES)));
        assert!(long.is_cut && long.names.contains(&"./x.sh".to_owned()));
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
            prop_assert!(behind.any(|word| word.names.contains(&name)));
        }
    }
}
