//! Guards with their commands, the sentences of the page, and texts of any kind.

use super::glob::Glob;
use super::*;

/// Returns the lines of a file of cases, without comments.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let is_case = |line: &&str| !line.is_empty() && !line.starts_with('#');
    text.lines().filter(is_case)
}

pub(super) fn unescaped(text: &str) -> String {
    let text = text.replace('⏎', "\n").replace('⇥', "\t");
    text.replace('␍', "\r")
}

/// A guard of `guards.txt`.
#[derive(Default)]
struct Guard {
    name: String,
    patterns: Vec<Pattern>,
    /// These also need a path outside of the project.
    outside: Vec<Pattern>,
    with: Option<regex::Regex>,
    writes: Vec<String>,
    cases: Vec<(char, String)>,
}

impl Guard {
    /// Returns why a command is blocked.
    fn block(&self, text: &str) -> Option<String> {
        let commands = Commands::read(text);
        if let Answer::Unknown(reason) = commands.unread() {
            return Some(reason);
        }
        let has_text = |met: &Met<'_>| match &self.with {
            Some(regex) => met.texts().any(|text| regex.is_match(&text)),
            None => true,
        };
        for pattern in &self.patterns {
            if let Some(met) = commands.met(pattern).iter().find(|met| has_text(met)) {
                return Some(format!("{:?}", met.answer()));
            }
        }
        let leaves = |met: &&Met<'_>| met.paths().iter().any(is_outside);
        for pattern in &self.outside {
            if let Some(met) = commands.met(pattern).iter().find(leaves) {
                return Some(format!("{:?} {:?}", met.answer(), met.paths()));
            }
        }
        // No target is a directory here.
        let is_own = |target: &super::writes::Target<'_>| {
            let is_written = |glob: &String| is_path(glob, &target.path);
            target.directory.is_none() && self.writes.iter().any(is_written)
        };
        let target = commands.written().find(is_own)?;
        Some(format!("{:?} of {}", target.path, target.command()))
    }
}

