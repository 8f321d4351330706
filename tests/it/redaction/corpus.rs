//! Reads the tables of texts, one row a line. Cells are separated by a tab; a line break within a cell is `⏎`, a carriage
//! return `␍`, a tab `⇥`. None of the tokens was ever valid.

pub(super) type Rows = Vec<Vec<String>>;

fn rows(table: &str) -> Rows {
    let cell = |cell: &str| {
        cell.replace('⏎', "\n")
            .replace('␍', "\r")
            .replace('⇥', "\t")
    };
    let row = |row: &str| row.split('\t').map(cell).collect();
    table.lines().map(row).collect()
}

/// Texts with the secret in each, and what must still be there.
pub(super) fn secrets() -> Rows {
    rows(include_str!("secrets.tsv"))
}

/// A text of each form, and what becomes of it.
pub(super) fn shown() -> Rows {
    rows(include_str!("shown.tsv"))
}

/// Tokens in the shapes that vendors give them.
pub(super) fn tokens() -> Rows {
    rows(include_str!("tokens.txt"))
}

/// Secrets that are not found: they need a grammar, the options of one program, or a token that begins like a word.
/// Each row has its secret.
pub(super) fn leaks() -> Rows {
    rows(include_str!("leaks.tsv"))
}

/// Texts of compilers, tests, programs and people that contain no secret.
pub(super) fn ordinary() -> Rows {
    rows(include_str!("ordinary.txt"))
}

/// Ordinary texts that no rule spares, and what becomes of them.
pub(super) fn changed() -> Rows {
    rows(include_str!("changed.tsv"))
}

/// Lines as they occur in commands, logs and files, written without looking at the rules, with the secret in each. No
/// list of promises: rules are not made for these lines one by one.
pub(super) fn held_out() -> Rows {
    rows(include_str!("held_out_secrets.tsv"))
}

/// Such lines without a secret.
pub(super) fn held_out_ordinary() -> Rows {
    rows(include_str!("held_out_ordinary.txt"))
}

/// Values that a host knows: a text, what becomes of it, and the values. The longer of two leaves no tail, in whatever
/// order they come; they are found as they are in JSON, and by the line; what is too short, or stands in every other
/// line, is left.
pub(super) fn known() -> Rows {
    rows(include_str!("known.tsv"))
}

/// Texts that once took quadratic time if they were repeated.
pub(super) fn slow() -> Vec<String> {
    rows(include_str!("slow.txt")).concat()
}

/// The forms of a text with a secret: `KEY` is its key, `{}` its place.
pub(super) fn forms() -> Vec<String> {
    rows(include_str!("forms.txt")).concat()
}

/// Fragments from which tests build texts in which rules meet.
pub(super) fn fragments() -> Vec<String> {
    rows(include_str!("fragments.tsv")).concat()
}
