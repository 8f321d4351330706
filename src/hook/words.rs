//! The words of a shell's command, as POSIX defines them: quotes, backslashes, line continuations,
//! operators, here-documents (Shell Command Language, sections 2.2 and 2.3), and what bash adds.
//!
//! Expands nothing: a word whose value only the shell can know says so, and the code inside of
//! substitutions is handed out to be read in turn. Knows no program and no file.

/// A command's text, taken apart.
#[derive(Debug, Default)]
pub(crate) struct CommandText {
    pub(crate) tokens: Vec<Token>,
    /// The code of `$(...)`, `` `...` ``, `<(...)` and `>(...)`, wherever they stand.
    pub(crate) substitutions: Vec<String>,
    /// Something that was opened is not closed, or is nested too deep to be read.
    pub(crate) incomplete: bool,
}

#[derive(Debug)]
pub(crate) enum Token {
    Word(Word),
    /// A line break is one too.
    Operator(&'static str),
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Word {
    /// Without its quotes; an expansion stands as it is written.
    pub(crate) text: String,
    /// What of it stands in no quotes.
    pub(crate) bare: String,
    pub(crate) single_quoted: Vec<String>,
    /// Something of it is quoted, by whatever means.
    pub(crate) quoted: bool,
    /// What the shell makes of it is not known before it runs.
    pub(crate) expands: bool,
}

impl Word {
    /// A word as a program receives it.
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            quoted: true,
            ..Self::default()
        }
    }
}

/// Whether a program of this name, by whatever path, runs the code that it is given: the next word's
/// or, without one, what it reads.
pub(crate) fn is_interpreter(program: &str) -> bool {
    const INTERPRETERS: &[&str] = &[
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "fish",
        "python",
        "python3",
        "node",
        "perl",
        "ruby",
        "php",
        "pwsh",
        "powershell",
        "cmd",
    ];
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    INTERPRETERS.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// Takes a command apart, in time that is linear in its length.
pub(crate) fn words(command: &str) -> CommandText {
    let mut lexer = Lexer::new(command, 0);
    lexer.read();
    lexer.found
}

/// Each level takes a part of the stack.
const DEEPEST: usize = 32;

/// Longest first: the first that fits is the operator. Without bash's `&>`, which other shells read
/// as two, and run what follows.
const OPERATORS: [&str; 22] = [
    ";;&", "<<<", "<<-", ";;", ";&", "&&", "||", "|&", "<<", "<&", "<>", ">>", ">&", ">|", "<",
    ">", "\n", ";", "&", "|", "(", ")",
];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    found: CommandText,
    /// The here-documents whose text begins behind the end of this line.
    here_documents: Vec<HereDocument>,
    /// The next word is the delimiter of one.
    awaits_delimiter: Option<&'static str>,
}

