//! The words of a shell command as POSIX defines them: quotes, backslashes, line continuations, operators,
//! here-documents (Shell Command Language, sections 2.2 and 2.3).
//!
//! Expands nothing: a word whose value only the shell knows is marked. Constructs that shells read differently,
//! or that hide code from a reader, are not followed: then the text is `incomplete`. Knows nothing of programs
//! and files.

use std::borrow::Cow;
use std::path::PathBuf;

/// The tokens of a command's text.
#[derive(Debug, Default)]
pub(crate) struct CommandText {
    pub(crate) tokens: Vec<Token>,
    /// The code of all `$(...)`, `` `...` ``, `<(...)` and `>(...)`.
    pub(crate) nested: Vec<CommandText>,
    /// Part of it cannot be read with certainty.
    pub(crate) incomplete: bool,
}

#[derive(Debug)]
pub(crate) enum Token {
    Word(Word),
    /// An operator. A line break is one too.
    Operator(&'static str),
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Word {
    /// The word without its quotes. An expansion is kept as written.
    pub(crate) text: String,
    /// The parts of the word that are not in quotes.
    pub(crate) bare: String,
    pub(crate) single_quoted: Vec<String>,
    /// Part of it is quoted, in any way.
    pub(crate) quoted: bool,
    /// Its value is not known before the shell runs.
    pub(crate) expands: bool,
    /// The number of bytes at its beginning that are neither quoted nor expanded.
    pub(crate) plain: usize,
    /// It has a quoted `$` or backquote: some bash commands execute such an argument.
    pub(crate) quotes_code: bool,
}

impl Word {
    /// Creates a word as a program receives it.
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            quoted: true,
            ..Self::default()
        }
    }

    /// Marks the end of the plain beginning.
    fn end_plain(&mut self) {
        if !self.quoted && !self.expands {
            self.plain = self.text.len();
        }
    }
}

/// Returns whether a program with this name or path runs code that it is given: the next word, or without one its
/// standard input.
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

/// Splits a command into words, in linear time.
pub(crate) fn words(command: &str) -> CommandText {
    let mut lexer = Lexer::new(command, 0, 0);
    lexer.read();
    lexer.found
}

/// The deepest nesting. Each level takes stack.
const DEEPEST: usize = 32;

/// The operators, longest first: the first match is used. Not bash's `&>`: other shells read it as two
/// operators, and run the text after it.
const OPERATORS: [&str; 22] = [
    ";;&", "<<<", "<<-", ";;", ";&", "&&", "||", "|&", "<<", "<&", "<>", ">>", ">&", ">|", "<",
    ">", "\n", ";", "&", "|", "(", ")",
];
const OPERATOR_CHARACTERS: [char; 7] = ['<', '>', '&', '|', ';', '(', ')'];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The number of open parentheses.
    open: usize,
    /// The end of the last word.
    word_end: usize,
    found: CommandText,
    /// The here-documents whose text begins after the end of this line.
    here_documents: Vec<HereDocument>,
    /// Set if the next word is the delimiter of a here-document.
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

    /// Returns the text up to this character, and skips the character. Without one, returns the whole rest.
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

    /// Reads to the end of the text, or to the parenthesis that closes this code.
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

    /// Continues after a line continuation. One within an operator makes the text incomplete.
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
                // bash's `((`, `a=(...)` and `@(...)`; after a name, `()` begins a function.
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
        // Within `$(...)`, a parenthesis of a `case` pattern would look like its end.
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

    /// Returns whether the word is the number before a redirection. Shells read several digits differently. A redirection
    /// of an input other than standard input is not followed.
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

    /// Reads the text after a `$`.
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
            // `$'\x2e'` and `$"..."` are bash's; in other shells the `$` is an ordinary character. `$[...]` is bash's
            // arithmetic. A line continuation may join the `$` to anything.
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

    /// Reads `((`: only numbers, names and operators that assign nothing.
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

    /// Reads the code after `$(`, `<(` or `>(`; `opening` is its length in bytes.
    fn substitution(&mut self, word: &mut Word, opening: usize) {
        word.end_plain();
        word.expands = true;
        let start = self.at - opening;
        // The text of a here-document would begin within the substitution.
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
        // The meaning of a backslash depends on the surrounding quotes.
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

/// Returns whether the content of `${...}` is a name, optionally with an operation that neither runs nor assigns
/// anything.
fn is_plain_parameter(inner: &str) -> bool {
    let inner = inner.strip_prefix('#').unwrap_or(inner);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(length);
    let is_plain = |c: char| is_name(c) || " .,:/%#+*?^-".contains(c);
    // `${x:y}` evaluates `y` as arithmetic, which can execute code in bash.
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

/// Returns whether the shell would replace these unquoted characters: by names of files, by expanded braces, or by a
/// home directory.
fn expands(bare: &str) -> bool {
    if matches!(bare, "[" | "[[" | "]" | "]]" | "{" | "}" | "{}") {
        return false;
    }
    let has_braces = bare.contains('{') && (bare.contains(',') || bare.contains(".."));
    has_braces || bare.contains(['*', '?', '[', '~']) || bare.starts_with('=')
}

/// Returns a shell command with its variables for these directories replaced. If the shell may read the result
/// differently, returns it unchanged.
pub(crate) fn with_directories<'a>(
    text: &'a str,
    directories: &[(String, PathBuf)],
) -> Cow<'a, str> {
    let mut expanded = Cow::Borrowed(text);
    if text.contains(['\'', '\\']) || text.contains("<<") {
        return expanded;
    }
    for (name, path) in directories {
        let path = path.to_string_lossy();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
        if path.is_empty() || !path.chars().all(is_plain) {
            continue;
        }
        let mut parts = expanded.split(name.as_str());
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for after in parts {
            let Some(at) = value_ends(&mut replaced, after) else {
                // The command may set the variable to another value.
                return Cow::Borrowed(text);
            };
            replaced.push_str(&path);
            replaced.push_str(&after[at..]);
        }
        expanded = Cow::Owned(replaced);
    }
    expanded
}

/// Removes the `$` or `${` before a variable's name. Returns the index in `after` where the text after the
/// variable begins.
fn value_ends(before: &mut String, after: &str) -> Option<usize> {
    if before.ends_with("${") && after.starts_with('}') {
        before.truncate(before.len() - 2);
        return Some(1);
    }
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if before.ends_with('$') && !after.starts_with(goes_on) {
        before.pop();
        return Some(0);
    }
    None
}

#[cfg(test)]
mod tests;
