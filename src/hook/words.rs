//! The words of a shell's command, as POSIX defines them: quotes, backslashes, line continuations,
//! operators, here-documents (Shell Command Language, sections 2.2 and 2.3).
//!
//! Expands nothing: a word whose value only the shell can know says so. What shells read differently, or
//! what hides code from a reader, is not followed: then the text is `incomplete`. Knows no program and
//! no file.

/// A command's text, taken apart.
#[derive(Debug, Default)]
pub(crate) struct CommandText {
    pub(crate) tokens: Vec<Token>,
    /// The code of `$(...)`, `` `...` ``, `<(...)` and `>(...)`, wherever they stand.
    pub(crate) nested: Vec<CommandText>,
    /// Something in it cannot be read for sure.
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
    /// So many bytes at its beginning are neither quoted nor expanded.
    pub(crate) plain: usize,
    /// It has a `$` or a backquote that is quoted: some commands of bash run what they read so.
    pub(crate) quotes_code: bool,
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

    /// What comes now is not plain.
    fn end_plain(&mut self) {
        if !self.quoted && !self.expands {
            self.plain = self.text.len();
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
    let mut lexer = Lexer::new(command, 0, 0);
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
const OPERATOR_CHARACTERS: [char; 7] = ['<', '>', '&', '|', ';', '(', ')'];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The parentheses that are open.
    open: usize,
    /// Where the last word ended.
    word_end: usize,
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
    fn new(text: &'a str, at: usize, depth: usize) -> Self {
        Self {
            text,
            at,
            depth,
            open: 0,
            word_end: usize::MAX,
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

    /// To the end of the text, or of the parenthesis that this is the code of.
    fn read(&mut self) {
        let mut is_closed = self.depth == 0;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ if self.eat("\\\n") => self.continue_line(),
                ')' if self.depth > 0 && self.open == 0 => {
                    self.at += 1;
                    is_closed = true;
                    break;
                }
                _ => match self.operator() {
                    Some(operator) => self.add_operator(operator),
                    None => self.word(),
                },
            }
        }
        self.found.incomplete |= !is_closed || !self.here_documents.is_empty();
    }

    /// Behind a line continuation, which must not lie within an operator.
    fn continue_line(&mut self) {
        let before = self.text[..self.at - 2].chars().next_back();
        let is_part =
            |c: Option<char>| c.is_some_and(|c| c == '$' || OPERATOR_CHARACTERS.contains(&c));
        self.found.incomplete |= is_part(before) && is_part(self.peek());
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
        match operator {
            "(" => {
                self.open += 1;
                // bash's `((`, `a=(...)` and `@(...)`; behind a name, `()` is a function's.
                let is_glued = self.word_end == self.at - 1 && self.peek() != Some(')');
                self.found.incomplete |= is_glued || self.peek() == Some('(');
            }
            ")" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
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
            } else if " \t\n;&|()<>".contains(c) {
                break;
            } else {
                self.part_of_word(&mut word);
            }
        }
        word.end_plain();
        word.expands |= expands(&word.bare);
        self.word_end = self.at;
        // Where it matters, a parenthesis of a pattern would be taken for the end.
        self.found.incomplete |= self.depth > 0 && word.text == "case";
        if self.is_descriptor(&word) {
            return;
        }
        if let Some(operator) = self.awaits_delimiter.take() {
            self.found.incomplete |= word.expands || word.text.contains('\\');
            self.here_documents.push(HereDocument {
                delimiter: word.text.clone(),
                is_literal: word.quoted,
                strips_tabs: operator == "<<-",
            });
        }
        self.found.tokens.push(Token::Word(word));
    }

    /// The number before a redirection. Shells differ on those of several digits; another input than
    /// the standard one is not followed.
    fn is_descriptor(&mut self, word: &Word) -> bool {
        let Some(redirection) = self.peek().filter(|c| matches!(c, '<' | '>')) else {
            return false;
        };
        let is_number = word.plain > 0 && word.text.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain = word.text.len() == 1 && redirection == '>';
        let is_name = word.bare.starts_with('{');
        self.found.incomplete |= is_name || is_number && !is_plain;
        is_number
    }

    fn part_of_word(&mut self, word: &mut Word) {
        let Some(c) = self.next() else { return };
        if matches!(c, '\\' | '\'' | '"' | '$' | '`') {
            word.end_plain();
        }
        match c {
            '\\' if self.eat("\n") => self.continue_line(),
            '\\' => {
                word.quoted = true;
                let escaped = self.next();
                word.quotes_code |= matches!(escaped, Some('$' | '`'));
                word.text.extend(escaped);
            }
            '\'' => {
                word.quoted = true;
                let quoted = self.until('\'');
                word.quotes_code |= quoted.contains(['$', '`']);
                word.text.push_str(quoted);
                word.single_quoted.push(quoted.to_owned());
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
                    Some('\n') => {
                        self.at += 1;
                        self.continue_line();
                    }
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        self.at += 1;
                        word.quotes_code |= matches!(escaped, '$' | '`');
                        word.text.push(escaped);
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
            Some('(') if self.rest().starts_with("((") => self.arithmetic(),
            Some('(') => {
                self.at += 1;
                return self.substitution(word, 2);
            }
            Some('{') => {
                self.at += 1;
                let inner = self.until('}');
                self.found.incomplete |= !is_plain_parameter(inner);
            }
            // `$'\x2e'` and `$"..."` are bash's; in other shells the `$` stands for itself. `$[...]`
            // is bash's arithmetic. A line continuation may join the `$` with anything.
            Some('\'' | '"') if !in_quotes => self.found.incomplete = true,
            Some('[' | '\\') => self.found.incomplete = true,
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

    /// `((`: numbers, names and operators alone, none of which assigns.
    fn arithmetic(&mut self) {
        let rest = self.rest();
        let length = rest.find("))").map_or(rest.len(), |end| end + 2);
        let inner = rest[..length]
            .strip_suffix("))")
            .and_then(|it| it.strip_prefix("(("));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_ \t*/%<>!&|^~?:,$-+".contains(c);
        let assigns = |inner: &str| inner.contains("++") || inner.contains("--");
        let is_known = inner.is_some_and(|it| it.chars().all(is_plain) && !assigns(it));
        self.found.incomplete |= !is_known;
        self.at += length;
    }

    /// Behind `$(`, `<(` or `>(`, which is so many bytes long.
    fn substitution(&mut self, word: &mut Word, opening: usize) {
        word.end_plain();
        word.expands = true;
        let start = self.at - opening;
        // A here-document whose text would begin within it.
        self.found.incomplete |= !self.here_documents.is_empty();
        if self.depth < DEEPEST {
            let mut inner = Lexer::new(self.text, self.at, self.depth + 1);
            inner.read();
            self.at = inner.at;
            self.found.incomplete |= inner.found.incomplete;
            self.found.nested.push(inner.found);
        } else {
            self.found.incomplete = true;
            self.at = self.text.len();
        }
        word.text.push_str(&self.text[start..self.at]);
    }

    fn backquoted(&mut self, word: &mut Word) {
        word.end_plain();
        word.expands = true;
        let code = self.until('`');
        word.text.push_str(&format!("`{code}`"));
        let nested = words(code);
        // What a backslash means there depends on the quotes around.
        self.found.incomplete |= nested.incomplete || code.contains('\\');
        self.found.nested.push(nested);
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
                let runs = self.text[start..end].contains(['`', '\\'])
                    || self.text[start..end].contains("$(")
                    || self.text[start..end].contains("${");
                self.found.incomplete |= runs && !document.is_literal;
                return;
            }
        }
        self.found.incomplete = true;
    }
}

/// What stands in `${...}`: a name, and at most what is taken from its value or stands for it, without
/// anything that runs or sets.
fn is_plain_parameter(inner: &str) -> bool {
    let inner = inner.strip_prefix('#').unwrap_or(inner);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(length);
    let is_plain = |c: char| is_name(c) || " .,:/%#+*?^-".contains(c);
    // `${x:y}` counts with the value of `y`, which bash may run.
    let counts = rest
        .strip_prefix(':')
        .is_some_and(|it| !it.starts_with(['-', '+', '?']));
    let is_number = |c: char| c.is_ascii_digit() || c == ':';
    let is_known = if counts {
        rest.chars().all(is_number)
    } else {
        rest.chars().all(is_plain)
    };
    is_known && !name.is_empty()
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

#[cfg(test)]
mod tests;
