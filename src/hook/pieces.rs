//! The pieces of a hook's command that may name files, for approvals.
//!
//! A piece is a word of the command, of `args` or of a value of `env`, and each part of it between characters that names seldom
//! have. A piece too many is harmless; docs/approval.md has the rule. Knows no programs but those that run a directory, and looks
//! at no files.

use std::collections::HashSet;
use std::path::{Component, Path};

use glob::Pattern;

use super::definition::Hook;
use crate::command::{UNKNOWN, Value, Written};
use crate::entry::HookCommand;

/// The most pieces. All are looked up before each run: 4,000 take a few milliseconds.
const MOST: usize = 4000;
/// The longest path that Linux allows (PATH_MAX).
const LONGEST: usize = 4096;
/// The most endings of one piece: `-I./lib`.
const MOST_ENDINGS: usize = 64;

/// Programs that run a file in the directory that they are given: `node .`, `python3 -m pkg`.
const RUN_DIRECTORIES: &[&str] = &[
    "bun", "deno", "node", "nodejs", "pypy", "python", "ts-node", "tsx",
];

/// Stands in a word for a value of the event.
pub(crate) const OF_EVENT: char = '\u{1}';

/// The characters of patterns, and of the home directory.
const OF_PATTERNS: [char; 5] = ['*', '?', '[', ']', '~'];

/// The pieces of a command.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// The pieces, each once, in their order.
    pub(crate) names: Vec<String>,
    /// Those that stand beside a program that runs a file in a directory.
    pub(crate) of_programs: HashSet<String>,
    /// The first part that is known only when the command runs, as it is written.
    pub(crate) unknown: Option<String>,
    seen: HashSet<String>,
}

impl Pieces {
    /// Reads the pieces of a hook. `value` returns the known values of variables, which are inserted.
    pub(crate) fn of(hook: &Hook, value: &Value<'_>) -> Self {
        let mut pieces = Self::default();
        let text = match hook.action() {
            HookCommand::Answer(_) => String::new(),
            HookCommand::Shell { text, .. } => text.clone(),
            HookCommand::Program(args) => as_text(args),
        };
        let of_entry = |name: &str| hook.env().get(name).cloned().or_else(|| value(name));
        let written = Written::read(&text, &of_entry);
        pieces.unknown = written.unknown;
        let working_dir = hook.working_dir().and_then(Path::to_str);
        if let Some(name) = working_dir.filter(|name| is_of_process(name)) {
            pieces.unknown.get_or_insert_with(|| name.to_owned());
        }
        let home = of_entry("HOME");
        let mut commands = written.commands;
        if cfg!(windows) {
            // There `\` is no sign of the shell, and stands between directories.
            commands.extend(Written::read(&text.replace('\\', "/"), &of_entry).commands);
        }
        for words in &commands {
            pieces.add_command(words, home.as_deref());
        }
        for value in hook.env().values() {
            pieces.add_command(std::slice::from_ref(value), home.as_deref());
            if value.contains('$') {
                // A shell inserts variables in `BASH_ENV`.
                for words in &Written::read(value, &of_entry).commands {
                    pieces.add_command(words, home.as_deref());
                }
            }
        }
        pieces
    }

    fn add_command(&mut self, words: &[String], home: Option<&str>) {
        let mut own = Vec::new();
        for word in words {
            let word = with_patterns(word);
            for part in word.split(UNKNOWN) {
                add_word(part, home, &mut own);
                if part.contains('\\') {
                    add_word(&part.replace('\\', ""), home, &mut own);
                    add_word(&part.replace('\\', "/"), home, &mut own);
                }
            }
        }
        if own.iter().any(|name| runs_directories(name)) {
            self.of_programs.extend(own.iter().cloned());
        }
        for name in own {
            self.push(name);
        }
    }

    fn push(&mut self, name: String) {
        if self.seen.contains(&name) {
            return;
        }
        if is_of_process(&name) {
            self.unknown.get_or_insert_with(|| name.clone());
        }
        if self.names.len() == MOST {
            self.unknown
                .get_or_insert_with(|| "the command is too long".to_owned());
            return;
        }
        self.seen.insert(name.clone());
        self.names.push(name);
    }
}

/// Returns a word in which a value of the event is a pattern, since it may be any text. A value without other text around it stands for
/// no file.
fn with_patterns(word: &str) -> String {
    let mut text = String::new();
    for part in word.split_inclusive(|c: char| c != OF_EVENT && !is_of_piece(c)) {
        let name = part.trim_end_matches(|c: char| c != OF_EVENT && !is_of_piece(c));
        if name.chars().all(|c| c == OF_EVENT) {
            text.extend(
                part.chars()
                    .map(|c| if c == OF_EVENT { UNKNOWN } else { c }),
            );
        } else {
            text += &part.replace(OF_EVENT, "*");
        }
    }
    text
}

