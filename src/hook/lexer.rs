//! Splits a command as a shell does: into words, the files that it reads and writes, and its operators.
//!
//! It is for approvals alone; everything else reads commands with `command`. Knows no programs and looks at no files. Where
//! shells differ, it finds rather too much. Reads any text only once.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Word<'a> {
    /// The word in the command's own form; empty for a word of `args`.
    pub(super) source: &'a str,
    pub(super) pieces: Vec<Piece<'a>>,
}

/// A part of a word, as a shell reads it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece<'a> {
    /// Text without its quotes. A `$` in it was quoted.
    Text(String),
    Variable(&'a str),
    /// The output of a command: `$(..)`.
    Output,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Word(Word<'a>),
    /// A file that is read: after `<`.
    Read(Word<'a>),
    /// A file that is written: after `>`.
    Write(Word<'a>),
    /// An operator that ends a command, or begins one: `;`, `&&`, `(`, a line break.
    Operator,
}

/// A command that was split.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lexed<'a> {
    /// The commands. The last one is the command itself. Those before it are within it, as in `$(..)`.
    pub(super) commands: Vec<Vec<Token<'a>>>,
    /// Comments, and documents (`<<E`) with the words that end them: another program may run them.
    pub(super) texts: Vec<&'a str>,
}

impl<'a> Word<'a> {
    /// A word of `args`, in which no shell replaces anything.
    pub(super) fn plain(text: &str) -> Self {
        Self {
            source: "",
            pieces: vec![Piece::Text(text.to_owned())],
        }
    }

    fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

/// The end of a command.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    Text,
    Parenthesis,
    /// `${NAME:-word}`.
    Brace,
    Backtick,
}

/// The role of the next word.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Word,
    Read,
    Write,
    /// The word that ends a document, which may be after tabs.
    Document {
        is_indented: bool,
    },
}

/// A command that is being read.
struct Level<'a> {
    until: Until,
    tokens: Vec<Token<'a>>,
    word: Option<Word<'a>>,
    word_start: usize,
    next: Next,
    /// True within double quotes.
    in_quotes: bool,
    open_parentheses: usize,
}

struct Lexer<'a> {
    text: &'a str,
    /// The place of the current character, and the text after it.
    here: usize,
    at: usize,
    /// The levels. The last one is the innermost command. There is always at least one.
    levels: Vec<Level<'a>>,
    /// The words that end the documents which begin with the next line, and whether they may be after tabs.
    documents: Vec<(String, bool)>,
    lexed: Lexed<'a>,
}

