//! Determines what an approval of a hook covers: the files that its command itself runs, and the reasons why
//! there may be more. In doubt, the approval is partial.
//!
//! Knows the command lines of a few programs (`programs`); runs and expands nothing.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::commands::{Command, Input, commands};
use super::findings::{Coverage, Findings};
use super::interpreted::{Given, Interpreted};
use super::interpreters::{Interpreter, Language, Operand, interpreter};
use super::place::{Project, shebang};
use super::programs::{Effect, effect, may_write};
use crate::hook::{CommandText, Hook, HookCommand, Shell, Word, with_directories, words};

/// The most levels of code within code, and of programs that run programs.
const DEEPEST: usize = 16;
/// The longest command that is analyzed, in bytes.
const LONGEST_COMMAND: usize = 64 * 1024;

/// Returns what an approval of this hook covers, with the files as they are now.
pub(super) fn coverage(project: &Project, hook: &Hook) -> Coverage {
    let mut reader = Reader {
        found: Findings::of(project, hook),
        has_tests: false,
        depth: 0,
    };
    let length = match hook.command() {
        HookCommand::Program(args) => args.iter().map(|arg| arg.len() + 1).sum(),
        HookCommand::Shell { text, .. } => text.len(),
    };
    let directories = hook.directories(&project.root);
    if hook.protocol().is_some() && directories.is_empty() {
        let reason = format!("protocol `{}` may run other files", hook.protocol_name());
        reader.found.partial(reason);
    }
    match hook.command() {
        _ if length > LONGEST_COMMAND => {
            let reason = "the command is longer than 64 KiB and is not analyzed".to_owned();
            reader.found.partial(reason);
        }
        HookCommand::Program(args) => {
            let mut words: Vec<Word> = args.iter().map(Word::literal).collect();
            for word in &mut words {
                for (name, path) in &directories {
                    let path = path.to_string_lossy();
                    word.text = word.text.replace(&format!("${{{name}}}"), &path);
                }
            }
            reader.run(&words, &Input::Inherited);
        }
        HookCommand::Shell { text, shell } => match hook.protocol() {
            Some(_) => reader.text_with(&directories, hook, text, *shell),
            None => reader.shell_text(text, *shell),
        },
    }
    reader.found.end()
}

struct Reader<'a> {
    found: Findings<'a>,
    /// The shell knows `[[`.
    has_tests: bool,
    depth: usize,
}