/// Adds the pieces of a word.
fn add_word(word: &str, home: Option<&str>, names: &mut Vec<String>) {
    add(word, home, names);
    if let Some((_, value)) = word.split_once('=') {
        add(value, home, names);
    }
    add_endings(word, home, names);
    for piece in word.split(|c: char| !is_of_piece(c)) {
        add(piece, home, names);
        if piece.contains(OF_PATTERNS) {
            // In another language, these end a name.
            for part in piece.split(OF_PATTERNS) {
                add(part, home, names);
            }
        }
        add_endings(piece, home, names);
    }
}

/// Adds what may be the value of an option: `-frules`.
fn add_endings(piece: &str, home: Option<&str>, names: &mut Vec<String>) {
    if piece.starts_with('-') {
        for (at, _) in piece.char_indices().skip(1).take(MOST_ENDINGS) {
            add(&piece[at..], home, names);
        }
    }
}

fn add(piece: &str, home: Option<&str>, names: &mut Vec<String>) {
    if piece.is_empty() || piece.len() > LONGEST {
        return;
    }
    let below_home = piece.strip_prefix('~');
    let below_home = below_home.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let (Some(rest), Some(home)) = (below_home, home) {
        names.push(format!("{home}{rest}"));
    }
    names.push(piece.to_owned());
}

fn is_of_piece(c: char) -> bool {
    c.is_alphanumeric() || "._-/~*?[]".contains(c)
}

/// Returns whether the file of this name runs a file in a directory that it is given. The name may have a path and a version:
/// `/usr/bin/python3.11`.
fn runs_directories(name: &str) -> bool {
    if name.starts_with('/') && name.contains(OF_PATTERNS) {
        // `/usr/bin/nod[e]`
        return true;
    }
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUN_DIRECTORIES.contains(&stem)
}

/// Returns whether a path may lead to what only the process itself has: below `/proc`, or a descriptor.
fn is_of_process(name: &str) -> bool {
    const OF_DEVICES: [&str; 3] = ["fd", "stderr", "stdout"];
    let names = Path::new(name).components().filter_map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    // `/p*c/self`
    let hides = names.len() > 1 && name.starts_with('/') && names[0].contains(OF_PATTERNS) && {
        let pattern = Pattern::new(names[0]);
        pattern.is_ok_and(|pattern| ["dev", "proc"].iter().any(|name| pattern.matches(name)))
    };
    let is_device = |pair: &[&str]| match pair {
        ["dev", device] => {
            OF_DEVICES.contains(device) || name.starts_with("/dev/") && device.contains(OF_PATTERNS)
        }
        ["fd", number] => number.parse::<u32>().is_ok(),
        _ => false,
    };
    hides || names.contains(&"proc") || names.windows(2).any(is_device)
}

