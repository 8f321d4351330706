//! Reads the patterns of `runs`: `git push -f|--force !--dry-run`, `curl|wget | sh|bash`.
//!
//! A pattern that cannot be meant is an error with the right form. Knows no commands.

use super::glob::Glob;
use super::tables::base_name;

/// A pattern of a command.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(super) text: String,
    pub(super) command: Side,
    /// The command that reads what the first one writes.
    pub(super) reader: Option<Side>,
}

/// One side of a bar.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) programs: Vec<Glob>,
    pub(super) parts: Vec<Part>,
    /// The command has none of these.
    pub(super) without: Vec<Opt>,
}

/// A word of a pattern. One of its alternatives must be there.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Options(Vec<Opt>),
    /// The bare word directly behind the program.
    Subcommand(Vec<Glob>),
    Word(Vec<Glob>),
}

#[derive(Debug, Clone)]
pub(super) enum Opt {
    /// Each of these letters, as in `-rf`.
    Letters(String),
    /// `--force`, `--data*`
    Long { name: String, glob: Glob },
    /// A word behind one dash: `-exec`.
    Single(String),
}

/// The most letters of a cluster: a longer word is one option.
const LONGEST_CLUSTER: usize = 3;

impl Pattern {
    /// Reads a pattern. The error says what cannot be meant, and the right form.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split_whitespace().collect();
        let mut sides = words.split(|word| *word == "|");
        let command = side(sides.next().unwrap_or(&[]))?;
        let reader = sides.next().map(side).transpose()?;
        if sides.next().is_some() {
            return Err(format!(
                "`{text}` has two bars; write the first and the last program"
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            command,
            reader,
        })
    }
}

fn side(words: &[&str]) -> Result<Side, String> {
    let Some((program, rest)) = words.split_first() else {
        return Err("a pattern must begin with a program: `git push -f`, `curl | sh`".to_owned());
    };
    check_program(program, rest)?;
    let mut side = Side {
        programs: globs(program)?,
        parts: Vec::new(),
        without: Vec::new(),
    };
    for (index, word) in rest.iter().enumerate() {
        check_word(word, rest.get(index + 1))?;
        if index == 0 {
            check_second(word)?;
        }
        if let Some(excluded) = word.strip_prefix('!') {
            side.without.extend(options(excluded)?);
        } else if is_option(word) {
            side.parts.push(Part::Options(options(word)?));
        } else if *word != "--" {
            let is_subcommand = index == 0 && word.chars().all(is_of_bare_word);
            let globs = globs(word)?;
            side.parts.push(if is_subcommand {
                Part::Subcommand(globs)
            } else {
                Part::Word(globs)
            });
        }
    }
    Ok(side)
}

fn is_of_bare_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '-' | '|')
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

fn check_program(program: &str, rest: &[&str]) -> Result<(), String> {
    if let Some(name) = program.strip_prefix('!') {
        let names = std::iter::once(&name).chain(rest).copied();
        let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
        return Err(format!(
            "`{program}` is not a program; for each command but these write {{\"not\": {{\"runs_only\": \"{}\"}}}}",
            names.join(" ")
        ));
    }
    if program.starts_with('-') {
        return Err(format!(
            "`{program}` is an option, and a pattern must begin with a program: `git push -f|--force`, with no blanks around the bar"
        ));
    }
    check_word(program, None)?;
    if program.contains('=') {
        return Err(format!(
            "`{program}` is a variable; leave `{program}` out: a program is found behind any variables"
        ));
    }
    let with_extension = |name: &&str| base_name(name) != name.rsplit('/').next().unwrap_or("");
    if let Some(name) = program.split('|').find(with_extension) {
        let plain = base_name(name);
        return Err(format!(
            "`{name}` has an extension of Windows; write `{plain}`, which matches both"
        ));
    }
    let name = program.rsplit('/').next().unwrap_or("");
    if program.contains('/') && !name.is_empty() {
        return Err(format!(
            "`{program}` has a directory; write `{name}`, which matches the program in each directory"
        ));
    }
    Ok(())
}

/// Finds what a word cannot mean. `next` is the word behind it.
fn check_word(word: &str, next: Option<&&str>) -> Result<(), String> {
    const OF_SHELLS: &str = "\"'`\\;&<>()$“”‘’";
    if let Some(c) = word.chars().find(|c| OF_SHELLS.contains(*c)) {
        return Err(format!(
            "`{word}` has `{c}`, which is of the language of shells; write the words as the program gets them, without quotes"
        ));
    }
    if let Some(option) = word.split('|').find_map(with_other_dash) {
        return Err(format!(
            "`{word}` begins with a dash that is not `-`; write `{option}`"
        ));
    }
    if word.split('|').any(str::is_empty) {
        return Err(format!(
            "`{word}` has an empty alternative; write `-f|--force`, with no blanks around the bar"
        ));
    }
    let is_split = word.trim_start_matches('!') == "-" && next.is_some();
    if is_split || word.starts_with('=') {
        let whole = next.map_or(word.to_owned(), |next| format!("{word}{next}"));
        return Err(format!(
            "there is a blank in an option: write `{whole}` without it"
        ));
    }
    Ok(())
}

/// Returns the option that an author meant by a dash as word processors make them of `-` and `--`.
fn with_other_dash(word: &str) -> Option<String> {
    const DASHES: [char; 6] = ['‐', '‑', '‒', '–', '—', '−'];
    let letters = word.trim_start_matches('!').strip_prefix(DASHES)?;
    let letters = letters.trim_start_matches(DASHES);
    let is_cluster = letters.chars().count() <= LONGEST_CLUSTER;
    Some(format!("{}{letters}", if is_cluster { "-" } else { "--" }))
}

fn check_second(word: &str) -> Result<(), String> {
    match word
        .split('|')
        .find(|name| matches!(*name, "sudo" | "doas"))
    {
        Some(name) => Err(format!(
            "`{name}` cannot stand behind a program, since what it runs is found as a command; write `{name}` as a pattern of its own"
        )),
        None => Ok(()),
    }
}

fn globs(word: &str) -> Result<Vec<Glob>, String> {
    let globs = word.split('|').map(|alternative| {
        Glob::new(alternative)
            .ok_or_else(|| format!("`{alternative}` has more than 100 characters"))
    });
    globs.collect()
}

fn options(word: &str) -> Result<Vec<Opt>, String> {
    word.split('|').map(option).collect()
}

fn option(word: &str) -> Result<Opt, String> {
    if !is_option(word) {
        return Err(format!(
            "`{word}` is not an option, unlike its alternatives; write `-{word}` or `--{word}`, or two patterns"
        ));
    }
    if word.starts_with("--") {
        let glob = Glob::new(word);
        let glob = glob.ok_or_else(|| format!("`{word}` has more than 100 characters"))?;
        return Ok(Opt::Long {
            name: word.to_owned(),
            glob,
        });
    }
    let letters = &word[1..];
    if letters.contains('*') {
        let plain = word.replace('*', "");
        return Err(format!(
            "`{word}` needs no `*`: options are found in any order, and together with others; write `{plain}`"
        ));
    }
    let is_cluster = letters.chars().all(char::is_alphanumeric);
    Ok(
        if is_cluster && letters.chars().count() <= LONGEST_CLUSTER {
            Opt::Letters(letters.to_owned())
        } else {
            Opt::Single(word.to_owned())
        },
    )
}
