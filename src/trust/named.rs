//! The files of a project that a hook's command names, as far as that can be told by reading it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::hook::{Hook, HookCommand, Shell, is_interpreter, words};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Below the root, with `/` between folders.
    pub(super) files: BTreeSet<String>,
    /// Words that seem to name files, and that only the shell could tell.
    pub(super) unresolved: Vec<String>,
}

/// What a hook of the project at this root names; the root has no links in it.
pub(super) fn named(root: &Path, hook: &Hook) -> Named {
    let mut named = Named::default();
    let folder = root.join(hook.working_dir().unwrap_or(Path::new("")));
    let words: Vec<String> = match hook.command() {
        HookCommand::Program(args) => args.clone(),
        HookCommand::Shell { text, shell } => words_of(text, *shell),
    };
    let words: Vec<String> = words
        .iter()
        .flat_map(|word| pieces(&folder, word))
        .collect();
    if words
        .iter()
        .any(|word| ["cd", "pushd", "chdir"].contains(&&**word))
    {
        let words = "cd: what is named behind it may lie elsewhere; name it in `inputs`";
        named.unresolved.push(words.to_owned());
    }
    for word in &words {
        named.add(root, &folder, word);
    }
    for pair in words.windows(2) {
        if runs_its_argument(&pair[0]) {
            named.add_script(root, &folder, &pair[1]);
        }
    }
    // A variable of the hook's own may be what its command goes by.
    for value in hook.env().values() {
        for word in std::env::split_paths(value).filter(|path| folder.join(path).exists()) {
            named.add(root, &folder, &word.to_string_lossy());
        }
    }
    for input in hook.inputs() {
        match below(root, &root.join(input)) {
            Some(file) => drop(named.files.insert(file)),
            None => named
                .unresolved
                .push(format!("{input}: not within the project")),
        }
    }
    named
}

fn words_of(text: &str, shell: Option<Shell>) -> Vec<String> {
    let is_windows_shell = match shell {
        Some(shell) => matches!(shell, Shell::Cmd | Shell::Pwsh | Shell::PowerShell),
        None => cfg!(windows),
    };
    // There it stands between folders, and takes no meaning away.
    let slashes = is_windows_shell.then(|| text.replace('\\', "/"));
    let text = slashes.as_deref().unwrap_or(text);
    words(text).into_iter().map(|word| word.text).collect()
}

/// A word without what the shell puts beside it: redirections, the ends of commands, and the code
/// of an inner shell, which has words of its own. A word that is a file as it stands counts as a
/// whole too, and of its pieces those that are: there may be a file that is called like the code.
fn pieces(folder: &Path, word: &str) -> Vec<String> {
    let separators = |c: char| "<>;&|()\n\"'`".contains(c) || c.is_whitespace();
    let pieces = word.split(separators);
    if !folder.join(word).is_file() {
        return pieces.map(str::to_owned).collect();
    }
    let files = pieces.filter(|piece| *piece != word && folder.join(piece).is_file());
    std::iter::once(word)
        .chain(files)
        .map(str::to_owned)
        .collect()
}

/// Whether the next word is a script, whatever it is called.
fn runs_its_argument(word: &str) -> bool {
    word == "source" || is_interpreter(word)
}

/// The value of an option, or of a variable; what else has an equals sign in it is a name.
fn value_in(word: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match word.split_once('=') {
        Some((name, value)) if name.starts_with('-') || name.chars().all(is_name) => value,
        _ => word,
    }
}

/// Whether the shell would put names of files in the place of this word.
fn finds_files(folder: &Path, word: &str) -> bool {
    let folder = glob::Pattern::escape(&folder.to_string_lossy());
    let found = glob::glob(&format!("{folder}{}{word}", std::path::MAIN_SEPARATOR));
    word.contains(char::is_alphanumeric) && found.is_ok_and(|mut found| found.next().is_some())
}

impl Named {
    /// One with a plain name, that is not there yet or is a folder. All others are added as words.
    fn add_script(&mut self, root: &Path, folder: &Path, word: &str) {
        let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if word.is_empty() || word.starts_with('-') || !word.chars().all(is_plain) {
            return;
        }
        let path = folder.join(word);
        if path.is_dir() {
            self.tell_of_folder(word);
        } else {
            self.files.extend(below(root, &path));
        }
    }

    fn tell_of_folder(&mut self, word: &str) {
        let words = format!("{word}: a folder; name it in `inputs` to cover it");
        self.unresolved.push(words);
    }