/// Returns a text for a shell that runs these words.
fn as_text(args: &[String]) -> String {
    let quoted = args
        .iter()
        .map(|arg| format!("'{}'", arg.replace('\'', r"'\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns whether a name is a pattern for several.
pub(crate) fn is_glob(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::growth::assert_linear;

    fn value(name: &str) -> Option<String> {
        match name {
            "ROOT" => Some("/a b".to_owned()),
            "HOME" => Some("/home/x".to_owned()),
            "PWD" => Some(".".to_owned()),
            _ => None,
        }
    }

    fn pieces(command: &str) -> Pieces {
        Pieces::of(&Hook::new("*", command).unwrap(), &value)
    }

    #[test]
    fn every_name_is_among_the_pieces() {
        for (text, expected) in [
            ("./guard.sh --strict", "./guard.sh"),
            ("test -f x&&./g.sh;exit", "./g.sh"),
            ("./gua''rd.sh", "./guard.sh"),
            ("./gu\\ard.sh", "./guard.sh"),
            ("sh -c \"./gu\\ard.sh\"", "./guard.sh"),
            ("./a\\ b.sh", "./a b.sh"),
            ("sh -c '\"./my guard.sh\"'", "./my guard.sh"),
            ("sh -c \"sh -c \\\"./a.sh\\\"\"", "./a.sh"),
            ("sh -c './gu\"ar\"d.sh'", "./guard.sh"),
            ("\"$ROOT\"/guard.py", "/a b/guard.py"),
            ("sh -c '\"$ROOT\"/guard.py'", "/a b/guard.py"),
            ("${ROOT:-.}/x.sh", "/a b/x.sh"),
            ("~/x.sh", "/home/x/x.sh"),
            ("x=~/x.sh", "/home/x/x.sh"),
            ("X=g.sh; sh $X", "g.sh"),
            ("lib/$(cat x)/y.sh", "lib/"),
            ("${OTHER:-$(cat a.sh)}/x.sh", "a.sh"),
            ("x=./a.sh,./b.sh:./c.sh", "./b.sh"),
            ("./run=guard.sh", "./run=guard.sh"),
            ("--require=./hook.js", "./hook.js"),
            ("'--x=./a b.sh'", "./a b.sh"),
            ("make -frules", "rules"),
            ("tar -I./tools/guard", "./tools/guard"),
            ("env -Csub x", "sub"),
            ("'./a\nb.sh'", "./a\nb.sh"),
            ("sh ./gu\u{a0}ard.sh", "./gu\u{a0}ard.sh"),
            ("node -e 'require(\"./a.js\")'", "./a.js"),
            ("python3 -c \"run(['bash','guard'])\"", "guard"),
            ("cat <<E\nopen('./a.sh')\nE", "./a.sh"),
            ("sh <>guard", "guard"),
        ] {
            let names = pieces(text).names;
            let is_there = names.iter().any(|name| name == expected);
            assert!(is_there, "{text}: {names:?}");
        }
        assert_eq!(pieces("x > log >> other").names, ["x"]);
    }

    #[test]
    fn what_is_known_only_at_run_time_is_shown() {
        for (command, expected) in [
            ("sh \"$ROOT/x.sh\" | cat", None),
            ("sh *.sh", None),
            ("cd su* && ./inner.sh", None),
            ("grep -E 'foo$' x; awk '{print $1}' y", None),
            ("test -f x || exit $?", None),
            ("bash -c \"sh $ROOT/y\"", None),
            ("npm run eval && grep -n eval f", None),
            ("git show stash@{0}; find . -exec ls {} +", None),
            ("tee -a log 2>/dev/stderr", None),
            ("sh \"$X\"", Some("\"$X\"")),
            ("sh $(x)", Some("$(x)")),
            ("sh `x`", Some("`x`")),
            ("eval x", Some("eval")),
            ("bash -O extglob -c 'sh !(y)'", Some("extglob")),
            ("\\e\"va\"l x", Some("eval")),
            ("true a b; bash -c 'sh ${_}'", Some("${_}")),
            ("command eval x", Some("eval")),
            ("bash -c \"sh $X/y\"", Some("\"sh $X/y\"")),
            ("x=$(cat); echo \"$x\"", Some("x=$(cat)")),
            ("cat <<E\nhi $USER\nE", Some("cat <<E\\nhi $USER\\nE")),
            ("sh ~user/x", Some("~user/x")),
            ("sh ~+/x", Some("~+/x")),
            ("sh to{o,x}ls/guard", Some("to{o,x}ls/guard")),
            ("./$'gu\\x61rd.sh'", Some("$'gu\\x61rd.sh'")),
            ("sh /./proc//self/cwd/x", Some("/./proc//self/cwd/x")),
            ("sh /dev//fd/3", Some("/dev//fd/3")),
            ("X=a; X=b; sh $X", Some("$X")),
            ("X=a; read X; sh $X", Some("$X")),
            ("X=a sh \"${X%b}\"", Some("\"${X%b}\"")),
            ("export HOME=lib; sh ~/x", Some("~/x")),
        ] {
            assert_eq!(pieces(command).unknown.as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn no_command_has_too_many_pieces() {
        let many: String = (0..10_000).map(|n| format!("{n} ")).collect();
        let many = pieces(&many);
        assert_eq!(many.names.len(), MOST);
        assert_eq!(many.unknown.as_deref(), Some("the command is too long"));
        let long = pieces(&format!("sh ./x.sh {}", "-".repeat(100_000)));
        assert!(long.names.contains(&"./x.sh".to_owned()));
    }

    #[test]
    fn long_commands_are_read_in_linear_time() {
        for word in [
            "sh ", "$a", "$(", "\"$(", "=x", "${a:-", "<<x\n", "a=b ", "'-", "\\",
        ] {
            let command = |length: usize| format!("x {}", word.repeat(length));
            assert_linear(word, 5_000, command, |command| drop(pieces(command)));
        }
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
            let pieces = pieces(&format!("true && sh {quoted}; true"));
            prop_assert!(pieces.names.contains(&name), "{quoted}: {:?}", pieces.names);
        }
    }
}
