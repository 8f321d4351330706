//! Which words of a command an interpreter runs: `sh guard`, `node -r ./pre ./tool`, `python3 -m pkg.guard`, `make -f rules`.
//!
//! Knows interpreters and how a shell splits words, looks at no files. It may find too many words; what a program runs
//! by itself it does not find.

use super::parts::HookCommand;

/// A program that runs a file which it is given, whatever the file is called.
pub(crate) struct Interpreter {
    names: &'static [&'static str],
    /// Options without a value, as letters that may stand together.
    flags: &'static str,
    /// Options whose next word is a value.
    values: &'static [&'static str],
    /// Options and commands whose next word is a program.
    programs: &'static [&'static str],
    /// The option whose value is the name of a module.
    module: Option<&'static str>,
    /// It runs only the values of its options.
    only_values: bool,
}

impl Interpreter {
    /// Whether it runs the first file behind it.
    pub(crate) fn runs_first_file(&self) -> bool {
        !self.only_values
    }
}

const NONE: Interpreter = Interpreter {
    names: &[],
    flags: "",
    values: &[],
    programs: &[],
    module: None,
    only_values: false,
};

const INTERPRETERS: [Interpreter; 12] = [
    Interpreter {
        names: &[
            "sh",
            "bash",
            "dash",
            "zsh",
            "ksh",
            "ash",
            "fish",
            "csh",
            "tcsh",
            "pwsh",
            "powershell",
        ],
        flags: "abefhiklmnpstuvxBCEHPT",
        values: &["-o", "+o", "-O", "--rcfile", "--init-file"],
        programs: &["-c", "-Command", "-EncodedCommand"],
        ..NONE
    },
    Interpreter {
        names: &[".", "source"],
        ..NONE
    },
    Interpreter {
        names: &["python", "pypy", "py"],
        flags: "bBdEhiIOPqRsStuvVx",
        values: &["-W", "-X"],
        programs: &["-c"],
        module: Some("-m"),
        ..NONE
    },
    Interpreter {
        names: &["node", "nodejs"],
        values: &["-r", "--require", "--import", "--loader", "--env-file"],
        programs: &["-e", "-p", "--eval", "--print"],
        ..NONE
    },
    Interpreter {
        names: &["bun", "deno"],
        values: &["-r", "--preload", "--config", "--import-map"],
        programs: &["-e", "-p", "--eval", "--print", "eval"],
        ..NONE
    },
    Interpreter {
        names: &["ruby"],
        flags: "acdlnpsSvwWx",
        values: &["-r", "-I"],
        programs: &["-e"],
        ..NONE
    },
    Interpreter {
        names: &["perl"],
        flags: "acdlnpsSTtuUvwWX",
        values: &["-I", "-M"],
        programs: &["-e", "-E"],
        ..NONE
    },
    Interpreter {
        names: &["php"],
        flags: "ahinqsvwCD",
        values: &["-c", "-d", "-f"],
        programs: &["-r"],
        ..NONE
    },
    Interpreter {
        names: &["lua", "luajit"],
        flags: "ivEW",
        values: &["-l"],
        programs: &["-e"],
        ..NONE
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        values: &["-f", "--file"],
        only_values: true,
        ..NONE
    },
    Interpreter {
        names: &["jq"],
        values: &["-f", "--from-file"],
        only_values: true,
        ..NONE
    },
    Interpreter {
        names: &["make", "gmake"],
        values: &["-f", "--file", "--makefile"],
        only_values: true,
        ..NONE
    },
];

/// The interpreter that a word names, by its path too, and with its version: `/usr/bin/python3.11`.
pub(crate) fn interpreter(word: &str) -> Option<&'static Interpreter> {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    if name == "." && word != "." {
        return None;
    }
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let is_named = |it: &&Interpreter| it.names.contains(&name) || it.names.contains(&stem);
    INTERPRETERS.iter().find(is_named)
}

/// A word behind an interpreter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunWord {
    pub(crate) text: String,
    pub(crate) kind: RunKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RunKind {
    /// If it is a file, it is the one that runs.
    File,
    /// The value of an option, which the file that runs follows.
    Value,
    /// The name of a module, with dots between its parts.
    Module,
    /// The value of an option that is not known, or none: the next file may be its value, and the one behind that runs.
    Unknown,
}

impl RunWord {
    /// Returns the names of the files that an interpreter may run for this word, after `text` has its variables replaced.
    pub(crate) fn names(&self, text: &str) -> Vec<String> {
        const ENDINGS: [&str; 6] = [".sh", ".py", ".js", ".mjs", ".cjs", ".ts"];
        const WITHIN: [&str; 3] = ["/index.js", "/__main__.py", "/__init__.py"];
        if text.is_empty() {
            return Vec::new();
        }
        let text = match self.kind {
            RunKind::Module => text.replace('.', "/"),
            _ => text.to_owned(),
        };
        let completed = ENDINGS
            .iter()
            .chain(&WITHIN)
            .map(|end| format!("{text}{end}"));
        let mut names: Vec<String> = completed.collect();
        names.push(text);
        names
    }
}