    fn add(&mut self, root: &Path, folder: &Path, word: &str) {
        let value = value_in(word);
        // `a=b` may be an assignment, or a file.
        if value != word && folder.join(word).is_file() {
            self.files.extend(below(root, &folder.join(word)));
        }
        let word = value;
        let is_path = word.contains('/') || word.contains(std::path::MAIN_SEPARATOR);
        if word.is_empty() || word.starts_with('-') || word.chars().all(|c| "./\\".contains(c)) {
            return;
        }
        if word.contains(['$', '*', '?', '[', '~', '{']) {
            if is_path || finds_files(folder, word) {
                self.unresolved.push(word.to_owned());
            }
            return;
        }
        let path = folder.join(word);
        let Some(file) = below(root, &path) else {
            return;
        };
        if path.is_dir() {
            if is_path {
                self.tell_of_folder(word);
            }
            return;
        }
        // A word with a dot or a slash that is no file now may be one tomorrow.
        if is_path || word.contains('.') || path.exists() {
            self.files.insert(file);
        }
    }
}

/// The name of a path below the root, if it lies there: by its words, and, where a link leads out of
/// the project or into it, by where it is. A `..` stays in it: what is above the end of a link is not
/// what the link lies in.
fn below(root: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let inside = |path: &Path| path.strip_prefix(root).ok().map(Path::to_owned);
    let as_written = || inside(path).filter(|_| plain != path);
    let found = inside(&plain).map(|plain| as_written().unwrap_or(plain));
    let found = found.or_else(|| inside(&path.canonicalize().ok()?))?;
    let parts = found.components().map(|part| part.as_os_str().to_str());
    let name = parts.collect::<Option<Vec<_>>>()?.join("/");
    (!name.is_empty()).then_some(name)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_files_that_are_words_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in [
            "guard.sh",
            "tools/check.py",
            "Makefile",
            "sub/own.sh",
            "it's here.sh",
        ] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "x").unwrap();
        }
        #[track_caller]
        fn case(root: &Path, command: &str, files: &[&str], unresolved: &[&str]) {
            let hook = Hook::new("*", command).unwrap();
            let named = named(root, &hook);
            assert_eq!(named.files.iter().collect::<Vec<_>>(), files, "{command}");
            assert_eq!(named.unresolved, unresolved, "{command}");
        }
        case(&root, "./guard.sh --strict", &["guard.sh"], &[]);
        case(&root, "python3 tools/check.py", &["tools/check.py"], &[]);
        case(
            &root,
            "sh -c 'exec ./guard.sh; tools/check.py'",
            &["guard.sh", "tools/check.py"],
            &[],
        );
        case(&root, "cat <guard.sh >/dev/null", &["guard.sh"], &[]);
        case(
            &root,
            "guard --config=tools/check.py",
            &["tools/check.py"],
            &[],
        );
        case(&root, "make -f Makefile && echo done", &["Makefile"], &[]);
        case(&root, "tools/../guard.sh", &["tools/../guard.sh"], &[]);
        case(&root, "./missing.sh", &["missing.sh"], &[]);
        case(&root, "sh later.sh; echo hello", &["later.sh"], &[]);
        case(&root, "sh \"it's here.sh\" x", &["it's here.sh"], &[]);
        case(&root, "/usr/bin/true ../outside.sh", &[], &[]);
        case(
            &root,
            &format!("{}/guard.sh", root.display()),
            &["guard.sh"],
            &[],
        );
        case(&root, "\"$PWD/guard.sh\"", &[], &["$PWD/guard.sh"]);
        case(&root, "cat tools/*.py", &[], &["tools/*.py"]);
        case(
            &root,
            "ls ./tools . tools",
            &[],
            &["./tools: a folder; name it in `inputs` to cover it"],
        );
        case(
            &root,
            "cd sub && ./own.sh",
            &["own.sh"],
            &["cd: what is named behind it may lie elsewhere; name it in `inputs`"],
        );
        let inner = Hook::program("*", ["sh", "-c", "exec ./guard.sh --x"]).unwrap();
        assert_eq!(
            named(&root, &inner).files.into_iter().collect::<Vec<_>>(),
            ["guard.sh"]
        );
        let backslash = Hook::new("*", r"tools\check.py")
            .unwrap()
            .with_shell(Shell::Cmd);
        assert_eq!(
            named(&root, &backslash)
                .files
                .into_iter()
                .collect::<Vec<_>>(),
            ["tools/check.py"]
        );
        let own = Hook::program("*", ["./own.sh", "$x"])
            .unwrap()
            .with_working_dir("sub");
        let own = own.with_inputs(["tools", "../x"]);
        let named = named(&root, &own);
        assert_eq!(
            named.files.into_iter().collect::<Vec<_>>(),
            ["sub/own.sh", "tools"]
        );
        assert_eq!(named.unresolved, ["../x: not within the project"]);
    }
}