struct HereDocument {
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            found: CommandText::default(),
            here_documents: Vec::new(),
            awaits_delimiter: None,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let is_there = self.rest().starts_with(expected);
        if is_there {
            self.at += expected.len();
        }
        is_there
    }

    /// Up to this character, which is passed over; the whole rest where there is none.
    fn until(&mut self, end: char) -> &'a str {
        let rest = self.rest();
        match rest.find(end) {
            Some(length) => {
                self.at += length + end.len_utf8();
                &rest[..length]
            }
            None => {
                self.found.incomplete = true;
                self.at = self.text.len();
                rest
            }
        }
    }

    fn read(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ if self.eat("\\\n") => {}
                _ => match self.operator() {
                    Some(operator) => self.add_operator(operator),
                    None => self.word(),
                },
            }
        }
        self.found.incomplete |= !self.here_documents.is_empty();
    }

    fn operator(&mut self) -> Option<&'static str> {
        if self.begins_process_substitution() {
            return None;
        }
        OPERATORS.into_iter().find(|operator| self.eat(operator))
    }

    fn begins_process_substitution(&self) -> bool {
        self.rest().starts_with("<(") || self.rest().starts_with(">(")
    }

    fn add_operator(&mut self, operator: &'static str) {
        self.found.tokens.push(Token::Operator(operator));
        self.awaits_delimiter = Some(operator).filter(|it| matches!(*it, "<<" | "<<-"));
        if operator == "\n" {
            for document in std::mem::take(&mut self.here_documents) {
                self.here_document(&document);
            }
        }
    }

    fn word(&mut self) {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            if self.begins_process_substitution() {
                word.bare.push_str(&self.rest()[..2]);
                self.at += 2;
                self.substitution(&mut word, 2);
                continue;
            }
            if " \t\n;&|()<>".contains(c) {
                break;
            }
            self.part_of_word(&mut word);
        }
        word.expands |= expands(&word.bare);
        let is_descriptor = !word.quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_descriptor && !word.text.is_empty() && self.rest().starts_with(['<', '>']) {
            return;
        }
        if let Some(operator) = self.awaits_delimiter.take() {
            self.here_documents.push(HereDocument {
                delimiter: word.text.clone(),
                is_literal: word.quoted,
                strips_tabs: operator == "<<-",
            });
        }
        self.found.tokens.push(Token::Word(word));
    }

    fn part_of_word(&mut self, word: &mut Word) {
        let Some(c) = self.next() else { return };
        match c {
            '\\' => match self.next() {
                Some('\n') => {}
                escaped => {
                    word.quoted = true;
                    word.text.extend(escaped);
                }
            },
            '\'' => {
                let quoted = self.until('\'');
                word.text.push_str(quoted);
                word.single_quoted.push(quoted.to_owned());
                word.quoted = true;
            }
            '"' => self.double_quoted(word),
            '$' => self.expansion(word, false),
            '`' => self.backquoted(word),
            _ => {
                word.text.push(c);
                word.bare.push(c);
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        word.quoted = true;
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => match self.peek() {
                    Some(escaped @ ('$' | '`' | '"' | '\\' | '\n')) => {
                        self.at += 1;
                        word.text.extend(Some(escaped).filter(|it| *it != '\n'));
                    }
                    _ => word.text.push('\\'),
                },
                '$' => self.expansion(word, true),
                '`' => self.backquoted(word),
                _ => word.text.push(c),
            }
        }
        self.found.incomplete = true;
    }

    /// Behind a `$`.
    fn expansion(&mut self, word: &mut Word, in_quotes: bool) {
        let start = self.at - 1;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                return self.substitution(word, 2);
            }
            Some('{') => {
                self.at += 1;
                let inner = self.enclosed('{', '}');
                // Shells do not agree on what a quote means in there.
                self.found.incomplete |= inner.contains(['\'', '"', '\\']);
                self.code_within(inner);
            }
            // `$'\x2e'` and `$"..."` are bash's; in other shells the `$` stands for itself.
            Some('\'') if !in_quotes => {
                self.at += 1;
                // In other shells a backslash before the closing quote is an ordinary character.
                self.found.incomplete |= self.until('\'').contains('\\');
            }
            Some('"') if !in_quotes => {
                word.expands = true;
                return;
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let rest = self.rest();
                self.at += rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => self.at += 1,
            _ => return word.text.push('$'),
        }
        word.text.push_str(&self.text[start..self.at]);
        word.expands = true;
    }

    /// Behind `$(`, `<(` or `>(`, which is so many bytes long.
    fn substitution(&mut self, word: &mut Word, opening: usize) {
        let start = self.at - opening;
        let code = self.enclosed('(', ')');
        word.text.push_str(&self.text[start..self.at]);
        word.expands = true;
        if !is_arithmetic(code) {
            self.found.substitutions.push(code.to_owned());
        }
    }

    fn backquoted(&mut self, word: &mut Word) {
        let mut code = String::new();
        word.expands = true;
        word.text.push('`');
        while let Some(c) = self.next() {
            match c {
                '`' => {
                    word.text.push_str(&code);
                    word.text.push('`');
                    return self.found.substitutions.push(code);
                }
                '\\' => match self.peek() {
                    Some(escaped @ ('`' | '\\' | '$')) => {
                        self.at += 1;
                        code.push(escaped);
                    }
                    _ => code.push('\\'),
                },
                _ => code.push(c),
            }
        }
        self.found.incomplete = true;
    }

    /// What is enclosed, with what is quoted in it passed over, and the closing character too.
    fn enclosed(&mut self, open: char, close: char) -> &'a str {
        let start = self.at;
        self.depth += 1;
        let end = if self.depth <= DEEPEST {
            self.find_end(open, close)
        } else {
            None
        };
        self.depth -= 1;
        match end {
            Some(end) => &self.text[start..end],
            None => {
                self.found.incomplete = true;
                self.at = self.text.len();
                &self.text[start..]
            }
        }
    }

    fn find_end(&mut self, open: char, close: char) -> Option<usize> {
        let mut opened = 0;
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '\'' => drop(self.until('\'')),
                '"' => self.skip_double_quoted()?,
                '`' => drop(self.until('`')),
                _ if c == open => opened += 1,
                _ if c == close && opened == 0 => return Some(self.at - 1),
                _ if c == close => opened -= 1,
                _ => {}
            }
        }
        None
    }

    fn skip_double_quoted(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                '"' => return Some(()),
                '\\' => drop(self.next()),
                '`' => drop(self.until('`')),
                '$' if self.eat("(") => drop(self.enclosed('(', ')')),
                '$' if self.eat("{") => drop(self.enclosed('{', '}')),
                _ => {}
            }
        }
    }

    fn here_document(&mut self, document: &HereDocument) {
        let start = self.at;
        while self.at < self.text.len() {
            let end = self.at;
            let rest = self.rest();
            let length = rest.find('\n').unwrap_or(rest.len());
            self.at += (length + 1).min(rest.len());
            let line = &rest[..length];
            let line = if document.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == document.delimiter {
                if !document.is_literal {
                    self.code_within(&self.text[start..end]);
                }
                return;
            }
        }
        self.found.incomplete = true;
    }

    /// The substitutions in a text that is read as double quotes are.
    fn code_within(&mut self, text: &str) {
        if self.depth >= DEEPEST {
            self.found.incomplete = true;
            return;
        }
        let mut inner = Lexer::new(text, self.depth + 1);
        let mut word = Word::default();
        while let Some(c) = inner.next() {
            match c {
                '\\' => drop(inner.next()),
                '$' => inner.expansion(&mut word, true),
                '`' => inner.backquoted(&mut word),
                _ => {}
            }
        }
        self.found
            .substitutions
            .append(&mut inner.found.substitutions);
        self.found.incomplete |= inner.found.incomplete;
    }
}

/// Whether the shell would put something else in the place of these unquoted characters: names of
/// files, braces, a home directory.
fn expands(bare: &str) -> bool {
    if matches!(bare, "[" | "[[" | "]" | "]]" | "{" | "}" | "{}") {
        return false;
    }
    let has_braces = bare.contains('{') && (bare.contains(',') || bare.contains(".."));
    has_braces || bare.contains(['*', '?', '[', '~']) || bare.starts_with('=')
}

/// Whether what stands in `$(...)` is `$((...))` with nothing in it that could run.
fn is_arithmetic(code: &str) -> bool {
    let inner = code.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let is_harmless = |c: char| c.is_ascii_alphanumeric() || "_ \t+-*/%<>=!&|^~?:,()$".contains(c);
    inner.is_some_and(|inner| inner.chars().all(is_harmless) && !inner.contains("$("))
}

#[cfg(test)]
mod tests;
