//! Codex's patches: which files a patch changes, so that hooks see each of them.
//!
//! - A patch that is not understood to its end is an error, and the caller denies the call. A line that Codex accepts as
//!   naming a file is that file here too, or an error; it is never skipped. Versions of Codex differ, so these lines are
//!   errors: a header after blanks within an update, `*** Move to:` with blanks after the path, a here-document around
//!   the whole patch, and `*** Environment ID:`, as another environment has another directory.
//! - Headers elsewhere may follow blanks, and all other headers may have blanks after them. A path is the text after
//!   the header's one blank, and may begin with another one.
//! - Lines that name no file are read leniently: hunks may be empty or begin without `@@`.
//! - A move is two changes, an `edit` of the old path and a `write` of the new one, both with the text of the hunks. The
//!   text of a deleted file is not in the patch.
//! - A patch in a shell command is in a here-document whose text the shell does not change, for `apply_patch` alone,
//!   perhaps after `cd DIRECTORY &&`. Codex itself extracts this form from a command. Any other command with the first
//!   line of a patch, or with `apply_patch` as a program, is an error. A program that a script runs is not seen.
//!
//! Knows the format, not hooks. Reads no files.

use crate::command::{Answer, Commands, Pattern};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const MOVE: &str = "*** Move to: ";

/// Headers that name a file.
const HEADERS: [(&str, Kind); 3] = [
    ("*** Add File: ", Kind::Add),
    ("*** Delete File: ", Kind::Delete),
    ("*** Update File: ", Kind::Update),
];

/// The programs that apply a patch.
const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];

/// The most changes of a patch: hooks run for each of them.
pub(super) const MOST_CHANGES: usize = 1_000;

const HOW: &str = "a patch in a shell command must stand between `apply_patch <<'EOF'` and a line `EOF`, with nothing \
    else but `cd DIRECTORY && ` in front; use that form or the `apply_patch` tool";

/// One file that a patch adds, changes, removes or moves.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FileChange<'a> {
    /// `write` for a file that is added or is the target of a move, `edit` for one that is updated or deleted.
    pub(super) tool: &'static str,
    pub(super) path: &'a str,
    /// The lines before the change, as far as the patch has them.
    pub(super) old: String,
    /// The same lines after the change.
    pub(super) new: String,
}

/// A patch in a shell command.
#[derive(Debug, PartialEq)]
pub(super) struct Embedded<'a> {
    /// Relative paths of the patch begin in this directory, itself relative to the event's `cwd`: `sub` in `cd sub && ...`.
    pub(super) directory: Option<&'a str>,
    pub(super) patch: &'a str,
}

/// Returns the changes of a patch, in its order.
///
/// # Errors
/// If the text is not a patch to its end, or has more than 1,000 changes.
pub(super) fn files(patch: &str) -> Result<Vec<FileChange<'_>>, String> {
    if patch.replace("\r\n", "").contains(['\r', '\u{85}']) {
        return Err(
            "the patch has a carriage return within a line, or U+0085, at which some programs end the line"
                .to_owned(),
        );
    }
    let mut lines = patch.trim().lines();
    if lines.next().map(str::trim) != Some(BEGIN) {
        return Err(format!("the patch does not begin with `{BEGIN}`"));
    }
    let mut reader = Reader::default();
    for (index, line) in lines.enumerate() {
        if !reader.read(line) {
            let start: String = line.chars().take(80).collect();
            return Err(format!(
                "line {} of the patch is not valid there: {start:?}",
                index + 2
            ));
        }
        if reader.changes.len() > MOST_CHANGES {
            return Err(format!(
                "the patch has more than {MOST_CHANGES} changes; split it"
            ));
        }
    }
    match reader.kind {
        Kind::End => Ok(reader.changes),
        _ => Err(format!("the patch does not end with `{END}`")),
    }
}

/// The part of a patch that a line is in.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    Begin,
    Add,
    Delete,
    Update,
    /// The lines after the first one of an update.
    Hunks,
    End,
}

