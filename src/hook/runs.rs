//! Which words of a command an interpreter runs: `sh guard`, `node -r ./pre ./tool`, `python3 -m pkg.guard`, `make -f rules`.
//!
//! Knows no shell and looks at no files. It may find too many words; what a program runs by itself it does not find.

use super::definition::Hook;
use super::interpreters::{Interpreter, Meaning, interpreter, is_input};
use super::shell_words::{Token, tokens};
use crate::entry::HookCommand;

/// A word that an interpreter may run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunWord {
    pub(crate) text: String,
    pub(crate) kind: RunKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RunKind {
    /// If it is a file, it is the one that runs.
    File,
    /// It counts, and another one may run: the value of an option, or what is read as a program.
    Value,
    /// The name of a module, with dots between its parts.
    Module,
    /// An option that is not known: the next file may be its value, and the one behind that runs.
    Unknown,
}

impl RunWord {
    fn new(text: impl Into<String>, kind: RunKind) -> Self {
        let text = text.into();
        Self { text, kind }
    }

    /// Returns the names of the files that an interpreter may run for this word, after `text` has its variables replaced.
    pub(crate) fn names(&self, text: &str) -> Vec<String> {
        const ENDINGS: [&str; 13] = [
            ".sh", ".py", ".pyc", ".so", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".pm", ".pmc",
            ".lua",
        ];
        const WITHIN: [&str; 4] = ["/index.js", "/package.json", "/__main__.py", "/__init__.py"];
        if text.is_empty() {
            return Vec::new();
        }
        let text = match self.kind {
            RunKind::Module => text.replace('.', "/"),
            _ => text.replace("::", "/"),
        };
        let completed = ENDINGS.iter().chain(&WITHIN);
        let mut names: Vec<String> = completed.map(|end| format!("{text}{end}")).collect();
        if self.kind == RunKind::Module {
            let packages = text.match_indices('/').map(|(at, _)| &text[..at]);
            names.extend(packages.flat_map(|package| {
                ["py", "pyc", "so"].map(|ending| format!("{package}/__init__.{ending}"))
            }));
        }
        if let (RunKind::Value, Some((name, _))) = (self.kind, text.split_once('=')) {
            // As in `perl -MName=import`.
            names.extend(self.names(name));
        }
        names.push(text);
        names
    }
}

/// The words of one interpreter. Those count up to the first file that may be the one that runs.
pub(crate) type Run = Vec<RunWord>;

/// The most texts within texts that are read: `sh -c "bash -c '...'"`.
const DEEPEST: usize = 4;
/// The most words of all runs. Each is looked up in several forms.
const MOST_WORDS: usize = 200;
/// The most words that are read behind one interpreter: each may be an interpreter again.
const MOST_BEHIND: usize = 1000;
/// The most bytes that are read, with those of texts within texts.
const MOST_BYTES: usize = 512 * 1024;

/// Variables by which an interpreter finds what it runs first: names of files, or options.
const READ_BY_INTERPRETERS: [&str; 10] = [
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "MAKEFILES",
    "NODE_OPTIONS",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
];

/// What the interpreters of a command run.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    pub(crate) list: Vec<Run>,
    /// There is more than a limit allows.
    pub(crate) is_cut: bool,
    words: usize,
    bytes: usize,
}

impl Runs {
    fn push(&mut self, mut run: Run) {
        let left = MOST_WORDS - self.words;
        self.is_cut |= run.len() > left;
        run.truncate(left);
        if !run.is_empty() && !self.list.contains(&run) {
            self.words += run.len();
            self.list.push(run);
        }
    }

    fn push_variable(&mut self, name: &str, value: &str) {
        if !READ_BY_INTERPRETERS.contains(&name) {
            return;
        }
        for word in value.split_whitespace() {
            for text in forms(word) {
                self.push(vec![RunWord::new(text, RunKind::Value)]);
            }
        }
    }
}

