//! The words of a hook's command that could name files. Knows no language and looks at no files: a text is read in
//! several ways, and a word too many is harmless.

use std::collections::HashSet;

use super::definition::Hook;

/// The longest texts that are split, and the most words. All are looked up before each run: 4,000 words take a few
/// milliseconds.
const LONGEST_TEXT: usize = 64 * 1024;
const MOST_WORDS: usize = 4000;
/// Linux allows no longer path (PATH_MAX).
const LONGEST_WORD: usize = 4096;

/// The words of a command, `args` and the values of `env`, without repetitions, in their order.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) list: Vec<String>,
    /// There are more words than a limit allows.
    pub(crate) is_cut: bool,
    seen: HashSet<String>,
    length: usize,
}

/// What a quote means in one way to read a text.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    /// It ends a word: `sh -c './a.sh -x'`.
    Split,
    /// Nothing: `./gua''rd.sh`.
    Dropped,
    /// What a shell makes of it: `./'my guard'.sh`.
    Joined,
}

impl Candidates {
    pub(crate) fn of(hook: &Hook) -> Self {
        let mut words = Self::default();
        for text in hook.command().texts().iter().chain(hook.env().values()) {
            words.add(text);
        }
        words
    }

    /// Adds the words of one text.
    fn add(&mut self, text: &str) {
        let left = LONGEST_TEXT.saturating_sub(self.length);
        self.length += text.len();
        self.is_cut |= text.len() > left;
        let text = beginning_of(text, left);
        for line in text.lines() {
            self.split(line, Quotes::Joined);
        }
        for quotes in [Quotes::Joined, Quotes::Split, Quotes::Dropped] {
            self.split(text, quotes);
        }
        self.push(text);
        self.push_values(text);
        for quote in ['\'', '"', '`'] {
            for piece in text.split(quote) {
                self.push(&piece.replace('\\', ""));
            }
        }
        if cfg!(windows) && text.contains('\\') {
            self.add(&text.replace('\\', "/"));
        }
    }

    fn push(&mut self, word: &str) {
        let is_name = !word.is_empty() && word.len() <= LONGEST_WORD && !word.contains('\0');
        if !is_name || self.seen.contains(word) {
            return;
        }
        if self.list.len() == MOST_WORDS {
            self.is_cut = true;
            return;
        }
        self.seen.insert(word.to_owned());
        self.list.push(word.to_owned());
    }

    /// Adds what stands behind each `=`, as in `--require=./a,b.js`, and behind a letter, as in `env -Csub`.
    fn push_values(&mut self, word: &str) {
        if let Some(value) = word.get(2..).filter(|_| word.starts_with('-')) {
            self.push(value);
        }
        for (at, _) in word.match_indices('=') {
            self.push(&word[at + 1..]);
        }
    }

    fn split(&mut self, text: &str, quotes: Quotes) {
        let mut word = String::new();
        let mut open = None;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                // In single quotes a shell leaves it alone.
                '\\' if quotes == Quotes::Joined && open == Some('\'') => word.push(c),
                // A backslash before a line break joins two lines.
                '\\' if quotes != Quotes::Split => word.extend(chars.next().filter(|c| *c != '\n')),
                '\\' => {}
                '\'' | '"' if open.is_none_or(|open| open == c) && quotes != Quotes::Split => {
                    let opens = open.is_none() && quotes == Quotes::Joined;
                    open = opens.then_some(c);
                }
                _ if open.is_none() && separates(c, quotes) => {
                    self.push(&word);
                    self.push_values(&word);
                    word.clear();
                }
                _ => word.push(c),
            }
        }
        self.push(&word);
        self.push_values(&word);
    }
}

fn separates(c: char, quotes: Quotes) -> bool {
    let is_in = |marks: &str| marks.contains(c);
    match quotes {
        // As shells do: other blanks are part of a word.
        _ if c.is_ascii_whitespace() || is_in(";&|()<>`") => true,
        // `run=a.sh` can be a name.
        Quotes::Joined => false,
        Quotes::Dropped => is_in("=,:"),
        // `${ROOT:-$(pwd)}/a.sh` has `/a.sh`.
        Quotes::Split => is_in("=,:'\"{}"),
    }
}

/// Returns at most so many bytes.
fn beginning_of(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns a word with the variables that name directories replaced: `$NAME`, `${NAME}`, `${NAME:-default}`.
pub(crate) fn expanded(word: &str, directory: impl Fn(&str) -> Option<String>) -> String {
    let mut parts = word.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let braced = part.strip_prefix('{');
        let named = braced.unwrap_or(part);
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let (name, after) = named.split_at(named.find(ends).unwrap_or(named.len()));
        match (directory(name), after.split_once('}')) {
            (Some(directory), Some((_, after))) if braced.is_some() => {
                text.extend([&*directory, after]);
            }
            (Some(directory), _) => text.extend([&*directory, after]),
            (None, _) => text.extend(["$", part]),
        }
    }
    text
}

