//! The effect of a tool that no row names on its paths, as the words of its name and of its arguments suggest it.

use serde_json::{Map, Value};

use super::arguments::{WordList, add_texts, has_path, is_path, paths, words};

/// Our name of what a tool does that may change files.
pub(super) const EDIT: &str = "edit";

/// Words in the names of tools and operations that may move or remove a directory as a whole.
const MOVES: WordList = WordList(
    "chmod chown clean clone del delete destroy drop erase extract move mv nuke permission prune purge \
    relocate remove rename replace restore rm rmdir rmtree sync trash unlink unpack unzip wipe",
);

/// More such words. Git's own commands have some of these names, and do something else.
const MORE_MOVES: WordList = WordList(
    "chattr checkout chgrp clear copy cp decompress discard dispose empty exchange expand inflate link \
    mount obliterate overwrite recycle reset revert setfacl shred swap transfer migrate truncate \
    uncompress uninstall untar flush scrub zap",
);

/// Words beside such a word in the name of an operation.
const OF_MOVES: WordList = WordList(
    "after all dir directory file files folder force item items original path recursive source",
);

/// Words in the names of arguments that name the operation of one of git's tools.
const OPERATIONS: WordList =
    WordList("action arg args arguments argv command flags op operation subcommand");

/// The commands of git that only read files of the directory, or take them into the index.
const GIT_READS: WordList = WordList("add blame branch commit diff log show status");

/// Words in the names of arguments with a text that may be written.
const WRITTEN: WordList = WordList("append body content contents data output text value write");

/// Words in the names of arguments that say from where something is fetched.
const SOURCES: WordList = WordList("address from host remote server source uri url");

/// Words in the names of arguments with the place of the work.
const PLACES: WordList =
    WordList("base cwd project repo repository root working workspace worktree");

/// Words in the names of arguments whose texts are for people, for a search or for a build: no operation.
const TEXTS: WordList = WordList(
    "body code comment content contents description exclude filter glob ignore keyword markdown message \
    name pattern patterns prompt query regex script search string substring target task tasks text texts \
    title",
);

/// First words of the names of tools that only read.
const READS: WordList = WordList("directory find get grep list read search show tree view");

/// The words that may follow. With another one, the tool may also write: `get_or_create_file`.
const READ: WordList = WordList(
    "content contents dir directories directory file files image info lines media multiple size sizes \
    text tree with",
);

/// Words in the names of tools that only read which say that they list, or search.
const LISTS: WordList = WordList("dir directories directory list tree");
const SEARCHES: WordList = WordList("find grep search");

/// Returns the tool's own name of one of an MCP server.
fn own_name(tool: &str) -> &str {
    let own = tool.rsplit_once("__").map(|(_, own)| own);
    own.filter(|own| !own.is_empty()).unwrap_or(tool)
}

/// Returns whether a tool is one of git's, whose calls name the repository beside files and branches.
pub(super) fn is_of_git(tool: &str) -> bool {
    words(own_name(tool))
        .next()
        .is_some_and(|word| word == "git")
}

/// Returns whether a tool only reads, by each word of its name: `read_text_file`.
fn is_read(tool: &str, arguments: &Map<String, Value>) -> bool {
    let mut words = words(own_name(tool));
    let first = words.next().unwrap_or_default();
    // Such a tool may fetch a file, which is written here.
    let may_fetch = !matches!(&*first, "list" | "read");
    READS.has(&first)
        && words.all(|word| READ.has(&word))
        && !has_name_of(arguments, &WRITTEN)
        && !(may_fetch && (paths(arguments).len() > 1 || has_name_of(arguments, &SOURCES)))
        && names_of_paths(arguments) <= 1
        && !has_address(arguments)
}

/// Returns our name of what a tool does with its paths, by the words of its name.
pub(super) fn of_paths(tool: &str, arguments: &Map<String, Value>) -> &'static str {
    let has = |known: &WordList| words(own_name(tool)).any(|word| known.has(&word));
    if moves(tool, arguments) || !is_read(tool, arguments) {
        EDIT
    } else if has(&LISTS) {
        "ls"
    } else if has(&SEARCHES) {
        "grep"
    } else {
        "read"
    }
}

/// Returns whether a call of one of git's tools only reads files, or takes them into its index, by the name of the tool.
pub(super) fn is_read_by_git(tool: &str, arguments: &Map<String, Value>) -> bool {
    let mut words = words(own_name(tool)).skip(1);
    let is_verb = words.next().is_some_and(|verb| GIT_READS.has(&verb));
    let has_option = arguments
        .iter()
        .any(|(name, value)| !is_text(name) && has_option(value));
    is_of_git(tool)
        && is_verb
        && words.next().is_none()
        && !has_option
        && !has_name_of(arguments, &WRITTEN)
        && !has_address(arguments)
}

fn is_text(name: &str) -> bool {
    words(name).any(|word| TEXTS.has(&word))
}