/// Returns what the interpreters of a hook's command run.
pub(crate) fn runs(hook: &Hook) -> Runs {
    let mut found = Runs::default();
    match hook.command() {
        HookCommand::Answer(_) => {}
        HookCommand::Shell { text, .. } => read_text(text, DEEPEST, &mut found),
        HookCommand::Program(words) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let part = Part { words, inputs: &[] };
            part.read(DEEPEST, &mut found);
        }
    }
    for (name, value) in hook.env() {
        found.push_variable(name, value);
    }
    found
}

fn read_text(text: &str, depth: usize, found: &mut Runs) {
    found.bytes += text.len();
    if found.bytes > MOST_BYTES {
        found.is_cut = true;
        return;
    }
    read_tokens(&tokens(text, false), depth, found);
    if text.contains('#') {
        read_tokens(&tokens(text, true), depth, found);
    }
}

fn read_tokens(all: &[Token], depth: usize, found: &mut Runs) {
    let read: Vec<&str> = all.iter().filter_map(Token::input).collect();
    let named: Vec<&str> = all.iter().filter_map(Token::name).collect();
    let mut is_piped = false;
    for part in all.split_inclusive(|token| matches!(token, Token::End { .. })) {
        let part_of = Part {
            words: part.iter().filter_map(Token::word).collect(),
            inputs: if is_piped { &named } else { &read },
        };
        part_of.read(depth, found);
        // It may be for what stands in a group behind it: `cat guard | (cd x; sh)`.
        is_piped |= part.last() == Some(&Token::End { is_pipe: true });
    }
}

/// Words before a command that are none of its own. The one behind `function` is a name.
const BEFORE_COMMANDS: [&str; 16] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "command",
    "builtin", "eval", "function", "coproc",
];

/// A part of a command.
struct Part<'a> {
    words: Vec<&'a str>,
    /// What may be its standard input: a file that the command reads, or behind a pipe anything that it names.
    inputs: &'a [&'a str],
}

impl Part<'_> {
    fn read(&self, depth: usize, found: &mut Runs) {
        let mut is_first = true;
        let mut before = "";
        let mut name_at = None;
        for (at, word) in self.words.iter().enumerate() {
            if found.is_cut {
                return;
            }
            // In `find . -name x` it is a directory, and in `sh -c '..' sh x` the name of the program.
            let is_command = (is_first || *word != ".") && name_at != Some(at);
            if let Some(interpreter) = interpreter_in(word).filter(|_| is_command) {
                let behind = self.words.get(at + 1..).unwrap_or_default();
                found.is_cut |= behind.len() > MOST_BEHIND;
                let behind = &behind[..behind.len().min(MOST_BEHIND)];
                let (run, program_at) = run_of(interpreter, behind, self.inputs);
                found.push(run);
                name_at = program_at.map(|program| at + 1 + program + 1);
            }
            if let Some((name, value)) = word.split_once('=') {
                found.push_variable(name, value);
            }
            is_first &= BEFORE_COMMANDS.contains(word)
                || word.contains('=')
                || word.starts_with('-')
                || before == "function";
            before = word;
            for text in forms(word).filter(|text| is_text(text)) {
                match depth.checked_sub(1) {
                    Some(depth) => read_text(text, depth, found),
                    None => found.is_cut = true,
                }
            }
        }
    }
}

/// A word, and what it may hold behind an option or a name: `-S'sh x'`, `--split-string='sh x'`, `g=sh`.
fn forms(word: &str) -> impl Iterator<Item = &str> {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    let glued = word.get(2..).filter(|_| is_short);
    let value = word.split_once('=').map(|(_, value)| value);
    [Some(word), glued, value].into_iter().flatten()
}

fn interpreter_in(word: &str) -> Option<&'static Interpreter> {
    let mut glued = forms(word).skip(1).filter(|name| *name != ".");
    interpreter(word).or_else(|| glued.find_map(interpreter))
}

/// Whether a word may be a command of its own.
fn is_text(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | '<'))
}

