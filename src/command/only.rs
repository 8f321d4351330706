//! The condition `runs_only`: each command of a text is in a list. An answer that allows may stand behind it.
//!
//! Its reading is its own, and so small that every shell agrees with it. What it does not read is unknown, never covered.

use super::glob::Glob;
use super::run::one_line;
use super::runs::Answer;
use super::tables::{is_shell, runs};
use crate::printable::printable;

/// The commands of a list.
#[derive(Debug, Clone)]
pub(crate) struct Only(Vec<Allowed>);

/// A command that may run: a program and its words, one after the other.
#[derive(Debug, Clone)]
struct Allowed {
    text: String,
    programs: Vec<String>,
    /// The alternatives of each word.
    words: Vec<Vec<Word>>,
    /// True if one or more words may follow.
    has_more: bool,
}

#[derive(Debug, Clone)]
struct Word {
    glob: Glob,
    has_star: bool,
    /// True if it is a path in a directory, as `src/*` and `*.md` are: then it does not lead out of that.
    is_inside: bool,
}

/// The words of the languages of shells that stand in the place of a program: what follows them may be a command.
const KEYWORDS: [&str; 28] = [
    "!",
    "{",
    "}",
    "-",
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "foreach",
    "while",
    "until",
    "repeat",
    "select",
    "do",
    "done",
    "case",
    "switch",
    "esac",
    "in",
    "function",
    "time",
    "coproc",
    "begin",
    "end",
    "nocorrect",
    "noglob",
];

impl Only {
    /// Reads the patterns. The error says what cannot be meant.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let allowed: Result<Vec<_>, String> = patterns.into_iter().map(allowed).collect();
        Ok(Self(allowed?))
    }

    /// Returns whether each command of a text is in the list.
    pub(crate) fn covers(&self, text: &str) -> Answer {
        let commands = match commands(text) {
            Ok(commands) => commands,
            Err(reason) => return Answer::Unknown(reason),
        };
        let mut first = None;
        for command in commands {
            let mut allowed = self.0.iter();
            let Some(allowed) = allowed.find(|allowed| allowed.covers(&command)) else {
                return Answer::No;
            };
            first.get_or_insert_with(|| Answer::Yes {
                pattern: allowed.text.clone(),
                command: one_line(&command.join(" ")),
            });
        }
        first.unwrap_or_else(|| Answer::Unknown("the text has no command".to_owned()))
    }
}

fn allowed(text: &str) -> Result<Allowed, String> {
    let mut words = text.split_whitespace();
    let Some(program) = words.next() else {
        return Err("a pattern must begin with a program: `git status`".to_owned());
    };
    check_program(program)?;
    let mut words: Vec<_> = words.collect();
    let has_more = words.pop_if(|word| *word == "*").is_some();
    let words: Result<Vec<_>, String> = words.into_iter().map(alternatives).collect();
    let allowed = Allowed {
        text: text.to_owned(),
        programs: program.split('|').map(str::to_owned).collect(),
        words: words?,
        has_more,
    };
    match allowed.programs.iter().find(|name| has_effect(name)) {
        Some(name) if allowed.is_open() => Err(format!(
            "`{name}` runs or sets what its words say: name each of them in `runs_only`, without `*`"
        )),
        _ => Ok(allowed),
    }
}

/// Returns whether a program runs its words, reads them as a program, or changes the shell.
fn has_effect(program: &str) -> bool {
    const OF_SHELLS: [&str; 15] = [
        "eval", "source", "trap", "alias", "export", "declare", "typeset", "local", "readonly",
        "read", "unset", "let", "set", "enable", "hash",
    ];
    const LANGUAGES: [&str; 12] = [
        "sed", "awk", "gawk", "mawk", "perl", "python", "python3", "ruby", "node", "php", "lua",
        "ssh",
    ];
    is_shell(program)
        || runs(program).is_some()
        || OF_SHELLS.contains(&program)
        || LANGUAGES.contains(&program)
}

