//! Splits a command as a shell does, without its quotes, and with its redirections. Knows no programs, and where shells differ
//! it finds rather too much.

/// A piece of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// The name of a file that is read as standard input.
    Input(String),
    /// A part of the command ends. It reads what the part before it writes, if `is_pipe`.
    End {
        is_pipe: bool,
    },
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn input(&self) -> Option<&str> {
        match self {
            Self::Input(word) => Some(word),
            _ => None,
        }
    }

    /// A word, or the name of a file that is read.
    pub(super) fn name(&self) -> Option<&str> {
        self.word().or(self.input())
    }
}

/// What the next word is.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Word,
    Input,
    /// A file that is written, a descriptor, or the end of a text that follows.
    Nothing,
}

struct Splitter<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<String>,
    next: Next,
}

/// Splits a text. Whether what follows a `#` is a comment depends on the shell.
pub(super) fn tokens(text: &str, has_comments: bool) -> Vec<Token> {
    let mut splitter = Splitter {
        chars: text.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        next: Next::Word,
    };
    while let Some(c) = splitter.chars.next() {
        match c {
            '#' if has_comments && splitter.word.is_none() => splitter.skip_line(),
            _ => splitter.read(c),
        }
    }
    splitter.end_word();
    splitter.tokens
}

impl Splitter<'_> {
    fn read(&mut self, c: char) {
        match c {
            '\'' | '"' => self.quoted(c),
            // `$'guard'`
            '$' if matches!(self.chars.peek(), Some('\'' | '"')) => {}
            '\\' => {
                let next = self.chars.next().filter(|c| *c != '\n');
                self.word().extend(next);
            }
            '>' | '<' => self.redirection(c),
            // As in bash, `&>`; elsewhere a part ends here, and the same words follow.
            '&' if self.chars.peek() == Some(&'>') => self.end_word(),
            ';' | '&' | '|' | '(' | ')' | '`' | '\n' => {
                self.end_word();
                let is_double = self.chars.next_if_eq(&c).is_some();
                self.next = Next::Word;
                let is_pipe = c == '|' && !is_double;
                self.tokens.push(Token::End { is_pipe });
            }
            c if c.is_ascii_whitespace() => self.end_word(),
            c => self.word().push(c),
        }
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn quoted(&mut self, quote: char) {
        self.word();
        while let Some(c) = self.chars.next() {
            match c {
                c if c == quote => return,
                '\\' if quote == '"' => {
                    let next = self.chars.next().filter(|c| *c != '\n');
                    self.word().extend(next);
                }
                c => self.word().push(c),
            }
        }
    }

    fn redirection(&mut self, c: char) {
        // `2>x`: the descriptor is no word.
        let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit());
        self.word = self.word.take().filter(|word| !is_number(word));
        self.end_word();
        let mut length = 1;
        while self.chars.next_if_eq(&c).is_some() {
            length += 1;
        }
        if (c, length) == ('<', 1) && self.chars.next_if_eq(&'(').is_some() {
            // `sh <(cat guard)`: its words may be what runs.
            self.next = Next::Word;
            return;
        }
        let is_other = self.chars.next_if(|c| matches!(c, '&' | '|')).is_some();
        if !is_other && c == '<' {
            // `<>` reads too.
            self.chars.next_if_eq(&'>');
        }
        self.next = match (c, length) {
            ('<', 1) if !is_other => Next::Input,
            // A text.
            ('<', 3) => Next::Word,
            _ => Next::Nothing,
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.next {
            Next::Word => self.tokens.push(Token::Word(word)),
            Next::Input => self.tokens.push(Token::Input(word)),
            Next::Nothing => {}
        }
        self.next = Next::Word;
    }

    fn skip_line(&mut self) {
        while self.chars.next_if(|c| *c != '\n').is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn redirections_are_no_words() {
        for (text, expected) in [
            ("a 'b c' d\\ e", "a,b c,d e"),
            ("a 2>x b", "a,b"),
            ("a 2>&1 <b >>c d", "a,<b,d"),
            ("a &>x b; c>|x d", "a,b,;,c,d"),
            ("a <<E b <<-E <<<'c d'", "a,b,c d"),
            ("a|b||c&&d|&e", "a,|,b,;,c,;,d,|,;,e"),
            ("a <&3 b", "a,b"),
            ("a <>b c", "a,<b,c"),
            ("a <(b c) d", "a,b,c,;,d"),
            ("a $'b' $\"c\" $d", "a,b,c,$d"),
            ("a # don't\nb", "a,;,b"),
            ("a#b", "a#b"),
        ] {
            let shown = tokens(text, true).into_iter().map(|token| match token {
                Token::Word(word) => word,
                Token::Input(word) => format!("<{word}"),
                Token::End { is_pipe: true } => "|".to_owned(),
                Token::End { is_pipe: false } => ";".to_owned(),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(","), expected, "{text}");
        }
        let word = |text: &str| Token::Word(text.to_owned());
        assert_eq!(tokens("a # b", false), [word("a"), word("#"), word("b")]);
    }

    proptest! {
        #[test]
        fn any_text_is_split(text in ".*") {
            let _ = tokens(&text, true);
            let _ = tokens(&text, false);
        }
    }
}
