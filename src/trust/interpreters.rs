//! Interpreters: which of their words is a script, and which is code.
//!
//! A closed world: an option that is not in the table may mean anything. Knows no file system.

/// How an interpreter reads its arguments.
pub(super) struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with a value that is only a value.
    values: &'static str,
    /// Letters of options whose value is a script.
    scripts: &'static str,
    /// Letters of options whose value is code.
    code: &'static str,
    /// Options of several letters, with how many values each has.
    long: &'static [(&'static str, usize)],
    /// Options of several letters whose value is a script.
    long_scripts: &'static [&'static str],
    /// What the first operand is, where no option has given a script or code.
    pub(super) operand: Operand,
    pub(super) language: Language,
    /// What is tried behind the name of a script.
    pub(super) endings: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Script,
    Code,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Of a POSIX shell; its `-c` makes the first operand code.
    Shell,
    Awk,
    Sed,
    Jq,
    Python,
    /// Code is not read.
    Other,
}

/// What an option of an interpreter asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// Nothing to run, and so many of the words behind it belong to it.
    Values(usize),
    /// A script: this one, or the next word.
    Script(Option<&'a str>),
    /// Code: this, or the next word.
    Code(Option<&'a str>),
    /// The first operand is this.
    OperandIs(Operand),
    Unknown,
}

const SHELLS: Interpreter = Interpreter {
    names: &["sh", "bash", "dash", "zsh", "ksh"],
    flags: "abefhklmnptuvxBCEHPT",
    values: "oO",
    scripts: "",
    code: "c",
    long: &[
        ("--login", 0),
        ("--norc", 0),
        ("--noprofile", 0),
        ("--posix", 0),
    ],
    long_scripts: &[],
    operand: Operand::Script,
    language: Language::Shell,
    endings: &[""],
};

const INTERPRETERS: &[Interpreter] = &[
    SHELLS,
    Interpreter {
        names: &["fish"],
        flags: "nNP",
        code: "cC",
        values: "",
        long: &[("--no-config", 0)],
        language: Language::Other,
        ..SHELLS
    },
    Interpreter {
        names: &["python", "python3"],
        flags: "IEsSBuvOqbdP",
        values: "WX",
        long: &[],
        language: Language::Python,
        ..SHELLS
    },
    Interpreter {
        names: &["node"],
        flags: "",
        values: "",
        code: "ep",
        long: &[
            ("--no-warnings", 0),
            ("--no-deprecation", 0),
            ("--trace-warnings", 0),
            ("--enable-source-maps", 0),
            ("--experimental-strip-types", 0),
        ],
        language: Language::Other,
        // What `require` tries (Node's documentation, "Modules: CommonJS modules").
        endings: &["", ".js", ".json", ".node"],
        ..SHELLS
    },
    Interpreter {
        names: &["ruby"],
        flags: "wvdnpla",
        values: "",
        code: "e",
        long: &[],
        language: Language::Other,
        ..SHELLS
    },
    Interpreter {
        names: &["perl"],
        flags: "wWtTcnpla",
        values: "",
        code: "eE",
        long: &[],
        language: Language::Other,
        ..SHELLS
    },
    Interpreter {
        names: &["php"],
        flags: "nqC",
        values: "",
        scripts: "f",
        code: "rRBE",
        long: &[],
        language: Language::Other,
        ..SHELLS
    },
    Interpreter {
        names: &["lua"],
        flags: "vEW",
        values: "",
        code: "e",
        long: &[],
        language: Language::Other,
        ..SHELLS
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        flags: "",
        values: "Fv",
        scripts: "f",
        code: "e",
        long: &[],
        operand: Operand::Code,
        language: Language::Awk,
        endings: &["", ".awk"],
        ..SHELLS
    },
    Interpreter {
        names: &["sed"],
        flags: "nErsuz",
        values: "l",
        scripts: "f",
        code: "e",
        long: &[
            ("--quiet", 0),
            ("--silent", 0),
            ("--regexp-extended", 0),
            ("--posix", 0),
            ("--sandbox", 0),
        ],
        operand: Operand::Code,
        language: Language::Sed,
        ..SHELLS
    },
    Interpreter {
        names: &["jq"],
        flags: "ercnsSRjaCMhV",
        values: "",
        scripts: "f",
        code: "",
        long: &[
            ("--exit-status", 0),
            ("--raw-output", 0),
            ("--compact-output", 0),
            ("--null-input", 0),
            ("--slurp", 0),
            ("--sort-keys", 0),
            ("--raw-input", 0),
            ("--join-output", 0),
            ("--unbuffered", 0),
            ("--tab", 0),
            ("--args", 0),
            ("--jsonargs", 0),
            ("--indent", 1),
            ("--arg", 2),
            ("--argjson", 2),
            ("--slurpfile", 2),
            ("--rawfile", 2),
        ],
        long_scripts: &["--from-file"],
        operand: Operand::Code,
        language: Language::Jq,
        ..SHELLS
    },
    Interpreter {
        names: &["pwsh", "powershell"],
        flags: "",
        values: "",
        code: "",
        long: &[
            ("-noprofile", 0),
            ("-noninteractive", 0),
            ("-nologo", 0),
            ("-executionpolicy", 1),
        ],
        long_scripts: &["-file"],
        language: Language::Other,
        endings: &["", ".ps1"],
        ..SHELLS
    },
];

pub(super) fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let mut all = INTERPRETERS.iter();
    all.find(|it| {
        let is_version = |rest: &str| {
            let mut version = rest.chars();
            !rest.is_empty() && version.all(|c| c.is_ascii_digit() || c == '.')
        };
        let versioned = |known: &str| name.strip_prefix(known).is_some_and(is_version);
        // `python3.12`, `lua5.4`
        it.names.contains(&name)
            || ["python", "lua"].contains(&it.names[0]) && versioned(it.names[0])
    })
}

impl Interpreter {
    /// What a word that begins with `-` or `+` asks for.
    pub(super) fn option<'a>(&self, word: &'a str) -> Meaning<'a> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let is_name = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((_, values)) = self.long.iter().find(|(known, _)| is_name(known)) {
            return Meaning::Values(if value.is_some() { 0 } else { *values });
        }
        if self.long_scripts.iter().any(|known| is_name(known)) {
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

    /// Several letters behind one dash.
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
            } else if self.values.contains(letter) && letters.len() == 1 {
                return Meaning::Values(1);
            } else {
                return Meaning::Unknown;
            }
        }
        found
    }
}

impl Language {
    /// Whether code of this language that stands in a command runs and loads nothing, as far as that
    /// can be told; when in doubt, not.
    pub(super) fn is_harmless(self, code: &str) -> bool {
        match self {
            Self::Jq => !code.contains("import") && !code.contains("include"),
            Self::Awk => {
                let running = ["system", "getline", "|", "@", ">", "<", "extension"];
                !running.iter().any(|word| code.contains(word))
            }
            Self::Sed => code.split([';', '\n']).all(is_harmless_sed),
            Self::Shell | Self::Python | Self::Other => false,
        }
    }
}

/// One command of sed: an address of numbers, and `p`, `d`, `q`, `=` or an `s` whose flags run and
/// write nothing.
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
    // An escaped delimiter would move the flags.
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
