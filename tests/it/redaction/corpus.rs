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

/// Tokens in the shapes that vendors give them.
pub(super) fn tokens() -> Rows {
    rows(include_str!("tokens.txt"))
}

/// What takes a grammar, the options of one program, or a token that begins like a word; with the secret in it. Not found.
pub(super) fn leaks() -> Rows {
    rows(include_str!("leaks.tsv"))
}

/// What compilers, tests, programs and people write that holds no secret.
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