#[derive(Default)]
struct Reader<'a> {
    kind: Kind,
    /// The path to which the file of the last change is moved.
    target: Option<&'a str>,
    changes: Vec<FileChange<'a>>,
}

impl<'a> Reader<'a> {
    /// Reads a line. Returns false if it is not valid there.
    fn read(&mut self, line: &'a str) -> bool {
        let is_update = matches!(self.kind, Kind::Update | Kind::Hunks);
        let header = if is_update {
            line.trim_end()
        } else {
            line.trim()
        };
        let mut headers = HEADERS.iter();
        if self.kind == Kind::End {
            return false;
        } else if header == END {
            self.begin(Kind::End, None);
        } else if let Some((kind, path)) =
            headers.find_map(|(start, kind)| Some((*kind, header.strip_prefix(start)?)))
        {
            self.begin(kind, Some(path));
        } else if is_update {
            return self.update(line);
        } else {
            let text = line.strip_prefix('+').filter(|_| self.kind == Kind::Add);
            self.append(None, text);
            return text.is_some();
        }
        true
    }

    /// Begins the part of a file, or ends the patch.
    fn begin(&mut self, kind: Kind, path: Option<&'a str>) {
        if let (Some(target), Some(source)) = (self.target.take(), self.changes.last()) {
            let (tool, path) = ("write", target);
            self.changes.push(FileChange {
                tool,
                path,
                ..source.clone()
            });
        }
        if let Some(path) = path {
            let tool = if kind == Kind::Add { "write" } else { "edit" };
            self.changes.push(FileChange {
                tool,
                path,
                ..FileChange::default()
            });
        }
        self.kind = kind;
    }

    /// Reads a line of an update that is no header of a file.
    fn update(&mut self, line: &'a str) -> bool {
        let is_first = self.kind == Kind::Update;
        self.kind = Kind::Hunks;
        if let Some(target) = line.strip_prefix(MOVE) {
            self.target = Some(target);
            // Some versions of Codex trim the path and others do not.
            return is_first && !target.is_empty() && target.trim_end() == target;
        }
        let text = line.get(1..);
        match line.bytes().next() {
            // Some versions of Codex read such a line as a header.
            Some(b' ') if is_header(line.trim()) => return false,
            Some(b' ') => self.append(text, text),
            Some(b'+') => self.append(None, text),
            Some(b'-') => self.append(text, None),
            _ if line.trim().is_empty() => self.append(Some(""), Some("")),
            _ => return line.starts_with("@@") || line.trim_end() == END_OF_FILE,
        }
        true
    }

    /// Adds a line to the text of the last change.
    fn append(&mut self, old: Option<&str>, new: Option<&str>) {
        if let Some(change) = self.changes.last_mut() {
            change
                .old
                .extend(old.into_iter().flat_map(|line| [line, "\n"]));
            change
                .new
                .extend(new.into_iter().flat_map(|line| [line, "\n"]));
        }
    }
}

/// Returns whether a line without the blanks around it names a file, or ends the patch.
fn is_header(line: &str) -> bool {
    let mut starts = HEADERS.iter().map(|(start, _)| *start).chain([MOVE]);
    line == END || starts.any(|start| line.starts_with(start.trim_end()))
}

/// Returns the patch in a shell command, or none if the command applies no patch.
///
/// # Errors
/// If the command may apply a patch but is not of the one form whose files are known.
pub(super) fn in_command(command: &str) -> Result<Option<Embedded<'_>>, String> {
    if !command.contains(BEGIN) && !applies(command) {
        return Ok(None);
    }
    match embedded(command) {
        Some(embedded) => Ok(Some(embedded)),
        None => Err(HOW.to_owned()),
    }
}

