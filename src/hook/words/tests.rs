//! What the words of a command are, in a table.

use super::*;

/// The words and operators, as one line; `…` marks what expands.
fn shown(command: &str) -> String {
    let read = words(command);
    let mut shown = Vec::new();
    for token in &read.tokens {
        shown.push(match token {
            Token::Operator("\n") => "NL".to_owned(),
            Token::Operator(operator) => (*operator).to_owned(),
            Token::Word(word) if word.expands => format!("<{}…>", word.text),
            Token::Word(word) => format!("<{}>", word.text),
        });
    }
    for code in &read.substitutions {
        shown.push(format!("code:{code}"));
    }
    if read.incomplete {
        shown.push("INCOMPLETE".to_owned());
    }
    shown.join(" ")
}

#[test]
fn words_are_read_as_posix_says() {
    for (command, expected) in [
        ("./gu\\\nard.sh --x", "<./guard.sh> <--x>"),
        ("\"./my guard.sh\"", "<./my guard.sh>"),
        ("./gu\"ar\"d.sh", "<./guard.sh>"),
        (
            "a\\ b 'c d'\\''e' \"f\\g\\\"\\$h\"",
            "<a b> <c d'e> <f\\g\"$h>",
        ),
        ("a;b&&c|d # no\ne", "<a> ; <b> && <c> | <d> NL <e>"),
        ("a 2>&1 >/dev/null 2>b", "<a> >& <1> > </dev/null> > <b>"),
        ("sh $x.sh", "<sh> <$x.sh…>"),
        ("sh \"${N}.sh\" '$N'", "<sh> <${N}.sh…> <$N>"),
        (
            "sh $(echo \")\" a)",
            "<sh> <$(echo \")\" a)…> code:echo \")\" a",
        ),
        ("a `b \\`c\\``", "<a> <`b `c``…> code:b `c`"),
        (
            "gu{ar,x}d.sh {} { [ x ]",
            "<gu{ar,x}d.sh…> <{}> <{> <[> <x> <]>",
        ),
        (
            "$'a\\x2e' \\*.sh *.sh ~/x",
            "<$'a\\x2e'…> <*.sh> <*.sh…> <~/x…> INCOMPLETE",
        ),
        (
            "a &>b c \"${x:-'}\"",
            "<a> & > <b> <c> <${x:-'}\"…> INCOMPLETE",
        ),
        ("diff <(a) x", "<diff> <<(a)…> <x> code:a"),
        (
            "echo $((1 + $x)) ${a:-$(b)}",
            "<echo> <$((1 + $x))…> <${a:-$(b)}…> code:b",
        ),
        (
            "echo $((a + $(b)))",
            "<echo> <$((a + $(b)))…> code:(a + $(b))",
        ),
        (
            "cat <<E; x\n$(a) 'b\nE\ny",
            "<cat> << <E> ; <x> NL <y> code:a",
        ),
        ("cat <<-'E'\n$(a)\n\tE\ny", "<cat> <<- <E> NL <y>"),
        ("a 'b", "<a> <b> INCOMPLETE"),
        ("a $(b", "<a> <$(b…> code:b INCOMPLETE"),
        ("cat <<E\nx", "<cat> << <E> NL INCOMPLETE"),
        ("a $ b$", "<a> <$> <b$>"),
        ("a#b =x", "<a#b> <=x…>"),
    ] {
        assert_eq!(shown(command), expected, "{command}");
    }
}

#[test]
fn nesting_and_length_end_no_thread() {
    for part in [
        "$(", "`", "\"$(", "${", "((", "<<E\n", "$((", "\"${a:-", "'", "\\",
    ] {
        let text = part.repeat(200_000);
        let start = std::time::Instant::now();
        let _ = words(&text);
        let took = start.elapsed();
        assert!(
            took < std::time::Duration::from_secs(20),
            "{part}: {took:?}"
        );
    }
}