/// The path from the project, as a caller would resolve it.
fn normal(path: &str) -> String {
    let (root, rest) = match path.strip_prefix('~') {
        Some(rest) => ("~", rest.to_owned()),
        None if path.starts_with('/') => ("", path.to_owned()),
        None => ("", format!("/work/{path}")),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let absolute = format!("{root}/{}", parts.join("/"));
    match absolute.strip_prefix("/work") {
        Some(rest) => rest.trim_start_matches('/').to_owned(),
        None => absolute,
    }
}

fn is_outside(path: &Path) -> bool {
    let (Path::Known(path)
    | Path::Below {
        directory: path, ..
    }) = path
    else {
        return false;
    };
    let path = normal(path);
    path.starts_with(['/', '~']) && !path.starts_with("/tmp/")
}

fn is_path(glob: &str, path: &Path) -> bool {
    let path = match path {
        Path::Known(path) => normal(path),
        Path::Below { directory, pattern } => normal(&format!("{directory}/{pattern}")),
        Path::Unknown { ending, .. } => ending.trim_start_matches('/').to_owned(),
    };
    let is = |glob: &str| Glob::new(&glob.replace("**", "*")).unwrap().is(&path);
    is(glob) || glob.strip_prefix("**/").is_some_and(is)
}

fn guards() -> Vec<Guard> {
    let mut guards: Vec<Guard> = Vec::new();
    for line in lines(include_str!("../../tests/it/command/guards.txt")) {
        let (kind, text) = line.split_once(' ').unwrap();
        if kind == "==" {
            guards.push(Guard {
                name: text.to_owned(),
                ..Guard::default()
            });
            continue;
        }
        let guard = guards.last_mut().unwrap();
        let pattern = || Pattern::new(text).unwrap();
        match kind {
            "runs" => guard.patterns.push(pattern()),
            "outside" => guard.outside.push(pattern()),
            "with" => guard.with = Some(regex::Regex::new(text).unwrap()),
            "writes" => guard.writes.push(text.to_owned()),
            sign => {
                let sign = sign.chars().next().unwrap();
                guard.cases.push((sign, unescaped(text)));
            }
        }
    }
    guards
}

#[test]
fn guards_find_acts_and_no_near_misses() {
    let guards = guards();
    let mut wrong = Vec::new();
    for guard in &guards {
        for (sign, text) in &guard.cases {
            let block = guard.block(text);
            if block.is_some() != (*sign == '+') {
                wrong.push(format!("{}: {sign} {text:?}: {block:?}", guard.name));
            }
        }
    }
    assert_eq!(guards.len(), 22);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Adds the message if a pattern is read, or if its error says something else.
fn check_error<T>(line: &str, read: impl Fn(&str) -> Result<T, String>, wrong: &mut Vec<String>) {
    let (pattern, part) = line.split_once(" => ").unwrap();
    match read(pattern) {
        Err(error) if error.contains(part) => {}
        Err(error) => wrong.push(format!("{pattern}: {error}")),
        Ok(_) => wrong.push(format!("{pattern} is read")),
    }
}

fn sign(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes { .. } => "+",
        Answer::Unknown(_) => "?",
        Answer::No => "-",
    }
}

#[test]
fn the_sentences_are_true() {
    let mut wrong = Vec::new();
    let mut pattern = None;
    let mut last = Answer::No;
    for line in lines(include_str!("../../tests/it/command/sentences.txt")) {
        let (kind, text) = line.split_once(' ').unwrap();
        match kind {
            "==" => {}
            "runs" => pattern = Some(Pattern::new(text).unwrap()),
            "error" => check_error(text, Pattern::new, &mut wrong),
            "because" => {
                if !format!("{last:?}").replace('\\', "").contains(text) {
                    wrong.push(format!("{last:?} does not say {text:?}"));
                }
            }
            expected => {
                let pattern = pattern.as_ref().unwrap();
                last = Commands::read(&unescaped(text)).runs(pattern);
                if sign(&last) != expected {
                    wrong.push(format!("{}: {line}: {last:?}", pattern.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn written_files_are_found() {
    let mut wrong = Vec::new();
    for line in lines(include_str!("../../tests/it/command/writes.txt")) {
        let (text, expected) = line.split_once(" =>").unwrap();
        let commands = Commands::read(&unescaped(text));
        let written = commands.written().map(|target| match target.path {
            Path::Known(path) if target.directory.is_some() => format!("{path}?"),
            Path::Known(path) => path,
            Path::Below { directory, pattern } => format!("{directory}<{pattern}>"),
            Path::Unknown { ending, .. } => format!("?{ending}"),
        });
        let written: Vec<_> = written.collect();
        let expected: Vec<_> = expected.split_whitespace().collect();
        if written != expected {
            wrong.push(format!("{line}: {written:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_list_covers_what_it_names() {
    let mut wrong = Vec::new();
    let mut patterns: Vec<&str> = Vec::new();
    for line in lines(include_str!("../../tests/it/command/only.txt")) {
        let (kind, text) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "==" => patterns.clear(),
            "only" => patterns.push(text),
            "error" => check_error(text, |text| Only::new([text]), &mut wrong),
            expected => {
                let only = Only::new(patterns.iter().copied()).unwrap();
                let answer = only.covers(&unescaped(text));
                if sign(&answer) != expected {
                    wrong.push(format!("{patterns:?}: {line}: {answer:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_say_what_met_what() {
    let said = |pattern: &str, text: &str| match Commands::read(text)
        .runs(&Pattern::new(pattern).unwrap())
    {
        Answer::Yes { pattern, command } => format!("{pattern} in {command}"),
        Answer::Unknown(reason) => reason,
        Answer::No => "no".to_owned(),
    };
    let push = "git push -f|--force";
    let text = "cd a; timeout 9 git -C a push -uf origin && ls";
    assert_eq!(
        said(push, text),
        "git push -f|--force in timeout 9 git -C a push -uf origin"
    );
    let text = "ls; curl -s x |\n tee a | bash -s; ls";
    assert_eq!(
        said("curl | bash", text),
        r"curl | bash in curl -s x |\n tee a | bash -s"
    );
    assert_eq!(said("sudo", "bash -c 'a; sudo ls'"), "sudo in sudo ls");
    assert_eq!(
        said(push, "\"$X\" push -f"),
        "the program is in a variable: \"$X\""
    );
    assert_eq!(
        said(push, "git push `a`"),
        "an argument is what a command prints: `a`"
    );
    assert_eq!(said("sudo", "s?do ls"), "the program is a pattern: s?do");
    assert_eq!(
        said("sudo", "ls '"),
        "the command was not read: a quote does not end"
    );
    assert_eq!(
        said("sudo", "sudo \u{1b}[2J\u{202e}"),
        r"sudo in sudo \u{1b}[2J\u{202e}"
    );
    let long = said("sudo", &format!("sudo '{}'", "a\n".repeat(400)));
    assert_eq!(long.chars().count(), "sudo in ".len() + 200, "{long}");
}

/// Runs a check with the least stack on which a text must be read.
fn on_a_small_stack(check: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        thread.spawn_scoped(scope, check).unwrap().join().unwrap();
    });
}

/// Asks everything that can be asked of a text.
fn ask(text: &str) {
    let patterns = [
        "git push -f",
        "rm *a* !-x",
        "a|b * .",
        "curl | sh",
        "* --x*",
    ];
    let commands = Commands::read(text);
    for pattern in patterns {
        let pattern = Pattern::new(pattern).unwrap();
        let answer = commands.runs(&pattern);
        if let Answer::Yes { command: part, .. } | Answer::Unknown(part) = answer {
            assert!(part.chars().count() <= 200, "{part}");
            assert!(part.chars().all(crate::printable::is_printable), "{part}");
        }
        for met in commands.met(&pattern) {
            assert!(met.texts().count() < 1 << 20);
            assert!(met.paths().len() < 1 << 20);
        }
    }
    assert!(commands.written().count() < 1 << 20);
    let only = Only::new(["a *", "git push"]).unwrap();
    only.covers(text);
}

#[test]
fn texts_are_read_in_linear_time() {
    crate::growth::assert_reads_in_linear_time("commands", |bytes| {
        ask(&String::from_utf8_lossy(bytes));
    });
}

/// Pieces that a reader might read again and again, or deeper and deeper.
const HOSTILE: [&str; 49] = [
    "$(",
    "`",
    "((",
    "$((",
    "(",
    "{ ",
    "a|",
    "a;",
    "if a; then ",
    "case a in a) ",
    "<<E ",
    "<<E\n$(",
    "cat <<E\n$(a <<F\n",
    "eval ",
    "sh -c '",
    "env ",
    "xargs ",
    "git ",
    "git push ",
    "sudo ",
    "timeout 9 ",
    "find -exec ",
    "docker exec ",
    "x=a$x$x; ",
    "x+=a; ",
    "$x",
    "\"$x\" ",
    "{a,b}",
    "{",
    "a={b,c} ",
    "<(",
    ">(",
    "a >b ",
    "cd a; ",
    "(cd a; ",
    "x=(a ",
    "${a:-",
    "echo a | sh\n",
    "echo 'eval eval a' | sh | ",
    "for a in b c; do ",
    "f() { ",
    "rm -r a ",
    "set -- \"$@\" a \"$@\"; ",
    "f() { f \"$@\" $1; }; f a $@; ",
    "y=$(echo $x$y); ",
    "sh -c \"$x\" $x; ",
    "curl a | sh -c 'cat' | ",
    "find a -name b -exec c {} + | xargs ",
    "echo a b | sort | xargs -I% c% ",
];

#[test]
fn hostile_texts_are_read_in_linear_time() {
    let step = if crate::thorough::all_cases() { 1 } else { 5 };
    for piece in HOSTILE.iter().step_by(step) {
        let text =
            |size: usize| format!("x=aaaaaaaaaaaaaaaa; {}", piece.repeat(size / piece.len()));
        crate::growth::assert_linear(piece, 16 << 10, text, |text| ask(text));
    }
}

#[test]
fn no_depth_overflows_the_stack() {
    on_a_small_stack(|| {
        for piece in HOSTILE {
            ask(&piece.repeat((8 << 10) / piece.len()));
        }
    });
}

#[test]
fn limits_are_unknown() {
    let pattern = Pattern::new("git push").unwrap();
    let reason = |text: &str| match Commands::read(text).runs(&pattern) {
        Answer::Unknown(reason) => reason,
        answer => format!("{answer:?}"),
    };
    let long = format!("ls {}", "a".repeat(1 << 20));
    assert!(reason(&long).contains("1 MiB"), "{}", reason(&long));
    let deep = "$(".repeat(101);
    assert!(reason(&deep).contains("100 levels"), "{}", reason(&deep));
    let many = "ls\n".repeat(4001);
    assert!(reason(&many).contains("4,000"), "{}", reason(&many));
    assert_eq!(reason(&"ls\n".repeat(3999)), "No");
    let starts = "timeout 1 ".repeat(101) + "sudo ls";
    assert!(
        reason(&starts).contains("100 others"),
        "{}",
        reason(&starts)
    );
    let wide = "ls ".repeat(20_001);
    assert!(reason(&wide).contains("20,000"), "{}", reason(&wide));
    let open = reason("bash -c \"echo it's\"");
    assert!(open.contains("was not read"), "{open}");
    // A value that is not known may end its quotes.
    assert_eq!(reason("bash -c \"echo it's $X\""), "No");
}

/// Each mark stands for all that `find` finds: 2,000 marks times 300 kB.
#[test]
fn what_find_and_xargs_give_is_limited() {
    let roots: Vec<_> = (0..60)
        .map(|n| format!("{n}{}", "a".repeat(5000)))
        .collect();
    let roots = roots.join(" ");
    let texts = [
        format!("find {roots} -exec x {} +", "{} ".repeat(2000)),
        format!("find {roots} | {{ {} }}", "xargs x; ".repeat(1000)),
    ];
    for text in texts {
        let commands = Commands::read(&text);
        let words = commands.runs.iter().flat_map(|run| &run.words);
        let bytes: usize = words.flat_map(|word| &word.values).map(String::len).sum();
        assert!(bytes < 3 << 20, "{bytes}");
        assert!(commands.unread.is_some());
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::thorough::random_cases;

    /// Pieces of commands, and any characters.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => proptest::sample::select(&HOSTILE[..]).prop_map(str::to_owned),
            4 => "[a-z -]{1,4}",
            2 => "[{}()<>|&;\"'`$\\\\#!*?~=\\n ]{1,3}",
            1 => "[$]\\{?[a@*#!:]{0,2}[\\[-]?",
            2 => "[é🌀]",
            1 => any::<String>(),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(random_cases(20_000)) })]

        #[test]
        fn any_text_is_read(text in texts()) {
            ask(&text);
        }
    }
}

/// At most six of them may be blocked although they do nothing that a guard is for.
#[test]
fn ordinary_commands_are_not_blocked() {
    let guards = guards();
    let is_own = |guard: &&Guard| !guard.name.starts_with("pack");
    let guards: Vec<_> = guards.iter().filter(is_own).collect();
    let mut wrong = Vec::new();
    let mut in_doubt = 0;
    let mut count = 0;
    for line in lines(include_str!("../../tests/it/command/ordinary.txt")) {
        let (kind, text) = line.split_once(' ').unwrap();
        let text = unescaped(text);
        let blocks = guards.iter().filter_map(|guard| guard.block(&text));
        let blocks: Vec<_> = blocks.collect();
        if blocks.is_empty() != (kind == ">") {
            wrong.push(format!("{line}: {blocks:?}"));
        }
        count += 1;
        in_doubt += usize::from(kind == "?");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((guards.len(), count), (12, 400));
    assert!(in_doubt <= 6, "{in_doubt}");
}