fn embedded(command: &str) -> Option<Embedded<'_>> {
    let (head, document) = command.trim_start().split_once('\n')?;
    let (program, delimiter) = head.split_once("<<")?;
    let (directory, program) = match program.strip_prefix("cd ") {
        Some(rest) => {
            let (directory, program) = rest.split_once("&&")?;
            (Some(directory_of(without_blanks(directory))?), program)
        }
        None => (None, program),
    };
    let delimiter = without_blanks(delimiter);
    let word = unquoted(delimiter).unwrap_or(delimiter);
    let is_word = word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    if !PROGRAMS.contains(&without_blanks(program)) || !is_word {
        return None;
    }
    let patch = document.trim_end_matches('\n').strip_suffix(word)?;
    let is_whole = patch.ends_with('\n') && !patch.lines().any(|line| line == word);
    // Codex uses such a text unchanged, and a shell replaces parts of it.
    let is_changed = word == delimiter && patch.contains(['\\', '$', '`']);
    (is_whole && !is_changed).then_some(Embedded { directory, patch })
}

/// Returns the directory of a `cd` that means the same to every shell and to Codex, which replaces no `~`.
fn directory_of(word: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,:".contains(c);
    let (directory, is_literal) = match unquoted(word) {
        Some(text) => (text, !text.contains(['\\', '$', '`', '!'])),
        None => (word, word.chars().all(is_plain)),
    };
    let is_name = !directory.is_empty() && !directory.starts_with(['-', '~']);
    (is_literal && is_name).then_some(directory)
}

/// Returns the text within quotes, if the word is one such text.
fn unquoted(word: &str) -> Option<&str> {
    let within = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    let text = within('\'').or_else(|| within('"'))?;
    (!text.contains(['\'', '"'])).then_some(text)
}