/// The words behind one interpreter. Those count up to the first file that may be the one that runs.
pub(crate) type Run = Vec<RunWord>;

/// The most texts within texts that are read: `sh -c "bash -c '...'"`.
const DEEPEST: usize = 4;
/// The most words of all runs. Each is looked up in several forms.
const MOST_WORDS: usize = 200;

/// What the interpreters of a command run.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    pub(crate) list: Vec<Run>,
    /// There is more than a limit allows.
    pub(crate) is_cut: bool,
    words: usize,
}

impl Runs {
    fn push(&mut self, mut run: Run) {
        let left = MOST_WORDS - self.words;
        self.is_cut |= run.len() > left;
        run.truncate(left);
        self.words += run.len();
        self.list.push(run);
    }
}

/// Returns what the interpreters of a command run.
pub(crate) fn runs(command: &HookCommand) -> Runs {
    let mut found = Runs::default();
    match command {
        HookCommand::Shell { text, .. } => read_text(text, DEEPEST, &mut found),
        HookCommand::Program(words) => {
            let words = words.iter().map(|word| Token::Word(word.clone()));
            read_part(&words.collect::<Vec<_>>(), DEEPEST, &mut found);
        }
    }
    found
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    /// The next word is the name of a file that is written, or the end of a text that follows.
    SkipsNext,
    /// A part of the command ends.
    End,
}

fn read_text(text: &str, depth: usize, found: &mut Runs) {
    for part in tokens(text).split(|token| *token == Token::End) {
        read_part(part, depth, found);
    }
}

/// Words before a command that are none of its own.
const BEFORE_COMMANDS: [&str; 14] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "command",
    "builtin", "eval",
];

fn read_part(part: &[Token], depth: usize, found: &mut Runs) {
    let words: Vec<&str> = (0..part.len()).filter_map(|at| word_at(part, at)).collect();
    let mut is_first = true;
    for (at, word) in words.iter().enumerate() {
        // In `find . -name x` it is a directory.
        let is_command = is_first || *word != ".";
        if let Some(interpreter) = interpreter(word).filter(|_| is_command) {
            found.push(run_of(interpreter, &words[at + 1..]));
        }
        is_first &= BEFORE_COMMANDS.contains(word) || word.contains('=');
        if word.contains(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | '<')) {
            match depth.checked_sub(1) {
                Some(depth) => read_text(word, depth, found),
                None => found.is_cut = true,
            }
        }
    }
}

fn word_at(part: &[Token], at: usize) -> Option<&str> {
    let is_skipped = at > 0 && part[at - 1] == Token::SkipsNext;
    match &part[at] {
        Token::Word(word) if !is_skipped => Some(word),
        _ => None,
    }
}

/// What a word behind an interpreter is.
enum Meaning<'a> {
    File,
    Flag,
    /// The next word is a program.
    Program,
    /// An option, with its value if that stands in the same word.
    Value(Option<&'a str>),
    Module(Option<&'a str>),
    Unknown(&'a str),
}

fn run_of(interpreter: &Interpreter, words: &[&str]) -> Run {
    let mut run = Run::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (text, kind) = match meaning(interpreter, word) {
            Meaning::Program => break,
            Meaning::Flag => continue,
            Meaning::File if interpreter.only_values => continue,
            Meaning::File => (Some(word), RunKind::File),
            Meaning::Value(value) => (value.or_else(|| words.next()), RunKind::Value),
            Meaning::Module(name) => (name.or_else(|| words.next()), RunKind::Module),
            Meaning::Unknown(value) => (Some(value), RunKind::Unknown),
        };
        let text = text.unwrap_or_default().to_owned();
        run.push(RunWord { text, kind });
        if kind == RunKind::Module {
            break;
        }
    }
    run
}

fn meaning<'a>(interpreter: &Interpreter, word: &'a str) -> Meaning<'a> {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) => (option, Some(value)),
        None => (word, None),
    };
    if interpreter.programs.contains(&option) || holds_program(interpreter, word) {
        return Meaning::Program;
    }
    if let Some(name) = interpreter.module.and_then(|it| word.strip_prefix(it)) {
        return Meaning::Module(Some(name).filter(|name| !name.is_empty()));
    }
    if interpreter.values.contains(&option) {
        return Meaning::Value(value);
    }
    if let Some(joined) = joined_value(interpreter, word) {
        return Meaning::Value(Some(joined));
    }
    if word == "-" || !word.starts_with(['-', '+']) {
        return Meaning::File;
    }
    match is_flag(interpreter, word) {
        true => Meaning::Flag,
        false => Meaning::Unknown(value.unwrap_or_default()),
    }
}