/// Returns whether an argument has one of these words in its name, at any depth.
fn has_name_of(arguments: &Map<String, Value>, known: &WordList) -> bool {
    arguments.iter().any(|(name, value)| {
        words(name).any(|word| known.has(&word)) || has_name_within(value, known)
    })
}

fn has_name_within(value: &Value, known: &WordList) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| has_name_within(value, known)),
        Value::Object(members) => has_name_of(members, known),
        _ => false,
    }
}

/// Returns the number of arguments that name paths, those within others too.
fn names_of_paths(arguments: &Map<String, Value>) -> usize {
    let within = |value: &Value| match value {
        Value::Array(values) => {
            let objects = values.iter().filter_map(Value::as_object);
            objects.map(names_of_paths).max().unwrap_or_default()
        }
        Value::Object(members) => names_of_paths(members),
        _ => 0,
    };
    let each = arguments.iter();
    each.map(|(name, value)| within(value).max(usize::from(has_path(name, value))))
        .sum()
}

/// Returns whether a text of a call is, or has, an address.
fn has_address(arguments: &Map<String, Value>) -> bool {
    let mut texts = Vec::new();
    for (name, value) in arguments {
        add_texts(is_path(name), value, &mut texts);
    }
    let paths = paths(arguments);
    let paths = paths.iter().map(|path| &**path);
    texts
        .into_iter()
        .chain(paths)
        .any(|text| text.contains("://"))
}

/// Returns whether a value is, or has, a text that a program may read as an option.
fn has_option(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('-'),
        Value::Array(values) => values.iter().any(has_option),
        Value::Object(members) => members.values().any(has_option),
        _ => false,
    }
}

/// Returns whether a tool, or a word in its arguments, may move or remove a directory as a whole.
pub(super) fn moves(tool: &str, arguments: &Map<String, Value>) -> bool {
    let of_git = is_of_git(tool);
    let is_operation = |name: &str| words(name).any(|word| OPERATIONS.has(&word));
    is_move(own_name(tool), of_git)
        || arguments.iter().any(|(name, value)| {
            let is_option = !of_git && is_move_alone(name) && *value != Value::Bool(false);
            let may_name = if of_git {
                is_operation(name)
            } else {
                !is_text(name)
            };
            is_option || may_name && names_a_move(value)
        })
}

/// Returns whether a value is, or has, the name of such an operation.
fn names_a_move(value: &Value) -> bool {
    match value {
        Value::String(text) => is_move_alone(text),
        Value::Array(values) => values.iter().any(names_a_move),
        Value::Object(members) => members.iter().any(|(name, value)| {
            is_move_alone(name) && *value != Value::Bool(false) || names_a_move(value)
        }),
        _ => false,
    }
}

/// Returns whether a name has a word for such an operation.
fn is_move(name: &str, of_git: bool) -> bool {
    // A name in small letters has no mark between its words: `deletedir`.
    let is_move = |word: &str| {
        let more = (!of_git).then_some(MORE_MOVES);
        let mut known = [Some(MOVES), more]
            .into_iter()
            .flatten()
            .flat_map(|list| list.each());
        known.any(|one| word == one || one.len() > 3 && word.starts_with(one))
    };
    words(name).any(|word| is_move(&word))
}

/// Returns whether a name says such an operation and nothing else: `deleteAll`, not `deleted items`.
fn is_move_alone(name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_known = |word: &str| MOVES.has(word) || MORE_MOVES.has(word);
    let mut has_move = false;
    let is_alone = words(name).all(|word| {
        has_move |= is_known(&word);
        is_known(&word) || OF_MOVES.has(&word)
    });
    is_alone && has_move && name.chars().all(is_name)
}

/// Returns whether an argument names the place of the work, such as a repository, and not what is worked on.
pub(super) fn is_place(name: &str) -> bool {
    // `pathInProject` names a file.
    let is_first = words(name).next().is_some_and(|word| PLACES.has(&word));
    let is_repository = words(name).any(|word| matches!(&*word, "repo" | "repository"));
    is_first || is_repository || matches!(name, "dir" | "directory" | "folder")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn words_tell_what_moves_a_directory() {
        for (tool, value, expected) in [
            ("mcp__fs__delete_directory", json!({}), true),
            ("mcp__fs__removeDir", json!({}), true),
            ("mcp__fs__rmdir", json!({}), true),
            ("fs-deletedir", json!({}), true),
            ("mcp__git__git_clean", json!({}), true),
            ("mcp__fs__manage", json!({"action": "delete"}), true),
            ("mcp__fs__manage", json!({"x": [{"op": "RENAME"}]}), true),
            ("mcp__remove__list", json!({}), false),
            (
                "mcp__git__git_status",
                json!({"repo_path": "/a/remove"}),
                false,
            ),
            (
                "mcp__git__git_commit",
                json!({"message": "remove the file"}),
                false,
            ),
            ("mcp__git__git_format", json!({}), false),
        ] {
            let arguments = arguments(value);
            assert_eq!(moves(tool, &arguments), expected, "{tool} {arguments:?}");
        }
    }
}