/// Whether a command may build names when it runs.
pub(crate) fn builds_names(command: &str, directory: impl Fn(&str) -> Option<String>) -> bool {
    let command = beginning_of(command, LONGEST_TEXT);
    let rest = expanded(command, |name| directory(name).map(|_| String::new()));
    let builds = |word: &str| ["alias", "eval", "xargs", "parallel"].contains(&word);
    rest.contains(['$', '*', '?', '[', '{', '~', '`'])
        || rest.split(|c: char| !c.is_ascii_alphanumeric()).any(builds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Candidates {
        let mut words = Candidates::default();
        words.add(text);
        words
    }

    #[test]
    fn every_name_is_among_the_words() {
        for (text, expected) in [
            ("./guard.sh --strict", "./guard.sh"),
            ("test -f x&&./g.sh;exit", "./g.sh"),
            ("cd sub && ./x.sh", "sub"),
            ("(./a.sh|./b.sh)>log", "./b.sh"),
            ("./gua''rd.sh", "./guard.sh"),
            ("./gu\\ard.sh", "./guard.sh"),
            ("./gu\\\nard.sh", "./guard.sh"),
            ("./a\\ b.sh", "./a b.sh"),
            ("\"./my guard.sh\" x", "./my guard.sh"),
            ("./\"my guard\".sh", "./my guard.sh"),
            ("sh -c '\"./my guard.sh\"'", "./my guard.sh"),
            ("sh -c 'exec ./a.sh --x'", "./a.sh"),
            ("sh -c \"sh -c \\\"./a.sh\\\"\"", "./a.sh"),
            ("sh -c './gu\"ar\"d.sh'", "./guard.sh"),
            ("\"$ROOT\"/guard.py", "/guard.py"),
            ("\"$ROOT\"/guard.py", "$ROOT/guard.py"),
            ("$(git rev-parse --show-toplevel)/x.sh", "/x.sh"),
            ("${ROOT:-$(pwd)}/x.sh", "/x.sh"),
            ("${ROOT:-.}/x.sh", "${ROOT:-.}/x.sh"),
            ("x=./a.sh,./b.sh:./c.sh", "./c.sh"),
            ("./run=guard.sh", "./run=guard.sh"),
            ("echo `./a.sh`", "./a.sh"),
            ("it's.sh", "it's.sh"),
            ("./it\\'s.sh", "./it's.sh"),
            ("--require=./hook.js", "./hook.js"),
            ("a\n./b.sh\nc", "./b.sh"),
            ("'./a\nb.sh'", "./a\nb.sh"),
            ("sh './a\\b.sh'", "./a\\b.sh"),
            ("sh ./gu\u{a0}ard.sh", "./gu\u{a0}ard.sh"),
            ("# don't\nsh ./\"my guard\".sh", "./my guard.sh"),
            ("echo 'a\\'; sh ./\"my guard\".sh", "./my guard.sh"),
            ("--x=./a b.sh", "./a b.sh"),
            ("--require=./a,b.js", "./a,b.js"),
        ] {
            let found = words(text).list;
            assert!(found.iter().any(|it| it == expected), "{text}: {found:?}");
        }
    }

    #[test]
    fn directories_are_put_in() {
        let directory = |name: &str| (name == "ROOT").then(|| "/a b".to_owned());
        for (word, expected) in [
            ("$ROOT/x", "/a b/x"),
            ("${ROOT}/x", "/a b/x"),
            ("${ROOT:-.}/x", "/a b/x"),
            ("${ROOT-}x}", "/a bx}"),
            ("$ROOTS/x", "$ROOTS/x"),
            ("${OTHER}/$ROOT", "${OTHER}//a b"),
            ("a$", "a$"),
        ] {
            assert_eq!(expanded(word, directory), expected);
        }
        assert!(!builds_names("sh \"$ROOT/x.sh\" | cat", directory));
        assert!(builds_names("sh $X", directory) && builds_names("sh *.sh", directory));
    }

    #[test]
    fn words_are_limited() {
        assert!(words(&" x".repeat(LONGEST_TEXT)).is_cut);
        let many: String = (0..10_000).map(|n| format!("{n} ")).collect();
        let many = words(&many);
        assert!(many.is_cut && many.list.len() == MOST_WORDS);
        assert!(!words("sh ./x.sh").is_cut);
        let long = words(&format!("sh ./x.sh # {}", "x".repeat(LONGEST_TEXT)));
        assert!(long.is_cut && long.list.contains(&"./x.sh".to_owned()));
    }

    proptest! {
        /// Any quoting of a name that a shell undoes.
        #[test]
        fn a_quoted_name_is_found(
            name in "[a-z./ ]{1,12}",
            quotes in proptest::collection::vec(0..4, 12),
        ) {
            let quoted: String = name.chars().zip(quotes).map(|(c, quote)| match (quote, c) {
                (0, ' ') | (1, _) => format!("\\{c}"),
                (2, _) => format!("'{c}'"),
                (3, _) => format!("\"{c}\""),
                _ => c.to_string(),
            }).collect();
            let found = words(&format!("sh {quoted} && true")).list;
            prop_assert!(found.contains(&name), "{quoted}: {found:?}");
        }
    }
}
