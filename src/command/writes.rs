//! The files that commands write: redirections, and the targets of a short table of programs.
//!
//! The names of targets are those of the words; which directory a name leads to is not looked up.

use super::expand::{ANY, Arg, FILE_OF_COMMANDS};
use super::found::found;
use super::options::{Options, Role};
use super::read::Commands;
use super::run::Run;
use super::runs::{Path, path};
use super::starts::{arguments, program};

impl Commands {
    /// Returns the files that the text writes, with the command of each.
    pub(crate) fn written(&self) -> impl Iterator<Item = Target<'_>> {
        self.runs.iter().flat_map(targets)
    }
}

/// A file that is written.
pub(crate) struct Target<'a> {
    run: &'a Run,
    pub(crate) path: Path,
    /// The path is in this directory, if that is one; else it is not written.
    pub(crate) directory: Option<Path>,
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
    program: usize,
    options: Options<'a>,
    targets: Vec<Target<'a>>,
}

fn targets(run: &Run) -> Vec<Target<'_>> {
    let mut targets = Vec::new();
    for word in &run.writes {
        targets.extend(word.values.iter().map(|value| Target {
            run,
            path: path(run, &run.shell_directory, word, value),
            directory: None,
        }));
    }
    for place in &run.starts.places {
        let Some(program) = program(&run.words, *place) else {
            continue;
        };
        let mut writer = Writer {
            run,
            program: *place,
            options: Options::new(program, arguments(&run.words, *place)),
            targets: Vec::new(),
        };
        writer.add_targets(program);
        targets.append(&mut writer.targets);
    }
    let is_pipe =
        |path: &Path| matches!(path, Path::Known(path) if path.starts_with(FILE_OF_COMMANDS));
    targets.retain(|target| !is_pipe(&target.path));
    targets
}

/// Returns the options of a program whose values are files that it writes.
fn output_options(program: &str) -> &'static [&'static str] {
    match program {
        "curl" | "sort" => &["-o", "--output"],
        "wget" => &["-O", "--output-document"],
        "openssl" => &["-out"],
        "unzip" => &["-d"],
        _ => &[],
    }
}

impl<'a> Writer<'a> {
    fn add_targets(&mut self, program: &str) {
        self.add_values(output_options(program));
        match program {
            // Each word is written or removed.
            "tee" | "touch" | "rm" | "rmdir" | "unlink" | "truncate" | "shred" | "sponge"
            | "ed" | "ex" | "gzip" | "gunzip" | "bzip2" | "xz" | "zstd" => self.add_operands(0),
            "patch" | "zip" => self.add_first(),
            // The last word, or a file in it. `mv` removes the others, and who writes through a link writes its source.
            "cp" | "install" | "rsync" | "scp" => self.add_copies(),
            "mv" | "ln" => {
                self.add_copies();
                self.add_operands(0);
            }
            // The first word of `sed` is the script, unless an option has it.
            "sed" if self.edits_in_place() => self.add_operands(usize::from(!self.has_script())),
            "perl" | "ruby" if self.has_letter('i') => self.add_operands(0),
            "yq" if self.edits_in_place() => self.add_operands(1),
            "awk" | "gawk" if self.edits_in_place() => self.add_operands(1),
            "sd" => self.add_operands(2),
            "dd" => self.add_output_of_dd(),
            "curl" if self.has_word("--remote-name") || self.has_letter('O') => {
                self.add_downloads();
            }
            "wget"
                if self
                    .options
                    .values_of(&["-O", "--output-document"])
                    .is_empty() =>
            {
                self.add_downloads();
            }
            "tar" => self.add_archive(),
            "git" => self.add_checked_out(),
            "find" if self.has_word("-delete") => self.add_removed_by_find(),
            _ => {}
        }
    }

    /// Adds what `find` removes.
    fn add_removed_by_find(&mut self) {
        for word in found(&self.run.words, self.program).unwrap_or_default() {
            self.add(&word, word.text());
            // Where everything is found, the directory itself is removed.
            let root = word.text().strip_suffix("/**/*").unwrap_or(".");
            if root != "." {
                self.add(&Arg::new(root), root);
            }
        }
    }

    fn add(&mut self, word: &Arg, value: &str) {
        if !value.is_empty() {
            self.targets.push(Target {
                run: self.run,
                path: path(self.run, &self.run.directory, word, value),
                directory: None,
            });
        }
    }

    fn add_all(&mut self, words: &[&Arg]) {
        for word in words {
            for value in &word.values {
                self.add(word, value);
            }
        }
    }

    fn has_word(&self, text: &str) -> bool {
        self.options.words.iter().any(|word| word.text() == text)
    }