/// Splits a command.
pub(super) fn lex(text: &str) -> Lexed<'_> {
    let mut lexer = Lexer {
        text,
        here: 0,
        at: 0,
        levels: Vec::new(),
        documents: Vec::new(),
        lexed: Lexed::default(),
    };
    lexer.open(Until::Text);
    while let Some(c) = lexer.next() {
        lexer.read(c);
    }
    lexer.here = text.len();
    while !lexer.levels.is_empty() {
        lexer.close();
    }
    lexer.lexed
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.here = self.at;
        self.at += c.len_utf8();
        Some(c)
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> bool {
        match self.rest().chars().next().filter(|c| is_wanted(*c)) {
            Some(c) => {
                self.at += c.len_utf8();
                true
            }
            None => false,
        }
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !is_wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes the text up to a character, and the character.
    fn take_until(&mut self, end: char) -> &'a str {
        let text = self.take_while(|c| c != end);
        self.next_if(|c| c == end);
        text
    }

    fn level(&mut self) -> &mut Level<'a> {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn word(&mut self) -> &mut Word<'a> {
        let here = self.here;
        let level = self.level();
        if level.word.is_none() {
            level.word_start = here;
        }
        level.word.get_or_insert_default()
    }

    fn read(&mut self, c: char) {
        let level = self.level();
        let (until, in_quotes, has_word) = (level.until, level.in_quotes, level.word.is_some());
        let has_parenthesis = level.open_parentheses > 0;
        match c {
            '\\' => self.escape(),
            '"' => {
                self.word();
                self.level().in_quotes = !in_quotes;
            }
            '$' => self.dollar(in_quotes),
            '~' if !in_quotes && self.is_at_start() => self.tilde(),
            '`' if until == Until::Backtick => self.close(),
            '`' => self.open_output(Until::Backtick),
            c if in_quotes => self.push(c),
            '\'' => {
                self.word();
                let quoted = self.take_until('\'');
                self.word().push(quoted);
            }
            '}' if until == Until::Brace => self.close(),
            ')' if until == Until::Parenthesis && !has_parenthesis => self.close(),
            '#' if !has_word && until != Until::Brace => {
                let comment = self.take_while(|c| c != '\n');
                self.lexed.texts.push(comment);
            }
            '<' | '>' if until != Until::Brace => self.redirection(c),
            ' ' | '\t' => self.end_word(),
            // In bash, this is `&>`. In other shells a command ends here, and the same words follow.
            '&' if self.rest().starts_with('>') => self.end_word(),
            ';' | '&' | '|' | '(' | ')' | '\n' => self.operator(c),
            c => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.word().push(c.encode_utf8(&mut [0; 4]));
    }

    fn escape(&mut self) {
        let start = self.here;
        match self.next() {
            // The two lines are one.
            Some('\n') => {}
            Some(c) => {
                self.here = start;
                self.push(c);
            }
            None => self.push('\\'),
        }
    }

    /// Returns whether a word begins here, or a value in it: `x=~/a`.
    fn is_at_start(&self) -> bool {
        let before = self.text[..self.here].chars().next_back();
        let word = self.levels.last().and_then(|level| level.word.as_ref());
        word.is_none() || matches!(before, Some('=' | ':'))
    }

    /// Reads `~`, `~/x` and `~+/x`, which begin with the value of a variable.
    fn tilde(&mut self) {
        let rest = self.rest().strip_prefix('+');
        let (name, behind) = match rest {
            Some(rest) => ("PWD", rest),
            None => ("HOME", self.rest()),
        };
        if !behind.is_empty()
            && !behind.starts_with(['/', ':', ' ', '\t', '\n', ';', '&', '|', ')'])
        {
            return self.push('~');
        }
        self.word().pieces.push(Piece::Variable(name));
        self.at += usize::from(rest.is_some());
    }

    fn dollar(&mut self, in_quotes: bool) {
        const SPECIAL: &str = "@*#?-$!0123456789";
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.word();
        match self.rest().chars().next() {
            Some('(') => {
                self.next();
                self.open_output(Until::Parenthesis);
            }
            Some('{') => {
                self.next();
                let has_value = !self.next_if(|c| c == '!' || c == '#');
                let name = self.take_while(is_name);
                let operator = self.take_while(|c| ":-=+?".contains(c));
                let is_plain = operator.is_empty() && self.rest().starts_with('}');
                let has_default = matches!(operator, "-" | ":-" | "=" | ":=" | "?" | ":?");
                let piece = if has_value && (is_plain || has_default) {
                    Piece::Variable(name)
                } else {
                    Piece::Output
                };
                self.word().pieces.push(piece);
                self.open(Until::Brace);
            }
            // `$'guard'`
            Some('\'') if !in_quotes => self.escaped_text(),
            Some('"') if !in_quotes => {}
            Some(c) if SPECIAL.contains(c) => {
                let name = &self.rest()[..1];
                self.next();
                self.word().pieces.push(Piece::Variable(name));
            }
            Some(c) if is_name(c) => {
                let name = self.take_while(is_name);
                self.word().pieces.push(Piece::Variable(name));
            }
            _ => self.push('$'),
        }
    }

    /// Reads `$'..'`. The value of its escapes counts as unknown.
    fn escaped_text(&mut self) {
        let rest = self.rest().get(1..).unwrap_or_default();
        let mut is_escape = false;
        let end = rest.find(|c| {
            let ends = c == '\'' && !is_escape;
            is_escape = c == '\\' && !is_escape;
            ends
        });
        let text = &rest[..end.unwrap_or(rest.len())];
        if text.contains('\\') {
            self.at += 1 + text.len() + usize::from(end.is_some());
            self.word().pieces.push(Piece::Output);
            self.lexed.texts.push(text);
        }
    }

    fn redirection(&mut self, c: char) {
        // In `2>x`, the descriptor is not a word.
        let is_descriptor = |word: &Word<'_>| match &word.pieces[..] {
            [Piece::Text(text)] => text.bytes().all(|byte| byte.is_ascii_digit()),
            _ => false,
        };
        let level = self.level();
        level.word = level.word.take().filter(|word| !is_descriptor(word));
        self.end_word();
        if self.next_if(|c| c == '(') {
            // `<(cat guard)` and `>(sh)`
            return self.open_output(Until::Parenthesis);
        }
        let is_double = self.next_if(|next| next == c);
        let next = match c {
            '<' if is_double && self.next_if(|c| c == '<') => Next::Read,
            '<' if is_double => Next::Document {
                is_indented: self.next_if(|c| c == '-'),
            },
            '<' => Next::Read,
            _ => Next::Write,
        };
        // `<&3`, `>|x`, `<>x`
        self.next_if(|c| matches!(c, '&' | '|' | '>'));
        self.level().next = next;
    }

    fn operator(&mut self, c: char) {
        self.end_word();
        match c {
            '(' => self.level().open_parentheses += 1,
            ')' => {
                let open = self.level().open_parentheses;
                self.level().open_parentheses = open.saturating_sub(1);
            }
            '\n' => self.read_documents(),
            '|' => drop(self.next_if(|next| matches!(next, '|' | '&'))),
            c => drop(self.next_if(|next| next == c)),
        }
        self.level().next = Next::Word;
        self.level().tokens.push(Token::Operator);
    }

    /// Reads the documents that begin here.
    fn read_documents(&mut self) {
        for (end, is_indented) in std::mem::take(&mut self.documents) {
            let start = self.at;
            while !self.rest().is_empty() {
                let line = self.take_until('\n');
                let line = if is_indented {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if line == end {
                    break;
                }
            }
            self.lexed.texts.push(&self.text[start..self.at]);
        }
    }

    fn end_word(&mut self) {
        let (text, here) = (self.text, self.here);
        let level = self.level();
        let Some(mut word) = level.word.take() else {
            return;
        };
        word.source = &text[level.word_start..here];
        match std::mem::replace(&mut level.next, Next::Word) {
            Next::Word => level.tokens.push(Token::Word(word)),
            Next::Read => level.tokens.push(Token::Read(word)),
            Next::Write => level.tokens.push(Token::Write(word)),
            Next::Document { is_indented } => {
                // Another shell may read it as a word.
                self.lexed.texts.push(word.source);
                let mut end = String::new();
                for piece in &word.pieces {
                    if let Piece::Text(text) = piece {
                        end += text;
                    }
                }
                self.documents.push((end, is_indented));
            }
        }
    }

    /// Begins a command whose output is a part of the current word.
    fn open_output(&mut self, until: Until) {
        self.word().pieces.push(Piece::Output);
        self.open(until);
    }

    fn open(&mut self, until: Until) {
        self.levels.push(Level {
            until,
            tokens: Vec::new(),
            word: None,
            word_start: 0,
            next: Next::Word,
            in_quotes: false,
            open_parentheses: 0,
        });
    }

    fn close(&mut self) {
        self.end_word();
        if let Some(level) = self.levels.pop()
            && (!level.tokens.is_empty() || level.until == Until::Text)
        {
            self.lexed.commands.push(level.tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word_as_text(word: &Word<'_>) -> String {
        let text = word.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Variable(name) => format!("${name}"),
            Piece::Output => "$()".to_owned(),
        });
        text.collect()
    }

    /// Returns the words with `,` between them, `;` for operators, and files that are read and written after `<` and `>`.
    fn as_text(text: &str) -> String {
        let lexed = lex(text);
        let of_token = |token: &Token<'_>| match token {
            Token::Word(word) => word_as_text(word),
            Token::Read(word) => format!("<{}", word_as_text(word)),
            Token::Write(word) => format!(">{}", word_as_text(word)),
            Token::Operator => ";".to_owned(),
        };
        let of_command =
            |tokens: &Vec<Token<'_>>| tokens.iter().map(of_token).collect::<Vec<_>>().join(",");
        let commands: Vec<_> = lexed.commands.iter().rev().map(of_command).collect();
        let texts = lexed.texts.iter().map(|text| format!(" #{text}"));
        commands.join(" in ") + &texts.collect::<String>()
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        for (text, expected) in [
            ("", ""),
            ("a 'b c' d\\ e", "a,b c,d e"),
            ("a\\\nb c", "ab,c"),
            ("a '' b", "a,,b"),
            ("a\\", "a\\"),
            ("a 2>x b", "a,>x,b"),
            ("a 2>&1 <b >>c d", "a,>1,<b,>c,d"),
            ("a &>x b; c>|x d", "a,>x,b,;,c,>x,d"),
            ("a <<<'c d' e", "a,<c d,e"),
            ("{fd}>x a", "{fd},>x,a"),
            ("a|b||c&&d|&e&f", "a,;,b,;,c,;,d,;,e,;,f"),
            ("a <&3 <>c", "a,<3,<c"),
            ("(a; b) | c", ";,a,;,b,;,;,c"),
            ("a <(b c) d", "a,$(),d in b,c"),
            ("a >(b)", "a,$() in b"),
            ("a $'b' $\"c\" $d", "a,b,c,$d"),
            ("a # don't\nb", "a,;,b # don't"),
            ("a#b", "a#b"),
            ("a \"$(b \"c d\" $(e))\"f", "a,$()f in b,c d,$() in e"),
            ("a `b \"c\"` d", "a,$(),d in b,c"),
            ("${A:-b c}/d", "$A/d in b,c"),
            ("${A##*.} ${#B} ${!C} ${D}e", "$(),$(),$(),$De in ##*."),
            ("${A:+b} ${A:=<c}", "$(),$A in <c in b"),
            ("$'b\\x41' $'c'", "$(),c #b\\x41"),
            ("\"${A:-$(b)}\"", "$A in $() in b"),
            ("$1x $@ $$ $ \"$\"", "$1x,$@,$$,$,$"),
            ("'$A' \\$B \"\\$C\"", "$A,$B,$C"),
            ("$((1+$(a)))", "$() in ;,1+$(),; in a"),
            ("a <<E b\nit's\n\tE\nE\nc", "a,b,;,c #E #it's\n\tE\nE\n"),
            ("a <<-'E' <<F\n\tE\nx\nF", "a,; #'E' #F #\tE\n #x\nF"),
            ("a <<E\nb", "a,; #E #b"),
            ("a 'b", "a,b"),
            ("a \"b $(c", "a,b $() in c"),
            ("a) }", "a,;,}"),
            ("a\rb", "a\rb"),
            (
                "~/a ~ ~+/b x=~/c:~/d ~e/f '~/g' h~/i",
                "$HOME/a,$HOME,$PWD/b,x=$HOME/c:$HOME/d,~e/f,~/g,h~/i",
            ),
        ] {
            assert_eq!(as_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_has_its_source() {
        let text = "x \"$A\"/'b' ${C:-d};y";
        let lexed = lex(text);
        let sources = |tokens: &[Token<'_>]| {
            let words = tokens.iter().filter_map(|token| match token {
                Token::Word(word) => Some(word.source.to_owned()),
                _ => None,
            });
            words.collect::<Vec<_>>()
        };
        let expected = ["x", "\"$A\"/'b'", "${C:-d}", "y"];
        assert_eq!(sources(lexed.commands.last().unwrap()), expected);
        assert_eq!(sources(&lexed.commands[0]), ["d"]);
    }

    proptest! {
        /// Each name of a text is in a word, or in a text beside the command.
        #[test]
        fn nothing_of_a_text_is_lost(text in "[ab(){}`'\"|;& #\n<>-]{0,40}") {
            let display = as_text(&text);
            for c in ['a', 'b'] {
                prop_assert!(display.matches(c).count() >= text.matches(c).count(), "{display}");
            }
        }

        #[test]
        fn any_text_is_split(text in ".*") {
            let _ = lex(&text);
        }
    }
}