/// Returns what an interpreter runs of the words behind it and of its input, and where a program stands among the words.
fn run_of(interpreter: &Interpreter, behind: &[&str], inputs: &[&str]) -> (Run, Option<usize>) {
    let inputs = inputs.iter().take(MOST_WORDS + 1);
    let inputs = inputs.map(|it| RunWord::new(*it, RunKind::Value));
    let mut run = Run::new();
    let mut reads_input = interpreter.runs_first_file();
    let mut at = 0;
    while let Some(word) = behind.get(at) {
        at += 1;
        let next = behind.get(at).copied();
        let (text, kind) = match interpreter.meaning(word) {
            Meaning::Program => return (run, Some(at)),
            Meaning::Flag => continue,
            Meaning::Input => {
                // Once: it may stand there many times.
                if std::mem::take(&mut reads_input) {
                    run.extend(inputs.clone());
                }
                continue;
            }
            Meaning::File => {
                reads_input = false;
                (Some(*word), RunKind::File)
            }
            Meaning::Unknown => (Some(*word), RunKind::Unknown),
            Meaning::Value(value) => {
                at += usize::from(value.is_none());
                (value.or(next), RunKind::Value)
            }
            Meaning::Module(name) => (name.or(next), RunKind::Module),
        };
        let text = text.unwrap_or_default();
        // As in `make -f -`.
        reads_input |= kind == RunKind::Value && is_input(text);
        run.push(RunWord::new(text, kind));
        if kind == RunKind::Module {
            return (run, None);
        }
    }
    if reads_input {
        run.extend(inputs);
    }
    (run, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words of each run: `-x` behind a value, `:x` a module, `?x` an option that is not known.
    fn found(command: &str) -> String {
        let hook = Hook::new("*", command).unwrap();
        let shown = |word: RunWord| match word.kind {
            RunKind::File => word.text,
            RunKind::Value => format!("-{}", word.text),
            RunKind::Module => format!(":{}", word.text),
            RunKind::Unknown => format!("?{}", word.text),
        };
        let runs = runs(&hook).list.into_iter();
        let runs = runs.map(|run| run.into_iter().map(shown).collect::<Vec<_>>().join(" "));
        runs.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn words_behind_interpreters_are_found() {
        for (command, expected) in [
            ("./guard.sh x", ""),
            ("sh guard x", "guard x"),
            ("sh < guard > log", "-guard"),
            ("<guard sh", "-guard"),
            ("sh 2>/dev/null guard >>log 2>&1", "guard"),
            ("bash &>log guard", "guard"),
            ("bash <<<'. ./guard'", ". ./guard; ./guard"),
            ("cat x|sh -s -- guard", "-cat -x -sh --s --- -guard guard"),
            ("cat x | sh", "-cat -x -sh"),
            ("cat x | python3 - y", "-cat -x -python3 -- -y y"),
            ("cat x | sh guard", "guard"),
            ("{ sh; } < guard", "-guard"),
            ("sh a; sh b && sh c", "a; b; c"),
            ("(sh a)|sh 'b c'", "a; b c"),
            ("bash -euo pipefail guard", "-pipefail guard"),
            ("bash -o pipefail -x guard", "-pipefail guard"),
            ("bash --norc guard x", "guard x"),
            ("bash --strange guard x", "?--strange guard x"),
            ("bash -c 'sh guard' x", "guard"),
            ("sh -c 'date >> \"$1\"' sh log", ""),
            ("sh -c 'exec \"$@\"' x sh guard", "guard"),
            ("bash -ec \"node ./a\" x", "./a"),
            ("sh -c \"bash -c 'sh guard'\"", "guard"),
            ("find . -name x", ""),
            ("git add .", ""),
            (". ./env && if . ./x; then :; fi", "./env; ./x"),
            ("2>/dev/null . ./x; command -p . ./y", "./x; ./y"),
            ("f() { . ./x; }; function g { . ./y; }", "./x; ./y"),
            ("source x y", "x y"),
            ("alias g='sh guard'", "guard"),
            ("env X=1 /usr/bin/python3.11 -I guard", "guard"),
            ("env -S'sh guard'", "guard"),
            ("env '--split-string=sh guard'", "guard"),
            ("BASH_ENV=./pre bash -c true", "-./pre"),
            ("python3 -m pkg.guard x", ":pkg.guard"),
            ("python3 -mpkg x", ":pkg"),
            ("python3 -Bm pkg x", ":pkg"),
            ("python3 -W ignore -X dev guard", "-ignore -dev guard"),
            ("python3 -c 'print(1)' x", ""),
            ("node -r ./pre --import=./b ./tool", "-./pre -./b ./tool"),
            ("node --inspect=x tool y", "-x tool y"),
            ("node --no-warnings tool y", "tool y"),
            ("node -e 'x' tool", ""),
            ("deno run -A guard", "?run guard"),
            ("deno eval x", ""),
            ("ruby -Ilib x", "-lib x"),
            ("perl -I. -MA::B -e 1", "-. -A::B"),
            ("awk -f prog data", "-prog"),
            ("jq -nrf filter data", "-filter"),
            ("make -frules -C sub all", "-rules ?-C"),
            ("make -sf rules", "-rules"),
            ("make -f - <rules", "-- -rules"),
            ("cat x | make -f -", "-- -cat -x -make --f --"),
            ("cat x | jq . -", ""),
            ("sh /dev/stdin <guard", "-guard"),
            ("sh <>guard", "-guard"),
            ("bash <(cat guard)", "cat guard"),
            ("sh $'guard' $\"x\"", "guard x"),
            ("cat x | (sh)", "-cat -x -sh"),
            ("cat x |\nsh", "-cat -x -sh"),
            ("cat x | { cd y; sh; }", "-cat -x -{ -cd -y -sh -}"),
            ("perl -ma::b -Mc=d -e 1", "-a::b -c=d"),
            ("make --file=rules", "-rules"),
            ("echo \"$(sh guard)\"", "guard"),
            ("s'h' g\\uard", "guard"),
            ("# don't\nsh 'my guard'", "my; my guard"),
        ] {
            assert_eq!(found(command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_not_read_is_said() {
        let is_cut = |command: &str| runs(&Hook::new("*", command).unwrap()).is_cut;
        assert!(!is_cut("sh guard"));
        assert!(is_cut(&format!("sh {}", "x ".repeat(MOST_WORDS + 1))));
        let mut deep = "sh guard".to_owned();
        for _ in 0..DEEPEST + 2 {
            deep = format!("sh -c {}", serde_json::to_string(&deep).unwrap());
        }
        assert!(is_cut(&deep));
        // Neither takes time or memory that grows with the square of the length.
        for word in ["sh ", "awk ", "a|sh - - - "] {
            assert!(is_cut(&format!("x {}", word.repeat(20_000))));
        }
    }

    #[test]
    fn names_are_completed() {
        let names = |text: &str, kind| RunWord::new(text, kind).names(text);
        let module = names("a.b.c", RunKind::Module);
        for name in ["a/__init__.py", "a/b/__init__.py", "a/b/c.py", "a/b/c"] {
            assert!(module.contains(&name.to_owned()), "{name}");
        }
        let value = names("A::B", RunKind::Value);
        assert!(value.contains(&"A/B.pm".to_owned()), "{value:?}");
        assert!(names("", RunKind::File).is_empty());
    }

    proptest! {
        /// Any quoting that a shell undoes.
        #[test]
        fn a_quoted_name_is_found(
            name in "[a-z./]{1,12}",
            quotes in proptest::collection::vec(0..4, 12),
        ) {
            let quoted: String = name.chars().zip(quotes).map(|(c, quote)| match quote {
                0 => format!("\\{c}"),
                1 => format!("'{c}'"),
                2 => format!("\"{c}\""),
                _ => c.to_string(),
            }).collect();
            let found = found(&format!("true && sh {quoted}; true"));
            // A name such as `sh` is the word of a second run.
            prop_assert_eq!(found.split("; ").next().unwrap_or_default(), name);
        }
    }
}