/// Returns a text without the blanks of shells around it.
fn without_blanks(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Returns whether a command runs a program that applies a patch. If it cannot be read, it may run what it names.
fn applies(command: &str) -> bool {
    let commands = Commands::read(command);
    let is_named = || PROGRAMS.iter().any(|program| command.contains(program));
    if commands.unread() != Answer::No && is_named() {
        return true;
    }
    Pattern::new(&PROGRAMS.join("|")).is_ok_and(|pattern| {
        let mut met = commands.met(&pattern).into_iter();
        met.any(|met| matches!(met.answer(), Answer::Yes { .. }))
    })
}

/// Checks that a line which names a file is found at each place in a text, or that the text is not a patch.
///
/// # Panics
/// If the line is skipped.
#[cfg(fuzzing)]
pub fn check_patch(text: &str) {
    let _ = (files(text), in_command(text));
    let lines: Vec<_> = text.lines().collect();
    for place in 0..=lines.len().min(100) {
        let (before, behind) = lines.split_at(place);
        let patch = [before, &["*** Delete File: NAMED"], behind]
            .concat()
            .join("\n");
        if let Ok(changes) = files(&patch) {
            assert!(changes.iter().any(|change| change.path == "NAMED"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a patch", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = files(&format!("*** Begin Patch\n*** Update File: a\n{text}"));
            let _ = in_command(&text);
        });
    }

    /// Returns the changes as text, a line each.
    fn summary(patch: &str) -> Result<String, String> {
        let lines = files(patch)?.into_iter().map(|change| {
            let FileChange {
                tool,
                path,
                old,
                new,
            } = change;
            format!("{tool} {path:?} {old:?} {new:?}\n")
        });
        Ok(lines.collect())
    }

    #[track_caller]
    fn case(body: &str, expected: &str) {
        let patch = format!("*** Begin Patch\n{body}\n*** End Patch\n");
        assert_eq!(summary(&patch), Ok(expected.to_owned()));
        // Lines may end as on Windows.
        assert_eq!(
            summary(&patch.replace('\n', "\r\n")),
            Ok(expected.to_owned())
        );
    }

    #[track_caller]
    fn fails(patch: &str, expected: &str) {
        let error = summary(patch).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[track_caller]
    fn body_fails(body: &str, expected: &str) {
        fails(&format!("*** Begin Patch\n{body}\n*** End Patch"), expected);
    }

    #[test]
    fn each_kind_of_change_is_found() {
        case("*** Add File: a\n+x\n+", "write \"a\" \"\" \"x\\n\\n\"\n");
        case("*** Delete File: a/b c", "edit \"a/b c\" \"\" \"\"\n");
        case(
            "*** Update File: a\n@@ fn f\n x\n-y\n+z\n*** End of File\n@@\n-w",
            "edit \"a\" \"x\\ny\\nw\\n\" \"x\\nz\\n\"\n",
        );
        case(
            "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Delete File: c",
            "edit \"a\" \"x\\n\" \"y\\n\"\nwrite \"b\" \"x\\n\" \"y\\n\"\nedit \"c\" \"\" \"\"\n",
        );
        case(
            "*** Update File: a\n*** Move to: b",
            "edit \"a\" \"\" \"\"\nwrite \"b\" \"\" \"\"\n",
        );
        assert_eq!(summary("*** Begin Patch\n*** End Patch"), Ok(String::new()));
    }

    #[test]
    fn blanks_and_loose_hunks_are_read_as_codex_does() {
        // A header after an added or deleted file may begin with blanks.
        case(
            "  *** Add File: a  \n+x\n\t*** Delete File: b\n \u{3000}*** Delete File: c",
            "write \"a\" \"\" \"x\\n\"\nedit \"b\" \"\" \"\"\nedit \"c\" \"\" \"\"\n",
        );
        // All blanks but the first belong to the path.
        case("*** Delete File:  a", "edit \" a\" \"\" \"\"\n");
        // These texts only look like a header.
        case(
            "*** Add File: a\n+*** Delete File: b\n+*** End Patch",
            "write \"a\" \"\" \"*** Delete File: b\\n*** End Patch\\n\"\n",
        );
        case(
            "*** Update File: a\n-*** Delete File: b\n+*** Add File: c\n  ***/\n *** End of File",
            "edit \"a\" \"*** Delete File: b\\n ***/\\n*** End of File\\n\" \
             \"*** Add File: c\\n ***/\\n*** End of File\\n\"\n",
        );
        // Hunks may have no `@@`, an empty line, or a header in the text of `@@`.
        case(
            "*** Update File: a\n x\n\n+y",
            "edit \"a\" \"x\\n\\n\" \"x\\n\\ny\\n\"\n",
        );
        case(
            "*** Update File: a\n@@ *** Add File: b\n-x",
            "edit \"a\" \"x\\n\" \"\"\n",
        );
        let around = " \n *** Begin Patch \n*** Delete File: a\n *** End Patch \n\n";
        assert_eq!(summary(around), Ok("edit \"a\" \"\" \"\"\n".to_owned()));
    }

    #[test]
    fn what_is_no_patch_to_its_end_is_an_error() {
        fails("", "does not begin");
        fails("*** End Patch", "does not begin");
        fails("*** Begin Patch\n*** Delete File: a", "does not end");
        fails("x\n*** Begin Patch\n*** End Patch", "does not begin");
        fails("\u{feff}*** Begin Patch\n*** End Patch", "does not begin");
        fails(
            "<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF",
            "does not begin",
        );
        fails(
            "*** Begin Patch\n*** End Patch\n*** Delete File: a",
            "line 3",
        );
        fails(
            "*** Begin Patch\n*** End Patch\n*** Begin Patch\n*** End Patch",
            "line 3",
        );
        body_fails("+x", "not valid there");
        body_fails("*** Delete File: a\n+x", "not valid there");
        body_fails("x", "line 2 of the patch is not valid there: \"x\"");
        body_fails("*** Begin Patch", "not valid there");
        body_fails(
            "*** Environment ID: other\n*** Delete File: a",
            "Environment",
        );
        body_fails("*** add file: a", "not valid there");
        body_fails("***  Add File: a", "not valid there");
        body_fails("*** Add File:", "not valid there");
        body_fails("*** Add File: ", "not valid there");
        body_fails("*** Add File:\ta", "not valid there");
        body_fails("*** Rename File: a", "not valid there");
        body_fails("*** Add File: a\nx", "not valid there");
        body_fails("*** Add File: a\n\n*** Delete File: b", "not valid there");
        body_fails("*** Add File: a\n*** Move to: b", "not valid there");
        body_fails(
            "*** Delete File: a\n\n*** Delete File: b",
            "not valid there",
        );
        body_fails("*** Update File: a\n*** Move to: b \n-x", "not valid there");
        body_fails("*** Update File: a\n*** Move to: \n-x", "not valid there");
        body_fails("*** Update File: a\n-x\n*** Move to: b", "not valid there");
        body_fails(
            "*** Update File: a\n*** Move to: b\n*** Move to: c",
            "not valid there",
        );
        body_fails("*** Update File: a\n *** Move to: b\n-x", "not valid there");
        body_fails(
            "*** Update File: a\n x\n  *** Delete File: b",
            "not valid there",
        );
        body_fails(
            "*** Update File: a\n x\n\t*** Delete File: b",
            "not valid there",
        );
        body_fails("*** Update File: a\n x\n *** End Patch", "not valid there");
        body_fails("*** Update File: a\n@ x", "not valid there");
        body_fails("*** Update File: a\n***/", "not valid there");
        body_fails("*** Update File: a\nä", "not valid there");
    }

    #[test]
    fn a_patch_has_at_most_1000_changes() {
        let line = "*** Delete File: a\n";
        let patch = |count| format!("*** Begin Patch\n{}*** End Patch", line.repeat(count));
        assert_eq!(files(&patch(1_000)).unwrap().len(), 1_000);
        fails(&patch(1_001), "more than 1000 changes");
        let moved = format!("{line}*** Update File: a\n*** Move to: b\n");
        let patch = patch(998).replacen(line, &moved, 1);
        assert_eq!(files(&patch).unwrap().len(), 1_000);
        fails(&patch.replacen(line, &moved, 1), "more than 1000 changes");
    }

    #[test]
    fn a_patch_in_a_command_is_found() {
        let body = "*** Begin Patch\n*** Add File: a\n+$x `y` \\n\n*** End Patch\n";
        let plain = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        let commands = [
            ("apply_patch <<'EOF'\n@EOF", body, None),
            ("applypatch << \"E_1\"\n@E_1\n\n", body, None),
            ("\n apply_patch <<EOF\n@EOF\n", plain, None),
            ("cd a/b && apply_patch <<'EOF'\n@EOF\n", body, Some("a/b")),
            ("cd 'a b' && apply_patch <<'EOF'\n@EOF\n", body, Some("a b")),
            (
                "cd \"/a b\"&&apply_patch <<'EOF'\n@EOF\n",
                body,
                Some("/a b"),
            ),
            ("cd .. && apply_patch <<'EOF'\n@EOF\n", body, Some("..")),
        ];
        for (command, patch, directory) in commands {
            let command = command.replace('@', patch);
            let expected = Embedded { directory, patch };
            assert_eq!(in_command(&command), Ok(Some(expected)), "{command}");
        }
    }

    #[test]
    fn a_command_that_may_apply_another_patch_is_an_error() {
        let patch = "*** Begin Patch\n*** Add File: a\n+$x\n*** End Patch";
        let commands = [
            "@",
            "apply_patch '@'",
            "apply_patch \"@\"",
            "bash -lc \"apply_patch <<'EOF'\n@\nEOF\"",
            // These texts are changed: the shell replaces a part, or tabs are removed.
            "apply_patch <<EOF\n@\nEOF",
            "apply_patch <<-'EOF'\n@\nEOF",
            "apply_patch <<'E'OF\n@\nEOF",
            "apply_patch <<\\EOF\n@\nEOF",
            "apply_patch <<''\n@\n\n",
            // These have other commands before or after the patch, or other words.
            "ls; apply_patch <<'EOF'\n@\nEOF",
            "cd a; apply_patch <<'EOF'\n@\nEOF",
            "cd a || apply_patch <<'EOF'\n@\nEOF",
            "cd a && cd b && apply_patch <<'EOF'\n@\nEOF",
            "apply_patch <<'EOF'\n@\nEOF\nls",
            "apply_patch <<'EOF' && ls\n@\nEOF",
            "apply_patch <<'EOF'; ls\n@\nEOF",
            "apply_patch x <<'EOF'\n@\nEOF",
            "A=1 apply_patch <<'EOF'\n@\nEOF",
            "apply_patch <<'EOF'\n@\nEOF\napply_patch <<'EOF'\n@\nEOF",
            "cat > a <<'EOF'\n@\nEOF",
            "apply_patch <<'EOF'\n@\n EOF",
            "apply_patch <<'EOF'\n@\nEOF ",
            "apply_patch <<'EOF'\n@\n",
            "apply_patch <<'EOF'\n@EOF",
            "apply_patch <<'EOF'\r\n@\r\nEOF\r\n",
            // These directories mean different ones to Codex, to the shell, or to different shells.
            "cd ~/a && apply_patch <<'EOF'\n@\nEOF",
            "cd '~/a' && apply_patch <<'EOF'\n@\nEOF",
            "cd - && apply_patch <<'EOF'\n@\nEOF",
            "cd && apply_patch <<'EOF'\n@\nEOF",
            "cd a b && apply_patch <<'EOF'\n@\nEOF",
            "cd a\\b && apply_patch <<'EOF'\n@\nEOF",
            "cd $A && apply_patch <<'EOF'\n@\nEOF",
            "cd \"$A\" && apply_patch <<'EOF'\n@\nEOF",
            "cd a* && apply_patch <<'EOF'\n@\nEOF",
            "cd a'b' && apply_patch <<'EOF'\n@\nEOF",
            "cd 'a''b' && apply_patch <<'EOF'\n@\nEOF",
            "cd '' && apply_patch <<'EOF'\n@\nEOF",
            // These patches are in other places.
            "apply_patch < file",
            "cat file | apply_patch",
            "apply_patch \"$(cat file)\"",
            "/usr/bin/applypatch<file",
            "if true; then apply_patch < file; fi",
            "A=1 sudo -u me apply_patch < file",
            "echo $(apply_patch < file)",
            "bash -lc 'apply_patch < file'",
            "sh -c \"env sh -c 'apply_patch < file'\"",
            "apply'_'patch < file",
            "sh <<'X'\napply_patch < file\nX",
            "echo 'apply_patch < file' | sh",
            "docker exec a apply_patch",
        ];
        for command in commands {
            let command = command.replace('@', patch);
            assert_eq!(in_command(&command), Err(HOW.to_owned()), "{command}");
        }
    }

    #[test]
    fn other_commands_apply_no_patch() {
        let commands = [
            "",
            "ls -l",
            "grep -rn apply_patch src",
            "grep sudo apply_patch",
            "grep -rn 'apply_patch <<' src && ls",
            "git commit -m 'apply_patch: say why'",
            "cat apply_patch.rs",
            "./apply_patches",
            "git log # apply_patch",
            "time ls apply_patch",
            "command -v apply_patch",
            "\"$X\" apply_patch",
        ];
        for command in commands {
            assert_eq!(in_command(command), Ok(None), "{command}");
        }
    }

    #[test]
    fn a_command_that_cannot_be_read_applies_what_it_names() {
        let nested = |program: &str| "eval ".repeat(200) + program;
        for (command, is_error) in [
            (nested("ls"), false),
            (nested("apply_patch"), true),
            ("echo \"".to_owned(), false),
            ("echo \"apply_patch".to_owned(), true),
            ("apply'_'patch x; echo \"".to_owned(), true),
        ] {
            assert_eq!(in_command(&command).is_err(), is_error, "{command}");
        }
    }

    #[derive(Debug, Clone)]
    enum Part {
        Add(String, Vec<String>),
        Delete(String),
        Update(String, Option<String>, Vec<(char, String)>),
    }

    fn path() -> impl Strategy<Value = String> {
        "[a-z./*@+ -]{0,6}[a-z*]"
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ -~äß]{0,12}",
            Just("*** Delete File: x".to_owned()),
            Just("*** End Patch".to_owned()),
        ]
    }

    fn part() -> impl Strategy<Value = Part> {
        let sign = prop_oneof![Just('+'), Just('-'), Just('@')];
        prop_oneof![
            (path(), vec(text(), 0..4)).prop_map(|(path, lines)| Part::Add(path, lines)),
            path().prop_map(Part::Delete),
            (
                path(),
                proptest::option::of(path()),
                vec((sign, text()), 0..4)
            )
                .prop_map(|(path, target, lines)| Part::Update(path, target, lines)),
        ]
    }

    fn text_of_part(part: &Part) -> String {
        match part {
            Part::Add(path, lines) => {
                let lines: String = lines.iter().map(|line| format!("+{line}\n")).collect();
                format!("*** Add File: {path}\n{lines}")
            }
            Part::Delete(path) => format!("*** Delete File: {path}\n"),
            Part::Update(path, target, lines) => {
                let line = |(sign, text): &(char, String)| match sign {
                    '@' => format!("@@ {text}\n"),
                    sign => format!("{sign}{text}\n"),
                };
                let lines: String = lines.iter().map(line).collect();
                let target = target
                    .iter()
                    .map(|target| format!("*** Move to: {target}\n"));
                format!(
                    "*** Update File: {path}\n{}{lines}",
                    target.collect::<String>()
                )
            }
        }
    }

    /// Returns the expected changes of a part: tool, path, old and new text.
    fn expected(part: &Part) -> Vec<(&'static str, String, String, String)> {
        let lines_of = |lines: &[(char, String)], mark: char| -> String {
            let lines = lines.iter().filter(|(sign, _)| *sign == mark);
            lines.map(|(_, text)| format!("{text}\n")).collect()
        };
        match part {
            Part::Add(path, lines) => {
                let new = lines.iter().map(|line| format!("{line}\n")).collect();
                vec![("write", path.clone(), String::new(), new)]
            }
            Part::Delete(path) => vec![("edit", path.clone(), String::new(), String::new())],
            Part::Update(path, target, lines) => {
                let (old, new) = (lines_of(lines, '-'), lines_of(lines, '+'));
                let edit = ("edit", path.clone(), old.clone(), new.clone());
                let write = target
                    .iter()
                    .map(|path| ("write", path.clone(), old.clone(), new.clone()));
                [edit].into_iter().chain(write).collect()
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_files_are_those_of_the_model(parts in vec(part(), 0..6)) {
            let body: String = parts.iter().map(text_of_part).collect();
            let patch = format!("*** Begin Patch\n{body}*** End Patch");
            let changes = files(&patch).unwrap().into_iter();
            let changes: Vec<_> = changes
                .map(|change| (change.tool, change.path.to_owned(), change.old, change.new))
                .collect();
            prop_assert_eq!(changes, parts.iter().flat_map(expected).collect::<Vec<_>>());
        }

        /// A line that names a file is found at each place, or the patch is an error.
        #[test]
        fn no_header_is_skipped(
            parts in vec(part(), 0..4),
            place in any::<proptest::sample::Index>(),
            header in "(Add File|Delete File|Update File|Move to): ",
            before in "[ \t]{0,2}",
            after in "[ \r]{0,1}",
        ) {
            let body: String = parts.iter().map(text_of_part).collect();
            let patch = format!("*** Begin Patch\n{body}*** End Patch");
            let mut lines: Vec<_> = patch.lines().map(str::to_owned).collect();
            let place = place.index(lines.len() + 1);
            lines.insert(place, format!("{before}*** {header}NAMED{after}"));
            if let Ok(changes) = files(&lines.join("\n")) {
                prop_assert!(changes.iter().any(|change| change.path == "NAMED"));
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(
            text in any::<String>(),
            lines in vec("(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: |Move to: b)|@@|[-+ ]|.{0,3})", 0..8),
        ) {
            let _ = (files(&text), in_command(&text));
            let patch = format!("*** Begin Patch\n{}", lines.join("\n"));
            let _ = (files(&patch), in_command(&format!("apply_patch <<{patch}")));
        }
    }
}
