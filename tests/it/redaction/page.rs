//! docs/program.md, "Redaction", shows what is found and what is not: each row is tried.

use forge_hooks::Redactor;

const PAGE: &str = include_str!("../../../docs/program.md");

/// The cells of a table's row that are code.
fn codes(row: &str) -> Vec<String> {
    let cells = row.trim_matches('|').split(" | ");
    let code = |cell: &str| {
        let code = cell.trim().strip_prefix('`')?.strip_suffix('`')?;
        Some(code.replace(" ⏎ ", "\n").replace("\\|", "|"))
    };
    cells.skip(1).filter_map(code).collect()
}

#[test]
fn the_page_is_true() {
    let redactor = Redactor::new();
    let (_, section) = PAGE.split_once("\n## Redaction\n").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let mut tried = 0;
    for row in rows {
        match &codes(row)[..] {
            [] => continue,
            [before, after] => assert_eq!(redactor.text(before), *after),
            [text] => assert_eq!(redactor.text(text), *text),
            _ => panic!("a row of another form: {row}"),
        }
        tried += 1;
    }
    assert!(tried > 50, "{tried}");
}
