//! The grammars of interpreters: which of their words is a script, and which is code.
//!
//! A closed world: an option that is not in the table may mean anything. Knows nothing of the file system.

/// How an interpreter reads its arguments. In the lists, names are separated by spaces, one-letter options by
/// nothing.
pub(super) struct Interpreter {
    names: &'static str,
    /// Options without a value.
    flags: &'static str,
    /// Options whose value is neither a script nor code.
    values: &'static str,
    /// Options whose value is a script.
    scripts: &'static str,
    /// Options whose value is code.
    code: &'static str,
    /// Long options without a value, with one value, and with two values.
    long: [&'static str; 3],
    /// Long options whose value is a script.
    long_scripts: &'static str,
    /// What the first operand is if no option has given a script or code.
    pub(super) operand: Operand,
    pub(super) language: Language,
    /// The suffixes that are tried after the name of a script.
    pub(super) endings: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Script,
    Code,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// The language of POSIX shells; with `-c` the first operand is code.
    Shell,
    Awk,
    Sed,
    Jq,
    Python,
    /// A language whose code is not analyzed.
    Other,
}

/// The meaning of an option of an interpreter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// Nothing to run; this number of the following words belongs to it.
    Values(usize),
    /// A script: this one, or the next word.
    Script(Option<&'a str>),
    /// Code: this text, or the next word.
    Code(Option<&'a str>),
    /// The first operand has this meaning.
    OperandIs(Operand),
    Unknown,
}

/// An interpreter whose first operand is a script.
const fn of_scripts(names: &'static str, flags: &'static str, code: &'static str) -> Interpreter {
    Interpreter {
        names,
        flags,
        values: "",
        scripts: "",
        code,
        long: ["", "", ""],
        long_scripts: "",
        operand: Operand::Script,
        language: Language::Other,
        endings: &[""],
    }
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        values: "oO",
        long: ["--login --norc --noprofile --posix", "", ""],
        language: Language::Shell,
        ..of_scripts("sh bash dash zsh ksh", "abefhlmnptuvxBCEHPT", "c")
    },
    Interpreter {
        values: "WX",
        language: Language::Python,
        ..of_scripts("python python3", "IEsSBuvOqbdP", "c")
    },
    Interpreter {
        long: [
            "--no-warnings --no-deprecation --trace-warnings --enable-source-maps \
             --experimental-strip-types",
            "",
            "",
        ],
        // The suffixes that `require` tries (Node's documentation, "Modules: CommonJS modules").
        endings: &["", ".js", ".json", ".node"],
        ..of_scripts("node", "", "ep")
    },
    Interpreter {
        long: ["-noprofile -noninteractive -nologo", "-executionpolicy", ""],
        long_scripts: "-file",
        endings: &["", ".ps1"],
        ..of_scripts("pwsh powershell", "", "")
    },
    of_scripts("fish", "nNP", "cC"),
    of_scripts("ruby", "wvdnpla", "e"),
    of_scripts("perl", "wWtTcnpla", "eE"),
    of_scripts("lua", "vEW", "e"),
    Interpreter {
        scripts: "f",
        ..of_scripts("php", "nqC", "rRBE")
    },
    Interpreter {
        values: "Fv",
        scripts: "f",
        operand: Operand::Code,
        language: Language::Awk,
        endings: &["", ".awk"],
        ..of_scripts("awk gawk mawk nawk", "", "e")
    },
    Interpreter {
        values: "l",
        scripts: "f",
        long: [
            "--quiet --silent --regexp-extended --posix --sandbox",
            "",
            "",
        ],
        operand: Operand::Code,
        language: Language::Sed,
        ..of_scripts("sed", "nErsuz", "e")
    },
    Interpreter {
        scripts: "f",
        long: [
            "--exit-status --raw-output --compact-output --null-input --slurp --sort-keys \
             --raw-input --join-output --unbuffered --stream --seq --tab --args --jsonargs",
            "--indent",
            "--arg --argjson --slurpfile --rawfile",
        ],
        long_scripts: "--from-file",
        operand: Operand::Code,
        language: Language::Jq,
        ..of_scripts("jq", "ercnsSRjaCMhV", "")
    },
];

pub(super) fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    // `python3.12`, `lua5.4`.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = if ["python", "lua"].contains(&plain) {
        plain
    } else {
        name
    };
    INTERPRETERS.iter().find(|it| has(it.names, name))
}

fn has(list: &str, name: &str) -> bool {
    list.split(' ')
        .any(|known| known.eq_ignore_ascii_case(name))
}

impl Interpreter {
    /// Whether an option has this flag, and not as part of a value.
    pub(super) fn has_flag(&self, option: &str, flag: char) -> bool {
        let letters = option[1..].chars();
        let mut flags = letters.take_while(|letter| self.flags.contains(*letter));
        !option.starts_with("--") && flags.any(|letter| letter == flag)
    }

