//! Tests the words of commands, in a table.

use super::*;

/// Returns the words and operators as one line; `…` marks a word that expands.
fn shown(command: &str) -> String {
    line(&words(command))
}

fn line(read: &CommandText) -> String {
    let mut shown = Vec::new();
    for token in &read.tokens {
        shown.push(match token {
            Token::Operator("\n") => "NL".to_owned(),
            Token::Operator(operator) => (*operator).to_owned(),
            Token::Word(word) if word.expands => format!("<{}…>", word.text),
            Token::Word(word) => format!("<{}>", word.text),
        });
    }
    for code in &read.nested {
        shown.push(format!("({})", line(code)));
    }
    if read.incomplete {
        shown.push("INCOMPLETE".to_owned());
    }
    shown.join(" ")
}

#[test]
fn words_follow_posix() {
    for (command, expected) in [
        ("./gu\\\nard.sh --x", "<./guard.sh> <--x>"),
        ("\"./my guard.sh\"", "<./my guard.sh>"),
        ("./gu\"ar\"d.sh", "<./guard.sh>"),
        (
            "a\\ b 'c d'\\''e' \"f\\g\\\"\\$h\"",
            "<a b> <c d'e> <f\\g\"$h>",
        ),
        ("a;b&&c|d # no '\ne", "<a> ; <b> && <c> | <d> NL <e>"),
        ("a 2>&1 >/dev/null 2>b", "<a> >& <1> > </dev/null> > <b>"),
        ("sh $x.sh", "<sh> <$x.sh…>"),
        ("sh \"${N}.sh\" '$N'", "<sh> <${N}.sh…> <$N>"),
        (
            "sh $(echo \")\" # '\n a)",
            "<sh> <$(echo \")\" # '\n a)…> (<echo> <)> NL <a>)",
        ),
        ("a `b c` \"`d`\"", "<a> <`b c`…> <`d`…> (<b> <c>) (<d>)"),
        (
            "gu{ar,x}d.sh {} { [ x ]",
            "<gu{ar,x}d.sh…> <{}> <{> <[> <x> <]>",
        ),
        ("\\*.sh *.sh ~/x", "<*.sh> <*.sh…> <~/x…>"),
        ("diff <(a) x", "<diff> <<(a)…> <x> (<a>)"),
        (
            "echo $((1 + $x)) ${a:-b c}",
            "<echo> <$((1 + $x))…> <${a:-b c}…>",
        ),
        (
            "echo \"$(a \"$(b)\")\"",
            "<echo> <$(a \"$(b)\")…> (<a> <$(b)…> (<b>))",
        ),
        ("cat <<E; x\n$a 'b\nE\ny", "<cat> << <E> ; <x> NL <y>"),
        ("cat <<-'E'\n$(a)\n\tE\ny", "<cat> <<- <E> NL <y>"),
        ("a &>b c", "<a> & > <b> <c>"),
        ("f() { a; }", "<f> ( ) <{> <a> ; <}>"),
        ("a $ b$ a#b =x", "<a> <$> <b$> <a#b> <=x…>"),
        ("a \\\n b &&\\\n c", "<a> <b> && <c>"),
    ] {
        assert_eq!(shown(command), expected, "{command}");
    }
}

#[test]
fn ambiguous_constructs_are_not_followed() {
    for command in [
        "a 'b",
        "a $(b",
        "cat <<E\nx",
        "$'a\\x2e'",
        "echo ${x:-{a} ; sh F; echo }",
        "echo ${x:=1} ",
        "echo \"${x:-'}\"; ./F; echo \"'}\"",
        "echo ${!x} ",
        "echo ${x@P}",
        "echo ${x:y}",
        "${ sh F; }",
        "echo \"$\\\n(sh F)\"",
        "cat <\\\n<E\necho '\nE\nsh F\n: '' # '",
        "echo \"`: \\\" # \\\"; sh F`\"",
        "echo $((true '$(sh F)'))",
        "echo $((true)&&(sh F))",
        ": $((PATH=1)); tail x",
        "cat <<$'E'\n$E\nsh F\n$'E'",
        "cat <<EF\nE\\\nF\nsh F\nEF",
        "sh 10<x",
        "sh 3<x",
        "sh {fd}<y",
        "echo ${x:-<(sh F)}",
        "./@(echo)",
        "(( true ))",
        "echo $(case a in a) sh F;; esac)",
        "cat <<E $(echo\nsh F\nE\n)",
    ] {
        assert!(words(command).incomplete, "{command}");
    }
}

#[test]
fn deep_or_long_commands_take_linear_time() {
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

#[test]
fn directories_are_put_into_plain_commands() {
    let directories = [("ROOT", "/p"), ("PLUGIN", "/pl")];
    let directories = directories.map(|(name, path)| (name.to_owned(), path.into()));
    for (command, expected) in [
        ("\"$ROOT\"/a.sh x", "\"/p\"/a.sh x"),
        ("bash ${PLUGIN}/a.sh", "bash /pl/a.sh"),
        ("$ROOTS/a", "$ROOTS/a"),
        ("${ROOT:-.}/a", "${ROOT:-.}/a"),
        ("'$ROOT'/a", "'$ROOT'/a"),
        ("\\$ROOT/a", "\\$ROOT/a"),
        ("ROOT=x; $ROOT/a", "ROOT=x; $ROOT/a"),
    ] {
        assert_eq!(with_directories(command, &directories), expected);
    }
    let spaced = [("ROOT".to_owned(), "/a b".into())];
    assert_eq!(with_directories("$ROOT/a", &spaced), "$ROOT/a");
}
