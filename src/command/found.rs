//! The files that `find` and `fd` find, as patterns: those below their directories, with one of their names. Looks at no files.

use super::expand::{A_NAME, ANY, Arg};
use super::options::Options;
use super::run::MOST_FEEDERS;
use super::starts::{arguments, program};

/// The pattern that stands for all names.
const ANY_NAME: &str = "*";

/// The tests of `find` that leave out most files, besides names.
const NARROWS: &str = "-path -ipath -wholename -iwholename -regex -iregex -empty -size -xtype -inum -samefile -newer \
     -newermt -mtime -mmin -atime -ctime -cmin";

/// The actions of `find` and `fd` besides printing a path.
const ACTIONS: &str = "-printf -fprintf -ls -exec -execdir -x -X --exec --exec-batch";

/// Returns the patterns of the files that the program at a place finds; none if it finds no files.
pub(super) fn found(words: &[Arg], at: usize) -> Option<Vec<Arg>> {
    match program(words, at)? {
        "find" => Some(found_by_find(arguments(words, at))),
        "fd" | "fdfind" => Some(found_by_fd(arguments(words, at))),
        _ => None,
    }
}

/// Returns whether `find` prints something else than what it finds.
pub(super) fn prints_otherwise(words: &[Arg]) -> bool {
    words.iter().any(|word| is_one_of(ACTIONS, word.text()))
}

fn is_one_of(names: &str, text: &str) -> bool {
    names.split(' ').any(|name| name == text)
}

/// Leaves out most of the files of patterns that stand for everything.
pub(super) fn narrow(found: &mut [Arg]) {
    for value in found.iter_mut().flat_map(|word| &mut word.values) {
        if let Some(directory) = value.strip_suffix("/**/*") {
            *value = format!("{directory}/**/{A_NAME}");
        }
    }
}

fn found_by_find(words: &[Arg]) -> Vec<Arg> {
    let is_root = |word: &&Arg| !word.is_option() && !matches!(word.text(), "(" | "!");
    let roots = words.iter().take_while(is_root).map(Arg::text).collect();
    let alternatives = words.split(|word| matches!(word.text(), "-o" | "-or" | ","));
    // `-path ./keep -prune -o -print`: beside an action, the one without says only what is not searched.
    let is_pruned =
        |words: &&[Arg]| words.iter().any(|word| word.text() == "-prune") && !acts(words);
    let alternatives = alternatives.filter(|part| !(is_pruned(part) && acts(words)));
    let mut names: Vec<_> = alternatives.flat_map(names_of_find).collect();
    if names.contains(&ANY_NAME) {
        names = vec![ANY_NAME];
    }
    below(roots, &names)
}

/// Returns whether an alternative of `find` does something with what it finds.
fn acts(words: &[Arg]) -> bool {
    let acts = |text: &str| {
        is_one_of(ACTIONS, text) || is_one_of("-ok -okdir -delete -print -print0", text)
    };
    words.iter().any(|word| acts(word.text()))
}

/// Returns the names for which an alternative of `find` looks. A test that is negated leaves out little.
fn names_of_find(words: &[Arg]) -> Vec<&str> {
    let is_negated = |place: usize| {
        let before = place.checked_sub(1).and_then(|place| words.get(place));
        before.is_some_and(|word| matches!(word.text(), "!" | "-not"))
    };
    let tests = words
        .iter()
        .enumerate()
        .filter(|(place, _)| !is_negated(*place));
    let tests: Vec<_> = tests
        .map(|(place, word)| (word.text(), words.get(place + 1)))
        .collect();
    let names = tests
        .iter()
        .filter(|(test, _)| matches!(*test, "-name" | "-iname"));
    let names: Vec<_> = names.filter_map(|(_, name)| name.map(Arg::text)).collect();
    if !names.is_empty() {
        return names;
    }
    let is_narrow = tests.iter().any(|(test, _)| is_one_of(NARROWS, test));
    vec![if is_narrow { A_NAME } else { ANY_NAME }]
}

/// `fd -t d node_modules DIRECTORY -x rm -rf`
fn found_by_fd(words: &[Arg]) -> Vec<Arg> {
    let is_action = |word: &Arg| matches!(word.text(), "-x" | "-X" | "--exec" | "--exec-batch");
    let end = words.iter().position(is_action).unwrap_or(words.len());
    let operands = Options::new("fd", &words[..end]).operands();
    let mut operands = operands.into_iter().map(Arg::text);
    let name = match operands.next().unwrap_or(".") {
        "." | "" => ANY_NAME.to_owned(),
        text => format!("*{text}*"),
    };
    below(operands.collect(), &[&name])
}

/// Returns the patterns of the files with one of these names below one of these directories.
fn below(mut roots: Vec<&str>, names: &[&str]) -> Vec<Arg> {
    if roots.is_empty() {
        roots.push(".");
    }
    let pairs = roots
        .iter()
        .flat_map(|root| names.iter().map(move |name| (root, name)));
    let found = pairs.take(MOST_FEEDERS).map(|(root, name)| Arg {
        is_pattern: true,
        ..Arg::new(format!("{}/**/{name}", root.trim_end_matches('/')))
    });
    let more = (roots.len() * names.len() > MOST_FEEDERS).then(|| Arg::new(ANY));
    found.chain(more).collect()
}
