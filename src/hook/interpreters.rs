//! Programs that run a file which they are given, whatever it is called, and what their options mean. A new one is a row.

/// A program that runs a file.
pub(crate) struct Interpreter {
    names: &'static [&'static str],
    /// Options without a value, as letters that may stand together.
    flags: &'static str,
    /// Other options without a value. All that begin with `--no` are.
    long_flags: &'static [&'static str],
    /// Options whose next word is a value.
    values: &'static [&'static str],
    /// Options and commands whose next word is a program.
    programs: &'static [&'static str],
    /// First words that are commands of its own.
    commands: &'static [&'static str],
    /// The option whose value is the name of a module.
    module: Option<&'static str>,
    /// The option with which it reads its program from standard input, although words follow.
    from_input: &'static str,
    /// It runs only the values of its options.
    only_values: bool,
}

const NONE: Interpreter = Interpreter {
    names: &[],
    flags: "",
    long_flags: &[],
    values: &[],
    programs: &[],
    commands: &[],
    module: None,
    from_input: "-",
    only_values: false,
};

const INTERPRETERS: [Interpreter; 13] = [
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
            "rbash",
            "mksh",
            "yash",
            "posh",
            "osh",
            "nu",
            "elvish",
            "xonsh",
            "pwsh",
            "powershell",
        ],
        flags: "abefhiklmnpstuvxBCEHPT",
        long_flags: &["--login", "--posix", "--restricted", "--verbose"],
        values: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        programs: &["-c", "-Command", "-EncodedCommand"],
        from_input: "-s",
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
        flags: "ci",
        long_flags: &["--check", "--enable-source-maps", "--inspect", "--test"],
        values: &["-r", "--require", "--import", "--loader", "--env-file"],
        programs: &["-e", "-p", "--eval", "--print"],
        ..NONE
    },
    Interpreter {
        names: &["bun", "deno"],
        flags: "Aq",
        long_flags: &["--allow-all", "--quiet"],
        values: &["-r", "--preload", "--config", "--import-map"],
        programs: &["-e", "-p", "--eval", "--print", "eval"],
        commands: &["run", "test", "x", "serve", "bench"],
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
        values: &["-I", "-M", "-m"],
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
        flags: "bcCghLMnNOPrsStV",
        values: &["-f", "-E", "-i", "--file", "--exec", "--include"],
        only_values: true,
        ..NONE
    },
    Interpreter {
        names: &["sed", "gsed"],
        flags: "bEeinrsuz",
        values: &["-f", "--file"],
        only_values: true,
        ..NONE
    },
    Interpreter {
        names: &["jq"],
        flags: "aCcejMnRrSsV",
        values: &["-f", "--from-file", "-L"],
        only_values: true,
        ..NONE
    },
    Interpreter {
        names: &["make", "gmake"],
        flags: "bBdeikLmnpqrRsStvw",
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

/// Whether a word means standard input.
pub(super) fn is_input(word: &str) -> bool {
    matches!(word, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// What a word behind an interpreter is.
pub(super) enum Meaning<'a> {
    File,
    /// An option without a value.
    Flag,
    /// The program comes from standard input.
    Input,
    /// The next word is a program.
    Program,
    /// An option, with its value if that stands in the same word.
    Value(Option<&'a str>),
    Module(Option<&'a str>),
    /// Of the words behind it, the first may be its value, or its file.
    Unknown,
}

impl Interpreter {
    /// Whether it runs the first file behind it.
    pub(crate) fn runs_first_file(&self) -> bool {
        !self.only_values
    }

    pub(super) fn meaning<'a>(&self, word: &'a str) -> Meaning<'a> {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        if is_input(word) && !self.only_values {
            return Meaning::Input;
        }
        if self.programs.contains(&option) {
            return Meaning::Program;
        }
        if self.values.contains(&option) {
            return Meaning::Value(value);
        }
        match word.starts_with(['-', '+']) {
            false if self.commands.contains(&word) => Meaning::Unknown,
            false if self.only_values => Meaning::Flag,
            false => Meaning::File,
            true if word.starts_with("--") => self.long(option, value),
            true => self.letters(word),
        }
    }

    fn long<'a>(&self, option: &str, value: Option<&'a str>) -> Meaning<'a> {
        let is_flag = option == "--" || option.starts_with("--no");
        match value {
            Some(value) => Meaning::Value(Some(value)),
            None if is_flag || self.long_flags.contains(&option) => Meaning::Flag,
            None => Meaning::Unknown,
        }
    }

    /// Reads options that stand together, as in `bash -euc '..'`, `-r./pre`, `make -sf rules`.
    fn letters<'a>(&self, word: &'a str) -> Meaning<'a> {
        let sign = &word[..1];
        for (at, letter) in word.char_indices().skip(1) {
            let behind = at + letter.len_utf8();
            let rest = Some(&word[behind..]).filter(|rest| !rest.is_empty());
            let option = format!("{sign}{letter}");
            if self.from_input == option {
                return Meaning::Input;
            }
            if self.programs.contains(&&*option) {
                return Meaning::Program;
            }
            if self.module == Some(&option) {
                return Meaning::Module(rest);
            }
            if self.values.contains(&&*option) {
                return Meaning::Value(rest);
            }
            if !self.flags.contains(letter) {
                return Meaning::Unknown;
            }
        }
        Meaning::Flag
    }
}
