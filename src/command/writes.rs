//! The files that commands write: redirections, and the targets of a short table of programs.
//!
//! The names of targets are those of the words; which directory a name leads to is not looked up.

use super::expand::{ANY, Arg, FILE_OF_COMMANDS};
use super::fit::{Role, roles};
use super::read::{Commands, Run};
use super::runs::{Path, path};
use super::starts::{arguments, program};
use super::tables::letters_with_value;

impl Commands {
    /// Returns the files that the text writes, with the command of each.
    pub(crate) fn written(&self) -> impl Iterator<Item = Target<'_>> {
        self.runs.iter().flat_map(|run| {
            let paths = targets(run);
            paths.into_iter().map(move |path| Target { run, path })
        })
    }
}

/// A file that is written.
pub(crate) struct Target<'a> {
    run: &'a Run,
    pub(crate) path: Path,
}

impl Target<'_> {
    /// Returns the command that writes it, in one line.
    pub(crate) fn command(&self) -> String {
        self.run.part()
    }
}

/// The words of a program that writes files.
struct Writer<'a> {
    run: &'a Run,
    words: &'a [Arg],
    roles: Vec<Role>,
    /// The short options that take a value.
    letters: &'static str,
    paths: Vec<Path>,
}

fn targets(run: &Run) -> Vec<Path> {
    let mut paths = Vec::new();
    for word in &run.writes {
        let values = word.values.iter();
        paths.extend(values.map(|value| path(run, word, value)));
    }
    for place in &run.starts.places {
        let Some(program) = program(&run.words, *place) else {
            continue;
        };
        let words = arguments(&run.words, *place);
        let letters = letters_with_value(program);
        let mut writer = Writer {
            run,
            words,
            roles: roles(words, letters),
            letters,
            paths: Vec::new(),
        };
        writer.add_targets(program);
        paths.append(&mut writer.paths);
    }
    let reads =
        |path: &Path| matches!(path, Path::Known(path) if path.starts_with(FILE_OF_COMMANDS));
    paths.retain(|path| !reads(path));
    paths
}

impl<'a> Writer<'a> {
    fn add_targets(&mut self, program: &str) {
        match program {
            // Each word is written or removed.
            "tee" | "touch" | "rm" | "rmdir" | "unlink" | "truncate" | "shred" => {
                self.add_all(&self.operands());
            }
            // The last word, or a file in it. `mv` removes the others, and who writes through a link writes its source.
            "cp" | "install" | "rsync" | "scp" => self.add_copies(),
            "mv" | "ln" => {
                self.add_copies();
                self.add_all(&self.operands());
            }
            "sed" | "perl" | "ruby" if self.edits_in_place() => self.add_edited(program),
            "dd" => self.add_values("of", &self.operands()),
            "curl" => self.add_option(&["-o", "--output"]),
            "wget" => self.add_option(&["-O", "--output-document"]),
            "sort" => self.add_option(&["-o", "--output"]),
            "git" => self.add_checked_out(),
            _ => {}
        }
    }