impl Reader<'_> {
    fn shell_text(&mut self, text: &str, shell: Option<Shell>) {
        let is_posix = match shell {
            Some(Shell::Fish | Shell::Pwsh | Shell::PowerShell | Shell::Cmd) => false,
            Some(_) => true,
            None => cfg!(not(windows)),
        };
        if is_posix {
            return self.code_of(shell.map_or("sh", Shell::as_str), text);
        }
        let shell = shell.map_or("cmd", Shell::as_str);
        self.found
            .partial(format!("commands for `{shell}` are not analyzed"));
        let is_between = |c: char| c.is_whitespace() || "\"'`;&|()<>".contains(c);
        for word in text.split(is_between) {
            self.found.argument(&word.replace('\\', "/"));
        }
    }

    /// The directories that the protocol names in variables are known; its shell is not.
    fn text_with(
        &mut self,
        directories: &[(String, PathBuf)],
        hook: &Hook,
        text: &str,
        shell: Option<Shell>,
    ) {
        let mut names = directories.iter().map(|(name, _)| name);
        let text = match names.any(|name| hook.env().contains_key(name)) {
            true => Cow::Borrowed(text),
            false => with_directories(text, directories),
        };
        match shell {
            None if cfg!(not(windows)) => self.code_of("bash", &text),
            _ => self.shell_text(&text, shell),
        }
    }

    /// Reads one level deeper, unless that is too deep.
    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            let reason = format!("programs and code are nested more than {DEEPEST} levels deep");
            return self.found.partial(reason);
        }
        self.depth += 1;
        read(self);
        self.depth -= 1;
    }

    /// Reads code for another shell than the current one.
    fn code_of(&mut self, shell: &str, code: &str) {
        if !["sh", "dash", "bash"].contains(&shell) {
            let reason = format!("`{shell}` may read this code differently from `sh`");
            self.found.partial(reason);
        }
        let has_tests = shell == "bash";
        let outer = std::mem::replace(&mut self.has_tests, has_tests);
        self.code(words(code));
        self.has_tests = outer;
    }

    fn code(&mut self, code: CommandText) {
        self.deeper(|reader| {
            let code = commands(code, reader.has_tests);
            if code.incomplete {
                let reason = "the command has quotes or expansions that shells read differently";
                reader.found.partial(reason.to_owned());
            }
            for inner in code.nested {
                reader.code(inner);
            }
            for command in &code.commands {
                reader.command(command);
            }
        });
    }

    fn command(&mut self, command: &Command) {
        for output in &command.outputs {
            let is_elsewhere = ["/dev/", "$HOME/"]
                .iter()
                .any(|it| output.text.starts_with(it));
            if !is_elsewhere {
                self.found.writes(output);
            }
        }
        let mut words = &command.words[..];
        while let Some((word, rest)) = words.split_first()
            && let Some((name, value)) = assigned(word)
        {
            if word.quotes_code {
                self.known_by_the_run(word);
            }
            self.found.assignment(name, value, word.expands);
            words = rest;
        }
        self.run(words, &command.input);
    }

    /// Reads one command: a program and its arguments.
    fn run(&mut self, words: &[Word], input: &Input) {
        let Some((program, args)) = words.split_first() else {
            return;
        };
        // `NAME+=value` is a program in one shell, and an assignment in another.
        if program.expands || program.text.contains("+=") {
            self.known_by_the_run(program);
            return self.found.arguments(args);
        }
        self.deeper(|reader| {
            if program.text.contains('/') {
                reader.program_by_path(&program.text, args, input);
            } else {
                reader.found.runs_by_path(&program.text);
                reader.known_program(&program.text, args, input);
            }
        });
    }

    fn known_by_the_run(&mut self, word: &Word) {
        let reason = format!(
            "the value of `{}` is known only when the hook runs",
            word.text
        );
        self.found.partial(reason);
    }

    fn program_by_path(&mut self, path: &str, args: &[Word], input: &Input) {
        let project = self.found.project;
        let working_dir = &self.found.working_dir;
        let base = path.rsplit('/').next().unwrap_or(path);
        if project.below(working_dir, path).is_none() && project.is_of_the_system(path.as_ref()) {
            return self.known_program(base, args, input);
        }
        let first_line = shebang(&project.path(working_dir, path));
        self.found.runs(path);
        if first_line.as_ref().is_some_and(Vec::is_empty) {
            let reason = format!("the first line of `{path}` cannot be read");
            self.found.partial(reason);
        } else if let Some(first_line) = first_line {
            let mut words: Vec<Word> = first_line.into_iter().map(Word::literal).collect();
            words.push(Word::literal(path));
            self.run(&words, &Input::Inherited);
        }
        match interpreter(base) {
            Some(known) => self.interpreter(known, base, args, input),
            None => self.found.arguments(args),
        }
    }

    /// Reads a program that is found by its name, or a shell builtin.
    fn known_program(&mut self, name: &str, args: &[Word], input: &Input) {
        if let Some(known) = interpreter(name) {
            return self.interpreter(known, name, args, input);
        }
        match name {
            "exec" | "command" | "builtin" | "nohup" => self.wrapper(name, args, input),
            "." | "source" => self.source(args),
            "eval" => self.eval(args),
            "trap" => self.eval(args.get(..1).unwrap_or_default()),
            "cd" | "pushd" | "chdir" => self.change_directory(args),
            "env" => {
                let outer = self.found.working_dir.clone();
                self.env(args, &outer, input);
                self.found.working_dir = outer;
            }
            _ => self.other_program(name, args),
        }
    }

    fn other_program(&mut self, name: &str, args: &[Word]) {
        match effect(name, args) {
            Effect::Nothing => self.sets_variables(name, args),
            Effect::MayRun(why) => self.found.partial(format!("`{name}` {why}")),
            Effect::Unknown => {
                let reason = format!("`{name}` may run or load files of the project");
                self.found.partial(reason);
                self.found.arguments(args);
            }
        }
        // A cloned project can contain a directory that is a repository, with settings that run programs
        // (git-config(1), `safe.bareRepository`).
        if name == "git" && !self.found.working_dir.as_os_str().is_empty() {
            let reason = "`git` in another directory may run programs that its settings name";
            self.found.partial(reason.to_owned());
        }
        if may_write(name, args) {
            self.found.writes_anything();
        }
    }

    /// Reads a program that runs the rest of its words.
    fn wrapper(&mut self, name: &str, args: &[Word], input: &Input) {
        if args.is_empty() && !matches!(input, Input::Inherited) {
            let reason = format!("the commands after `{name}` read from the file that it opens");
            self.found.partial(reason);
        }
        match args.first() {
            Some(option) if option.text.starts_with('-') && !option.expands => {
                let only_looks = name == "command" && matches!(&*option.text, "-v" | "-V");
                if !only_looks {
                    self.unknown_option(name, &option.text);
                    self.found.arguments(args);
                }
            }
            _ => self.run(args, input),
        }
    }

    fn unknown_option(&mut self, program: &str, option: &str) {
        let reason = if option.starts_with('$') {
            format!("`{option}` in `{program} {option}` is only known at run time: write the name")
        } else {
            format!("unknown option: `{program} {option}` may run or load files")
        };
        self.found.partial(reason);
    }

    fn source(&mut self, args: &[Word]) {
        let args = match args {
            [dashes, rest @ ..] if dashes.text == "--" => rest,
            args => args,
        };
        if let Some((script, rest)) = args.split_first() {
            self.script(script, &[""]);
            self.found.arguments(rest);
        }
    }

    /// Adds a script for an interpreter, even if it does not exist yet.
    fn script(&mut self, word: &Word, endings: &[&str]) {
        if word.expands {
            return self.known_by_the_run(word);
        }
        if !word.text.contains('/') {
            self.found.runs_by_path(&word.text);
        }
        let path = self.found.project.path(&self.found.working_dir, &word.text);
        let endings = if path.exists() { &[""] } else { endings };
        for ending in endings {
            self.found.runs(&format!("{}{ending}", word.text));
        }
    }

    fn eval(&mut self, args: &[Word]) {
        if let Some(word) = args.iter().find(|word| word.expands) {
            return self.known_by_the_run(word);
        }
        let texts: Vec<&str> = args.iter().map(|word| &*word.text).collect();
        self.code(words(&texts.join(" ")));
    }

    fn change_directory(&mut self, args: &[Word]) {
        let target = match args {
            [word] if !word.expands => self
                .found
                .project
                .below(&self.found.working_dir, &word.text),
            _ => None,
        };
        let reason = "commands after `cd` may run in another directory".to_owned();
        self.found.partial_without(target.as_deref(), reason);
    }

    /// Reads GNU coreutils' `env`: options, then variables, then a program.
    fn env(&mut self, args: &[Word], outer: &Path, input: &Input) {
        let mut rest = args;
        while let Some((word, after)) = rest.split_first() {
            let text = &*word.text;
            let is_option = text.starts_with('-') && !word.expands;
            if let Some((name, value)) = text.split_once('=')
                && !is_option
            {
                self.named_assignment(word, name, value);
                rest = after;
            } else if !is_option {
                return self.run(rest, input);
            } else if let Some((target, after)) = value_of(text, after, "-C", "--chdir") {
                self.found.working_dir = outer.join(target);
                rest = after;
            } else if let Some((words, after)) = value_of(text, after, "-S", "--split-string") {
                return self.split_string(words, after, outer, input);
            } else if let Some((_, after)) = value_of(text, after, "-u", "--unset") {
                rest = after;
            } else if matches!(text, "-" | "-i" | "--ignore-environment" | "--") {
                rest = after;
            } else {
                self.unknown_option("env", text);
                return self.found.arguments(after);
            }
        }
    }

    fn split_string(&mut self, text: &str, rest: &[Word], outer: &Path, input: &Input) {
        if text.contains(['\'', '"', '\\', '$', '#']) {
            return self.unknown_option("env -S", text);
        }
        let mut words: Vec<Word> = text.split_ascii_whitespace().map(Word::literal).collect();
        words.extend_from_slice(rest);
        self.deeper(|reader| reader.env(&words, outer, input));
    }

    /// Reads an argument that sets a variable.
    fn named_assignment(&mut self, word: &Word, name: &str, value: &str) {
        if name.contains(['$', '`']) {
            return self.known_by_the_run(word);
        }
        let name = name.trim_end_matches('+');
        self.found.assignment(name, value, word.expands);
    }

    fn interpreter(&mut self, known: &Interpreter, name: &str, args: &[Word], input: &Input) {
        let run = Interpreted::read(known, args);
        for (option, given) in &run.options {
            match given {
                Given::Script(word) if word.text == "-" => self.reads_code(name, input),
                Given::Script(word) => self.script(word, known.endings),
                Given::Code(word) => self.inner_code(known.language, name, option, word),
                Given::Unknown => self.unknown_option(name, option),
            }
        }
        match (run.operand, run.operand_is) {
            (Some(word), Operand::Code) => self.inner_code(known.language, name, "", word),
            (Some(word), Operand::Script) if word.text != "-" => {
                self.script(word, known.endings);
                self.beside(known, name, &word.text, run.is_isolated);
            }
            _ if !run.options.is_empty() || known.operand == Operand::Code => {}
            _ => self.reads_code(name, input),
        }
        self.found.arguments(run.rest);
    }

    fn reads_code(&mut self, name: &str, input: &Input) {
        if let Input::File(word) = input {
            self.script(word, &[""]);
        } else {
            let reason = format!("`{name}` runs its standard input as code");
            self.found.partial(reason);
        }
    }

    fn inner_code(&mut self, language: Language, name: &str, option: &str, word: &Word) {
        if language == Language::Shell && !word.expands {
            self.code_of(name, &word.text);
        } else if word.expands || !language.is_harmless(&word.text) {
            let program = format!("{name} {option}");
            let program = program.trim_end();
            let reason = format!("the code of `{program}` may run or load files");
            self.found.partial(reason);
        }
    }

    /// Adds what an interpreter uses besides the script: its first line, and modules beside it.
    fn beside(&mut self, known: &Interpreter, name: &str, script: &str, is_isolated: bool) {
        let project = self.found.project;
        let working_dir = &self.found.working_dir;
        let path = project.path(working_dir, script);
        if name == "perl" && shebang(&path).is_some_and(|it| !it.concat().contains("perl")) {
            let reason = format!("`perl` runs the program that the first line of `{script}` names");
            self.found.partial(reason);
        }
        if known.language == Language::Python && !is_isolated {
            // Python searches the directory of the script first, with all links resolved.
            let directory = path.canonicalize().unwrap_or(path);
            let directory = directory.parent().and_then(Path::to_str);
            let below = directory.and_then(|it| project.below(Path::new(""), it));
            let reason =
                format!("without `-I`, a file beside `{script}` can replace a module of `{name}`");
            self.found.partial_without(below.as_deref(), reason);
        }
    }

    /// Reads shell builtins that set the variables which they name.
    fn sets_variables(&mut self, name: &str, args: &[Word]) {
        let names = match name {
            "for" | "select" => args.get(..1),
            "printf" if args.first().is_some_and(|it| it.text.starts_with("-v")) => args.get(..2),
            "export" | "readonly" | "declare" | "typeset" | "local" | "read" | "getopts"
            | "unset" | "let" => Some(args),
            _ => None,
        };
        for word in names.unwrap_or_default() {
            match word.text.split_once('=') {
                Some((name, value)) => self.named_assignment(word, name, value),
                None if word.expands => self.known_by_the_run(word),
                None => {
                    let name = word.text.trim_start_matches("-v");
                    self.found.assignment(name, "", true);
                }
            }
        }
    }
}

/// Returns the name and the value of `NAME=value` before a command. (Some shells read `NAME+=value` as a program.)
fn assigned(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once('=')?;
    // With quotes before the `=` it is a program.
    let is_plain = name.len() < word.plain;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (is_plain && begins && name.chars().all(is_name)).then_some((name, value))
}

/// Returns the value of an option given as `-C x`, `-Cx`, `--chdir x` or `--chdir=x`, and the words after
/// it. None for another option, and for a value that expands.
fn value_of<'a>(
    text: &'a str,
    after: &'a [Word],
    short: &str,
    long: &str,
) -> Option<(&'a str, &'a [Word])> {
    if let Some(attached) = text.strip_prefix(long).and_then(|it| it.strip_prefix('=')) {
        return Some((attached, after));
    }
    if text != long && text != short {
        let attached = text.strip_prefix(short)?;
        return (!text.starts_with("--")).then_some((attached, after));
    }
    let (value, after) = after.split_first()?;
    (!value.expands).then_some((&*value.text, after))
}