/// Whether letters that stand together end with an option that holds a program: `bash -euc '..'`.
fn holds_program(interpreter: &Interpreter, word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return false;
    };
    let programs = interpreter.programs.iter().filter(|it| it.len() == 2);
    let mut programs = programs.filter_map(|it| it.chars().nth(1));
    let is_known = |c: char| interpreter.flags.contains(c);
    programs.any(|program| {
        let before = letters.split_once(program);
        before.is_some_and(|(before, _)| before.chars().all(is_known))
    })
}

/// The value of an option of one letter that stands behind it: `-r./pre`, `-frules`.
fn joined_value<'a>(interpreter: &Interpreter, word: &'a str) -> Option<&'a str> {
    let mut short = interpreter.values.iter().filter(|it| it.len() == 2);
    short.find_map(|option| word.strip_prefix(option).filter(|value| !value.is_empty()))
}

fn is_flag(interpreter: &Interpreter, word: &str) -> bool {
    let letters = word.trim_start_matches(['-', '+']);
    let is_short = !word.starts_with("--");
    word == "--" || is_short && letters.chars().all(|c| interpreter.flags.contains(c))
}

/// Splits a text as a shell does, without its quotes.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => {
                let next = chars.next().filter(|c| *c != '\n');
                word.get_or_insert_default().extend(next);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '>' | '<' | ';' | '&' | '|' | '(' | ')' | '`' | '\n') => {
                tokens.extend(word.take().map(Token::Word));
                let is_same = chars.next_if_eq(&c).is_some();
                match c {
                    // `>&2`, `>|x`
                    '>' => {
                        let _ = chars.next_if(|c| matches!(c, '&' | '|'));
                        tokens.push(Token::SkipsNext);
                    }
                    '<' if is_same => tokens.push(Token::SkipsNext),
                    '<' => {}
                    _ => tokens.push(Token::End),
                }
            }
            (None, c) if c.is_ascii_whitespace() => tokens.extend(word.take().map(Token::Word)),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hook::Hook;

    /// The words of each run: `-x` behind a value, `:x` a module, `?x` behind an option that is not known.
    fn found(command: &str) -> String {
        let hook = Hook::new("*", command).unwrap();
        let shown = |word: RunWord| match word.kind {
            RunKind::File => word.text,
            RunKind::Value => format!("-{}", word.text),
            RunKind::Module => format!(":{}", word.text),
            RunKind::Unknown => format!("?{}", word.text),
        };
        let runs = runs(hook.command()).list.into_iter();
        let runs = runs.map(|run| run.into_iter().map(shown).collect::<Vec<_>>().join(" "));
        runs.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn words_behind_interpreters_are_found() {
        for (command, expected) in [
            ("./guard.sh x", ""),
            ("sh guard x", "guard x"),
            ("sh < guard > log", "guard"),
            ("sh guard >>log 2>&1", "guard 2"),
            ("cat x|sh -s -- guard", "guard"),
            ("sh a; sh b && sh c", "a; b; c"),
            ("(sh a)|sh 'b c'", "a; b c"),
            ("bash -euo pipefail guard", "? pipefail guard"),
            ("bash -o pipefail -x guard", "-pipefail guard"),
            ("bash -c 'sh guard' x", "; guard"),
            ("bash -ec \"node ./a\" x", "; ./a"),
            ("sh -c \"bash -c 'sh guard'\"", "; ; guard"),
            ("find . -name x", ""),
            ("git add .", ""),
            (". ./env && if . ./x; then :; fi", "./env; ./x"),
            ("source x y", "x y"),
            ("env X=1 /usr/bin/python3.11 -I guard", "guard"),
            ("python3 -m pkg.guard x", ":pkg.guard"),
            ("python3 -mpkg x", ":pkg"),
            ("python3 -W ignore -X dev guard", "-ignore -dev guard"),
            ("python3 -c 'print(1)' x", ""),
            ("node -r ./pre --import=./b ./tool", "-./pre -./b ./tool"),
            ("node --inspect=x tool", "?x tool"),
            ("node -e 'x' tool", ""),
            ("deno run -A x", "run ? x"),
            ("deno eval x", ""),
            ("ruby -Ilib x", "-lib x"),
            ("awk -f prog data", "-prog"),
            ("jq -f filter data", "-filter"),
            ("make -frules -C sub all", "-rules ?"),
            ("make --file=rules", "-rules"),
            ("echo \"$(sh guard)\"", "guard"),
            ("s'h' g\\uard", "guard"),
        ] {
            assert_eq!(found(command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_not_read_is_said() {
        let is_cut = |command: &str| runs(Hook::new("*", command).unwrap().command()).is_cut;
        assert!(!is_cut("sh guard"));
        assert!(is_cut(&format!("sh {}", "x ".repeat(MOST_WORDS + 1))));
        let mut deep = "sh guard".to_owned();
        for _ in 0..DEEPEST + 2 {
            deep = format!("sh -c {}", serde_json::to_string(&deep).unwrap());
        }
        assert!(is_cut(&deep));
    }

    proptest! {
        #[test]
        fn any_text_is_split(text in ".*") {
            let _ = tokens(&text);
        }

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