    /// The words that are neither options nor values of options.
    fn operands(&self) -> Vec<&'a Arg> {
        let words = self.words.iter().zip(&self.roles);
        let operands = words.filter(|(_, role)| matches!(role, Role::Word | Role::Behind));
        operands.map(|(word, _)| word).collect()
    }

    fn add(&mut self, word: &Arg, value: &str) {
        if !value.is_empty() {
            self.paths.push(path(self.run, word, value));
        }
    }

    fn add_all(&mut self, words: &[&Arg]) {
        for word in words {
            for value in &word.values {
                self.add(word, value);
            }
        }
    }

    /// Adds the values in `of=file`.
    fn add_values(&mut self, name: &str, words: &[&Arg]) {
        for word in words {
            for value in &word.values {
                if let Some((own, file)) = value.split_once('=')
                    && own == name
                {
                    self.add(word, file);
                }
            }
        }
    }

    /// Adds the values of an option: `-o x`, `-ox`, `--output x`, `--output=x`.
    fn add_option(&mut self, names: &[&str]) {
        for (word, value) in self.values_of_option(names) {
            self.add(word, &value);
        }
    }

    fn values_of_option(&self, names: &[&str]) -> Vec<(&'a Arg, String)> {
        let mut values = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            if self.roles[index] != Role::Option {
                continue;
            }
            for name in names {
                match attached(word.text(), name, self.letters) {
                    Some("") => {
                        let next = self.words.get(index + 1);
                        values.extend(next.map(|next| (next, next.text().to_owned())));
                    }
                    Some(value) => values.push((word, value.to_owned())),
                    None => {}
                }
            }
        }
        values
    }

    /// Adds the target of `cp` and its kin: the last word or the value of `-t`, and the names of the sources in it.
    fn add_copies(&mut self) {
        let operands = self.operands();
        let directories = self.values_of_option(&["-t", "--target-directory"]);
        if let Some((word, directory)) = directories.first() {
            self.add_into(word, directory, &operands);
        } else if let Some((target, sources)) = operands.split_last() {
            for value in &target.values {
                self.add_into(target, value, sources);
            }
        }
    }

    fn add_into(&mut self, word: &Arg, directory: &str, sources: &[&Arg]) {
        self.add(word, directory);
        let name = directory.rsplit('/').next().unwrap_or("");
        let is_file = name.contains('.') && !matches!(name, "." | "..");
        if is_file {
            return;
        }
        for value in sources.iter().flat_map(|source| &source.values) {
            // `rsync a/ b` copies what is in it.
            let name = value.rsplit('/').next().unwrap_or("");
            if !name.is_empty() && !name.contains(ANY) {
                self.add(word, &format!("{}/{name}", directory.trim_end_matches('/')));
            }
        }
    }

    fn edits_in_place(&self) -> bool {
        let options = self.words.iter().zip(&self.roles);
        let mut options = options.filter(|(_, role)| **role == Role::Option);
        options.any(|(word, _)| {
            let text = word.text();
            let is_cluster = !text.starts_with("--");
            let letters = text.chars().skip(1).take_while(char::is_ascii_alphabetic);
            text.starts_with("--in-place") || is_cluster && letters.into_iter().any(|c| c == 'i')
        })
    }

    /// Adds the files that are edited. The first word of `sed` is the script, unless an option has it.
    fn add_edited(&mut self, program: &str) {
        let is_script = |word: &Arg| {
            let text = word.text();
            text.starts_with("-e") || text.starts_with("-f") || text.starts_with("--expression")
        };
        let has_script = self.words.iter().any(is_script);
        // `sed -i '' s/a/b/ x`, as on macOS.
        let mut operands = self.operands();
        operands.retain(|word| !word.text().is_empty());
        let skipped = usize::from(program == "sed" && !has_script);
        self.add_all(operands.get(skipped..).unwrap_or(&[]));
    }

    /// Adds what `git checkout`, `restore`, `rm` and `mv` replace.
    fn add_checked_out(&mut self) {
        let operands = self.operands();
        let is_subcommand =
            |word: &&Arg| matches!(word.known(), Some("checkout" | "restore" | "rm" | "mv"));
        if let Some(place) = operands.iter().position(is_subcommand) {
            self.add_all(&operands[place + 1..]);
        }
    }
}

/// Returns the value behind the name of an option in the same word, empty if it is the next word.
fn attached<'a>(text: &'a str, name: &str, letters: &str) -> Option<&'a str> {
    if name.starts_with("--") {
        let rest = text.strip_prefix(name)?;
        return if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix('=')
        };
    }
    let cluster = text.strip_prefix('-')?;
    let end = cluster.find(|c| letters.contains(c) || c == '-')?;
    cluster[end..].strip_prefix(&name[1..])
}
