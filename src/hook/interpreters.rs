//! The words of a command that name an interpreter, and the meaning of a word after one.
//!
//! Knows names, but no options except those that precede a program's text.

/// The longest path that Linux allows (PATH_MAX).
pub(super) const LONGEST_WORD: usize = 4096;
/// The most ends of one word.
const MOST_ENDS: usize = 8;

/// Shells, which run a file, or the text that they read.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "rbash", "mksh", "yash",
    "posh", "osh", "nu", "elvish", "xonsh", ".", "source", "eval",
];

/// Other programs that run a file, or the text that they read.
const INTERPRETERS: &[&str] = &[
    "pwsh",
    "powershell",
    "python",
    "pypy",
    "py",
    "node",
    "nodejs",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
];

/// Interpreters whose first word may be a command of their own, as in `deno run guard`.
const HAVE_COMMANDS: &[&str] = &["bun", "deno"];

/// Programs that run files which are in an option or after one, as in `make -f rules`. Other files are their input.
const RUN_OPTIONS: &[&str] = &[
    "awk", "gawk", "mawk", "nawk", "jq", "make", "gmake", "sed", "gsed",
];

/// Variables by which an interpreter finds the files that it runs first: names of files, or options.
pub(super) const READ_BY_INTERPRETERS: &[&str] = &[
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

/// Shell keywords and builtins that precede a command.
pub(super) const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "command",
    "builtin", "coproc", "eval",
];

/// Programs that start the program whose name is after them.
pub(super) const STARTERS: &[&str] = &[
    "env", "sudo", "doas", "nohup", "nice", "timeout", "setsid", "stdbuf", "ionice", "chrt",
    "taskset", "flock", "time", "script", "xargs", "parallel", "busybox", "chroot", "ssh", "su",
    "watch", "strace", "uv", "-exec", "-execdir",
];

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Shell,
    File,
    Command,
    Options,
}

/// Returns which files the program that a word names runs. The word may have the program's path, and its version:
/// `/usr/bin/python3.11`.
pub(super) fn kind_of(word: &str) -> Option<Kind> {
    let mut names = word.split(SEPARATORS).chain(ends(word)).chain([word]);
    names.find_map(|part| {
        let name = part.rsplit(['/', '\\']).next().unwrap_or(part);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        let kinds = [
            (SHELLS, Kind::Shell),
            (INTERPRETERS, Kind::File),
            (HAVE_COMMANDS, Kind::Command),
            (RUN_OPTIONS, Kind::Options),
        ];
        // In `sub/.`, the `.` is a directory, and in `.[]` a part of another language.
        let is_named =
            |list| is_in(list, stem) || is_in(list, name) && (name != "." || word == ".");
        let kind = kinds.into_iter().find(|(list, _)| is_named(list));
        kind.map(|(_, kind)| kind)
    })
}

pub(super) fn is_in(list: &[&str], name: &str) -> bool {
    list.contains(&name)
}

/// Returns whether the program of this name runs the first file after it.
pub(crate) fn runs_file(word: &str) -> bool {
    kind_of(word).is_some_and(|kind| kind != Kind::Options)
}

/// Returns whether a command only looks for a program, as `command -v python3`.
pub(super) fn only_finds(words: &[String]) -> bool {
    let is_before =
        |word: &&String| word.contains('=') || is_in(BEFORE_COMMANDS, word) && *word != "command";
    let before = words.iter().take_while(is_before).count();
    let first = words.get(before).map_or("", |word| word);
    let second = words.get(before + 1).map_or("", |word| word);
    matches!(
        (first, second),
        ("which" | "type" | "hash", _) | ("command", "-v" | "-V")
    )
}

/// Returns whether the word after this one is a command: `sh -c`, `eval`, `trap`.
pub(super) fn runs_text(before: &str) -> bool {
    matches!(before, "eval" | "trap") || is_option(before) && before.ends_with('c')
}

/// Returns whether these words make a program only print its version: `node --version`.
pub(super) fn says_version(words: &[String]) -> bool {
    matches!(words, [word] if matches!(&**word, "-v" | "-V" | "-h" | "--version" | "--help"))
}

/// Returns whether a word stands for the input of a program: standard input, or another descriptor.
pub(super) fn is_input(word: &str) -> bool {
    let parts: Vec<&str> = word
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let is_path = word.starts_with('/');
    word == "-"
        || is_path
            && matches!(
                parts[..],
                ["dev", "stdin"] | ["dev", "fd", _] | ["proc", "self", "fd", _]
            )
}

pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Returns whether a program's text or the name of a module may be after this option, as in `sh -euc '..'`, `python3 -m x`.
pub(super) fn has_text(option: &str) -> bool {
    let is_short = !option.starts_with("--");
    matches!(option, "--eval" | "--print")
        || is_short && option.ends_with(['c', 'e', 'E', 'm', 'p'])
}

pub(super) const SEPARATORS: [char; 8] = ['=', ',', ':', '!', '{', '}', '[', ']'];

/// Returns the texts that may be in a word after an option or a name: `-Csub`, `-frules`, `--require=./pre`.
pub(super) fn ends(word: &str) -> impl Iterator<Item = &str> {
    let is_option = word.starts_with('-') && !word.starts_with("--");
    let letters = word.char_indices().skip(2).map(|(at, _)| at);
    let letters = letters.take(if is_option { MOST_ENDS } else { 0 });
    let behind = word
        .match_indices(SEPARATORS)
        .map(|(at, separator)| at + separator.len());
    letters.chain(behind.take(MOST_ENDS)).map(|at| &word[at..])
}

/// Returns the names that an interpreter may try for a word, as a file, a directory or a module.
pub(super) fn completed(text: &str, is_module: bool) -> Vec<String> {
    const ENDINGS: [&str; 19] = [
        ".sh", ".py", ".pyc", ".so", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx",
        ".json", ".node", ".rb", ".pl", ".pm", ".pmc", ".lua",
    ];
    const WITHIN: [&str; 4] = ["/index.js", "/package.json", "/__main__.py", "/__init__.py"];
    if text.is_empty() || text.len() > LONGEST_WORD {
        return Vec::new();
    }
    let mut names = vec![text.to_owned()];
    // A pattern has no extension.
    if text.contains(['*', '?', '[']) {
        return names;
    }
    let mut base = text.replace("::", "/");
    if is_module && !text.contains('/') {
        base = base.replace('.', "/");
        let packages = base
            .match_indices('/')
            .take(MOST_ENDS)
            .map(|(at, _)| &base[..at]);
        for package in packages.chain([&*base]) {
            names.extend(["py", "pyc", "so"].map(|ending| format!("{package}/__init__.{ending}")));
            names.push(format!("{package}/__pycache__/__*__.*.pyc"));
        }
        let (directory, name) = base.split_at(base.rfind('/').map_or(0, |at| at + 1));
        names.push(format!("{directory}__pycache__/{name}.*.pyc"));
    }
    names.extend(ENDINGS.iter().chain(&WITHIN).map(|end| base.clone() + end));
    names
}
