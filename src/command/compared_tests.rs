//! Compares with tree-sitter-bash: a program that it finds must not be lost.
//!
//! It is not used itself: it takes quadratic time, and a C compiler. A text in which it sees an error is not compared.

use tree_sitter::{Node, Parser};

use super::tests::{lines, unescaped};
use super::*;

/// Texts around each text of the files of cases.
const AROUND: [(&str, &str); 14] = [
    ("", ""),
    ("if ", "\nthen x; fi"),
    ("(", "\n)"),
    ("x=$(", "\n) y"),
    ("echo \"$(", "\n)\""),
    ("f() { ", "\n}; f"),
    ("case a in a) ", "\n;; esac"),
    ("for x in a; do ", "\ndone"),
    ("a <(", "\n)"),
    ("while ", "\ndo a; done"),
    ("a && ", "\n"),
    ("a | ", "\n"),
    ("a 2>&1; ", "\nb"),
    ("{ ", "\n} > x"),
];

/// Words that are no programs, although tree-sitter-bash says so, each with the reason.
const NONE: [(&str, &str); 6] = [
    ("time", "a keyword in front of a group"),
    ("coproc", "a keyword"),
    ("function", "a keyword, behind `!`"),
    ("if", "a keyword, behind `!`"),
    ("for", "a keyword, behind `!`"),
    ("while", "a keyword, behind `!`"),
];

/// Returns the programs that tree-sitter-bash finds, or none if it sees an error.
fn programs(parser: &mut Parser, text: &str) -> Option<Vec<String>> {
    let tree = parser.parse(text, None).unwrap();
    if tree.root_node().has_error() {
        return None;
    }
    let mut programs = Vec::new();
    let mut nodes: Vec<Node<'_>> = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        if node.kind() == "command_name" {
            programs.push(text[node.byte_range()].to_owned());
        }
        nodes.extend(node.children(&mut node.walk()));
    }
    Some(programs)
}

/// Returns the pattern of a program's name; none if the name has quotes, substitutions or patterns.
fn pattern(program: &str) -> Option<Pattern> {
    let name = program.rsplit('/').next().unwrap();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let is_plain = !name.contains(|c: char| "$\"'\\`*?[]{}~=()<>&;|!#".contains(c));
    let is_program = NONE.iter().all(|(none, _)| *none != name);
    Pattern::new(name).ok().filter(|_| is_plain && is_program)
}

#[test]
fn no_program_of_tree_sitter_is_lost() {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .unwrap();
    let files = [
        include_str!("../../tests/it/command/guards.txt"),
        include_str!("../../tests/it/command/ordinary.txt"),
        include_str!("../../tests/it/command/sentences.txt"),
    ];
    let cases = files.into_iter().flat_map(lines);
    let texts = cases.filter_map(|line| {
        let (kind, text) = line.split_once(' ')?;
        ["+", "-", "?", ">", "!"]
            .contains(&kind)
            .then(|| unescaped(text))
    });
    let mut lost = Vec::new();
    let mut count = 0;
    for (index, text) in texts.enumerate() {
        let all = crate::thorough::all_cases();
        // Another form for each text, and all of them in a thorough run.
        let forms = AROUND.iter().enumerate();
        let forms = forms.filter(|(form, _)| all || *form == index % AROUND.len());
        for (_, (before, after)) in forms {
            let text = format!("{before}{text}{after}");
            let commands = Commands::read(&text);
            // To it, a word ends where two lines are joined.
            let is_read = commands.unread() == Answer::No && !text.contains("\\\n");
            let Some(programs) = programs(&mut parser, &text).filter(|_| is_read) else {
                continue;
            };
            for pattern in programs.iter().filter_map(|program| pattern(program)) {
                count += 1;
                if commands.runs(&pattern) == Answer::No {
                    lost.push(format!("{} in {text:?}", pattern.text));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(count > 800, "{count}");
}