    /// Adds the words behind the first ones, except empty ones: `sed -i '' s/a/b/ x`, as on macOS.
    fn add_operands(&mut self, skipped: usize) {
        let mut operands = self.options.operands();
        operands.retain(|word| !word.text().is_empty());
        self.add_all(operands.get(skipped..).unwrap_or(&[]));
    }

    fn add_first(&mut self) {
        let operands = self.options.operands();
        self.add_all(&operands[..operands.len().min(1)]);
    }

    fn add_values(&mut self, options: &[&str]) {
        for (word, value) in self.options.values_of(options) {
            self.add(word, &value);
        }
    }

    /// Adds the value of `of=file`.
    fn add_output_of_dd(&mut self) {
        for word in self.options.operands() {
            for value in &word.values {
                if let Some(file) = value.strip_prefix("of=") {
                    self.add(word, file);
                }
            }
        }
    }

    /// Adds the last parts of addresses.
    fn add_downloads(&mut self) {
        for word in self.options.operands() {
            let name = word.text().rsplit('/').next().unwrap_or("");
            self.add(word, name);
        }
    }

    /// Adds the archive that is made, or the directory where one is unpacked.
    fn add_archive(&mut self) {
        let first = self.options.words.first().map_or("", Arg::text);
        let is_long = |name: &str| self.has_word(name);
        let creates = !first.starts_with("--") && first.contains(['c', 'r', 'u']);
        let unpacks = !first.starts_with("--") && first.contains('x');
        if creates || is_long("--create") {
            self.add_values(&["-f", "--file"]);
            // `tar cf FILE`
            if !first.starts_with('-') && first.ends_with('f') {
                let words = self.options.words.get(1..2).unwrap_or(&[]);
                self.add_all(&Vec::from_iter(words));
            }
        } else if unpacks || is_long("--extract") {
            self.add_values(&["-C", "--directory"]);
        }
    }

    /// Adds the target of `cp` and its kin: the last word or the value of `-t`, and the names of the sources in it.
    fn add_copies(&mut self) {
        let operands = self.options.operands();
        let directories = self.options.values_of(&["-t", "--target-directory"]);
        if let Some((word, directory)) = directories.first() {
            self.add_into(word, directory, &operands, true);
        } else if let Some((target, sources)) = operands.split_last() {
            for value in &target.values {
                self.add_into(target, value, sources, sources.len() > 1);
            }
        }
    }

    /// Adds the target and the names of the sources in it, which count if it is a directory.
    fn add_into(&mut self, word: &Arg, target: &str, sources: &[&Arg], is_directory: bool) {
        self.add(word, target);
        let last = target.rsplit('/').next().unwrap_or("");
        let is_directory = is_directory || matches!(last, "" | "." | "..");
        let directory = path(self.run, &self.run.directory, word, target);
        for value in sources.iter().flat_map(|source| &source.values) {
            // `rsync a/ b` copies what is in it; `host:name` is on another machine.
            let name = value.rsplit(['/', ':']).next().unwrap_or("");
            if !name.is_empty() && !name.contains(ANY) {
                self.add(word, &format!("{}/{name}", target.trim_end_matches('/')));
                if let (Some(target), false) = (self.targets.last_mut(), is_directory) {
                    target.directory = Some(directory.clone());
                }
            }
        }
    }

    fn edits_in_place(&self) -> bool {
        let is_long = |word: &Arg| word.text().starts_with("--in-place");
        self.options.words.iter().any(is_long) || self.has_letter('i')
    }

    /// Returns whether a letter is in a cluster of options.
    fn has_letter(&self, letter: char) -> bool {
        let options = self
            .options
            .each()
            .filter(|(_, _, role)| *role == Role::Option);
        let mut clusters = options.filter(|(_, word, _)| !word.text().starts_with("--"));
        clusters.any(|(_, word, _)| {
            let letters = word.text().chars().skip(1);
            letters
                .take_while(char::is_ascii_alphabetic)
                .any(|c| c == letter)
        })
    }

    fn has_script(&self) -> bool {
        let is_script = |word: &Arg| {
            let text = word.text();
            text.starts_with("-e") || text.starts_with("-f") || text.starts_with("--expression")
        };
        self.options.words.iter().any(is_script)
    }

    /// Adds what `git checkout`, `restore`, `rm` and `mv` replace.
    fn add_checked_out(&mut self) {
        let operands = self.options.operands();
        let is_subcommand =
            |word: &&Arg| matches!(word.known(), Some("checkout" | "restore" | "rm" | "mv"));
        // `git rm --cached` leaves the file.
        if self.has_word("--cached") {
            return;
        }
        if let Some(place) = operands.iter().position(is_subcommand) {
            self.add_all(&operands[place + 1..]);
        }
    }
}