    /// Returns the meaning of a word that begins with `-` or `+`.
    pub(super) fn option<'a>(&self, word: &'a str) -> Meaning<'a> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if let Some(values) = self.long.iter().position(|list| has(list, name)) {
            return Meaning::Values(if value.is_some() { 0 } else { values });
        }
        if has(self.long_scripts, name) {
            return match self.language {
                Language::Jq => Meaning::OperandIs(Operand::Script),
                _ => Meaning::Script(value),
            };
        }
        if word.starts_with("--") {
            return Meaning::Unknown;
        }
        self.cluster(&word[1..])
    }

    /// Reads several one-letter options behind one dash.
    fn cluster<'a>(&self, letters: &'a str) -> Meaning<'a> {
        let mut found = Meaning::Values(0);
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            let attached = Some(rest).filter(|rest| !rest.is_empty());
            if self.flags.contains(letter) {
                continue;
            }
            if self.language == Language::Shell && self.code.contains(letter) {
                found = Meaning::OperandIs(Operand::Code);
            } else if self.language == Language::Jq && self.scripts.contains(letter) {
                found = Meaning::OperandIs(Operand::Script);
            } else if self.code.contains(letter) {
                return Meaning::Code(attached);
            } else if self.scripts.contains(letter) {
                return Meaning::Script(attached);
            } else if self.values.contains(letter) && self.language != Language::Shell {
                return Meaning::Values(usize::from(attached.is_none()));
            } else if self.values.contains(letter)
                && attached.is_none()
                && found == Meaning::Values(0)
            {
                // `-euo pipefail`.
                return Meaning::Values(1);
            } else {
                return Meaning::Unknown;
            }
        }
        found
    }
}

impl Language {
    /// Whether code of this language certainly runs and loads nothing. False in doubt.
    pub(super) fn is_harmless(self, code: &str) -> bool {
        match self {
            Self::Jq => !has_name(code, "import") && !has_name(code, "include"),
            Self::Awk => {
                let running = ["system", "getline", "|", "@", ">", "<", "extension"];
                !running.iter().any(|word| code.contains(word))
            }
            Self::Sed => code.split([';', '\n']).all(is_harmless_sed),
            Self::Shell | Self::Python | Self::Other => false,
        }
    }
}

/// Whether this name occurs in the code as a word of its own, and not as a key.
fn has_name(code: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

/// Whether this is a sed command that runs and writes nothing: an address of numbers, and `p`, `d`, `q`, `=`,
/// or an `s` with harmless flags.
fn is_harmless_sed(command: &str) -> bool {
    let is_address = |c: char| c.is_ascii_digit() || ",$! \t".contains(c);
    let command = command.trim_start_matches(is_address).trim_end();
    if matches!(command, "" | "p" | "d" | "q" | "=") {
        return true;
    }
    let mut rest = command.chars();
    if rest.next() != Some('s') {
        return false;
    }
    let Some(delimiter) = rest.next() else {
        return false;
    };
    let mut parts = rest.as_str().split(delimiter);
    let flags = parts.nth(2);
    let is_plain = |flags: &str| flags.chars().all(|c| "gpiIm0123456789".contains(c));
    // An escaped delimiter would shift the position of the flags.
    let has_escapes = command.contains(&format!("\\{delimiter}"));
    !has_escapes && parts.next().is_none() && flags.is_some_and(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_by_each_grammar() {
        for (name, option, expected) in [
            ("bash", "-ec", Meaning::OperandIs(Operand::Code)),
            ("sh", "-e", Meaning::Values(0)),
            ("bash", "-o", Meaning::Values(1)),
            ("bash", "-euo", Meaning::Values(1)),
            ("bash", "-k", Meaning::Unknown),
            ("bash", "--rcfile", Meaning::Unknown),
            ("sh", "-s", Meaning::Unknown),
            ("python3.12", "-Iu", Meaning::Values(0)),
            ("python3", "-Ic", Meaning::Code(None)),
            ("python", "-m", Meaning::Unknown),
            ("node", "--require=x", Meaning::Unknown),
            ("node", "-e", Meaning::Code(None)),
            ("awk", "-fx.awk", Meaning::Script(Some("x.awk"))),
            ("awk", "-F:", Meaning::Values(0)),
            ("gawk", "-i", Meaning::Unknown),
            ("sed", "-n", Meaning::Values(0)),
            ("sed", "-ne", Meaning::Code(None)),
            ("jq", "-rf", Meaning::OperandIs(Operand::Script)),
            ("jq", "--arg", Meaning::Values(2)),
            ("jq", "-L", Meaning::Unknown),
            ("perl", "-ne", Meaning::Code(None)),
            ("pwsh", "-NoProfile", Meaning::Values(0)),
            ("pwsh", "-File", Meaning::Script(None)),
            ("pwsh", "-Command", Meaning::Unknown),
        ] {
            let found = interpreter(name).unwrap().option(option);
            assert_eq!(found, expected, "{name} {option}");
        }
        assert!(interpreter("make").is_none() && interpreter("pythonic").is_none());
    }

    #[test]
    fn code_that_may_run_something_is_told_from_code_that_does_not() {
        for (language, code, harmless) in [
            (Language::Jq, ".x", true),
            (Language::Jq, ".include_path, .import", true),
            (Language::Jq, "import \"a\" as a; .", false),
            (Language::Awk, "{print $1}", true),
            (Language::Awk, "{system(\"./x\")}", false),
            (Language::Awk, "{\"./x\" | getline}", false),
            (Language::Sed, "s/a/b/g; 1,$p", true),
            (Language::Sed, "s/a/b/e", false),
            (Language::Sed, "1e ./x", false),
            (Language::Sed, "s/a\\/b/g/e", false),
            (Language::Python, "1", false),
        ] {
            assert_eq!(language.is_harmless(code), harmless, "{code}");
        }
    }
}