fn check_program(program: &str) -> Result<(), String> {
    for name in program.split('|') {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
        let is_plain = name.chars().all(is_of_name) && !name.starts_with(['-', '.', '+']);
        if name.is_empty() || !is_plain {
            return Err(format!(
                "`{name}` is not the plain name of a program, which `runs_only` needs: write `git status`"
            ));
        }
        if is_keyword(name) {
            return Err(format!(
                "`{name}` is of the language of shells, and `runs_only` reads only plain commands: write those that may run"
            ));
        }
        if matches!(name, "cd" | "pushd" | "popd") {
            return Err(format!(
                "`{name}` is never covered by `runs_only`: what the next commands do would depend on the directory"
            ));
        }
    }
    Ok(())
}

/// Returns whether a word in the place of a program is of the language of some shell.
fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || matches!(word, "and" | "or" | "not")
}

/// Checks that a word of a pattern can be one of a text.
fn check_readable(word: &str) -> Result<(), String> {
    let why = check(word).err().or_else(|| {
        let plain = word.replace("[*]", "").replace('*', "");
        let other = plain.chars().find(|c| !is_read(*c))?;
        Some(format!("`runs_only` does not read `{other}`"))
    });
    why.map_or(Ok(()), |why| {
        Err(format!(
            "`{word}` cannot match: {why}; for a word in single quotes write `*`"
        ))
    })
}

/// Reads a word of a pattern.
fn alternatives(word: &str) -> Result<Vec<Word>, String> {
    if word.starts_with('!') || word.split('|').any(str::is_empty) {
        return Err(format!(
            "`{word}` has no meaning in `runs_only`: a pattern names each word and option that may be there"
        ));
    }
    let each = word.split('|').map(|word| {
        check_readable(word)?;
        let glob = Glob::new(word).ok_or_else(|| format!("`{word}` has more than 100 characters"))?;
        let has_star = word.replace("[*]", "").contains('*');
        if has_star && word.starts_with('-') {
            return Err(format!(
                "`{word}` is not an option in full: in `runs_only` an option stands for itself, without `*` and `=..`"
            ));
        }
        Ok(Word {
            glob,
            has_star,
            is_inside: has_star && word != "*" && !word.starts_with('/'),
        })
    });
    each.collect()
}

impl Allowed {
    /// Returns whether a word of it stands for others.
    fn is_open(&self) -> bool {
        self.has_more || self.words.iter().flatten().any(|word| word.has_star)
    }

    fn covers(&self, command: &[String]) -> bool {
        let Some((program, words)) = command.split_first() else {
            return false;
        };
        let Some((named, more)) = words.split_at_checked(self.words.len()) else {
            return false;
        };
        let mut pairs = self.words.iter().zip(named);
        self.programs.contains(program)
            && pairs.all(|(alternatives, word)| alternatives.iter().any(|own| own.is(word)))
            && self.has_more != more.is_empty()
            && more.iter().all(|word| is_plain(word))
    }
}

impl Word {
    fn is(&self, word: &str) -> bool {
        let leads_out = || word.starts_with('/') || word.split('/').any(|part| part == "..");
        self.glob.is(word) && (!self.has_star || is_plain(word)) && !(self.is_inside && leads_out())
    }
}

/// Returns whether `*` stands for a word: for none that a program may take for an option, a file of options, or a setting.
fn is_plain(word: &str) -> bool {
    let is_marked = word.starts_with(['-', '+', '@']) && word != "-";
    let name = word.split('/').next().unwrap_or("");
    !is_marked && !name.contains('=')
}

/// Splits a text into commands. The error says what is not read.
fn commands(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut commands = Vec::new();
    let mut command = Vec::new();
    let mut rest = text;
    // A command must follow `&&`, `||` and `|`.
    let mut is_open = false;
    while let Some(c) = rest.chars().next() {
        if let Some((length, needs_more)) = separator(rest) {
            let is_empty = command.is_empty();
            let is_blank_line = c == '\n' && !(is_open && needs_more);
            if is_empty && !is_blank_line {
                return Err("an operator has no command before it".to_owned());
            }
            if !is_empty {
                commands.push(std::mem::take(&mut command));
                is_open = needs_more;
            }
            rest = &rest[length..];
        } else if matches!(c, ' ' | '\t') {
            rest = &rest[1..];
        } else {
            let (word, behind) = word(rest)?;
            check_place(word.as_deref(), command.is_empty())?;
            command.extend(word);
            rest = behind;
            is_open = false;
        }
    }
    if is_open {
        return Err("an operator has no command behind it".to_owned());
    }
    if !command.is_empty() {
        commands.push(command);
    }
    Ok(commands)
}

/// Checks a word, or a redirection without one, in the place of a program.
fn check_place(word: Option<&str>, is_first: bool) -> Result<(), String> {
    match word {
        // zsh runs a program for it, and fish does not read it.
        None if is_first => Err("a redirection has no command before it".to_owned()),
        Some(word) if is_first && is_keyword(word) => {
            Err(format!("`{word}` is of the language of shells"))
        }
        _ => Ok(()),
    }
}

/// Returns the length of the operator or line end with which a text begins, and whether a command must follow.
fn separator(text: &str) -> Option<(usize, bool)> {
    let has = |operator| text.starts_with(operator);
    match () {
        () if has("&&") || has("||") => Some((2, true)),
        () if has(";") || has("\n") => Some((1, false)),
        () if has("|") && !has("|&") => Some((1, true)),
        () => None,
    }
}

/// Reads a word, or a redirection that changes no file. Returns what is behind it.
fn word(text: &str) -> Result<(Option<String>, &str), String> {
    let (word, rest) = if let Some(quoted) = text.strip_prefix('\'') {
        let (word, rest) = quoted
            .split_once('\'')
            .ok_or_else(|| "a quote does not end".to_owned())?;
        // It keeps a quote from ending in fish.
        if word.contains('\\') {
            return Err("`\\` in quotes is not read by `runs_only`".to_owned());
        }
        // PowerShell ends it with such a quote.
        if word.contains(['\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}']) {
            return Err("a curly quote is not read by `runs_only`".to_owned());
        }
        // `test`, `printf` and others run what is in an index.
        if word.contains('[') && word.contains(['$', '`']) {
            return Err("an index with a substitution is not read by `runs_only`".to_owned());
        }
        (Some(word.to_owned()), rest)
    } else if let Some(rest) = without_effect(text) {
        (None, rest)
    } else {
        let length = text.find(|c| !is_read(c)).unwrap_or(text.len());
        (Some(text[..length].to_owned()), &text[length..])
    };
    let is_ended = rest.is_empty() || rest.starts_with([' ', '\t']) || separator(rest).is_some();
    if let Some(word) = &word {
        check(word)?;
    }
    match rest.chars().next().filter(|_| !is_ended) {
        None => Ok((word, rest)),
        Some(c) => Err(format!(
            "`{}` is not read by `runs_only`",
            printable(&c.to_string())
        )),
    }
}

fn check(word: &str) -> Result<(), String> {
    if word.starts_with(['=', '%']) {
        return Err(
            "in some shells a word that begins with `=` or `%` is a path or a process".to_owned(),
        );
    }
    if word.contains(|c: char| c.is_control() && c != '\n') {
        return Err("a word has a control character".to_owned());
    }
    Ok(())
}

fn without_effect(text: &str) -> Option<&str> {
    let mut redirections = ["2>&1", ">/dev/null", "2>/dev/null"].into_iter();
    redirections.find_map(|redirection| text.strip_prefix(redirection))
}

/// The characters that mean themselves in every shell.
fn is_read(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./,:+%@=".contains(c)
}
