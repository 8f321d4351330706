//! Splits a shell text into words and operators, with the texts within it: substitutions, arithmetic, documents.
//!
//! There is no recursion: a stack has the texts that are open. Each byte is read once, but for at most `MOST_REWINDS`
//! repetitions, and once more for each document that a document is in. Where shells differ, it finds rather too much.

use std::collections::VecDeque;
use std::ops::Range;

use super::ansi;
use super::frame::{Behind, Frame, Until};
use super::grammar::{Grammar, Group, Next, Pending};
use super::syntax::{Assignment, Join, Piece, Syntax, Word, assignment, is_of_name};

/// The most levels of substitutions and groups.
const DEEPEST: usize = 100;
/// The most documents within documents.
const DEEPEST_DOCUMENT: usize = 4;
/// How often `$((` may turn out to be a command in parentheses.
const MOST_REWINDS: usize = 8;

struct Lexer<'a> {
    text: &'a str,
    /// The place of the current character, the place behind it, and the end of the text or of the innermost document.
    here: usize,
    at: usize,
    limit: usize,
    /// There is always at least one.
    frames: Vec<Frame>,
    pending: VecDeque<Pending>,
    documents: Vec<Behind>,
    rewinds: usize,
    syntax: Syntax,
}

/// How many commands and words may still be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) commands: usize,
    pub(super) words: usize,
}

/// Reads a text, up to a limit.
pub(super) fn read(text: &str, limits: Limits) -> Syntax {
    let mut syntax = Syntax::new();
    let frame = Frame::new(Until::Text, Grammar::new(&syntax, 0, 0));
    syntax.commands.reserve(4);
    let mut lexer = Lexer {
        text,
        here: 0,
        at: 0,
        limit: text.len(),
        frames: vec![frame],
        pending: VecDeque::new(),
        documents: Vec::new(),
        rewinds: 0,
        syntax,
    };
    lexer.run(limits);
    lexer.syntax.commands.truncate(limits.commands);
    lexer.syntax
}

impl<'a> Lexer<'a> {
    fn run(&mut self, limits: Limits) {
        loop {
            match self.next() {
                Some(c) => self.read(c),
                None if !self.documents.is_empty() => self.end_document(),
                None => break,
            }
            if let Some(reason) = self.exceeded(limits) {
                self.syntax.doubt(reason);
                break;
            }
        }
        self.here = self.at;
        self.documents.clear();
        self.close_to(1);
        self.check_quotes();
        self.end_word();
        let here = self.here;
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        frame.grammar.end(here, &mut self.syntax);
    }

    fn exceeded(&mut self, limits: Limits) -> Option<&'static str> {
        let depth = self.frames.len() + self.frame().grammar.depth();
        if depth > DEEPEST {
            Some("it is nested more than 100 levels deep")
        } else if self.syntax.commands.len() > limits.commands {
            Some("it has more than 4,000 commands")
        } else if self.syntax.words > limits.words {
            Some("it has more than 20,000 words")
        } else {
            None
        }
    }

    /// Closes what is open above so many frames.
    fn close_to(&mut self, count: usize) {
        while self.frames.len() > count {
            self.syntax.doubt("a quote or a bracket does not end");
            self.close();
        }
    }

    fn check_quotes(&mut self) {
        if self.frame().in_quotes {
            self.syntax.doubt("a quote does not end");
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..self.limit]
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.here = self.at;
        self.at += c.len_utf8();
        Some(c)
    }

    fn next_if(&mut self, wanted: char) -> bool {
        let is_next = self.rest().starts_with(wanted);
        if is_next {
            self.at += wanted.len_utf8();
        }
        is_next
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !is_wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn word(&mut self) -> &mut Word {
        let here = self.here;
        self.frame().word.get_or_insert_with(|| Word::new(here))
    }

    fn push(&mut self, c: char, is_quoted: bool) {
        self.word().push(c.encode_utf8(&mut [0; 4]), is_quoted);
    }

    fn read(&mut self, c: char) {
        let frame = self.frame();
        match (frame.until, frame.in_quotes) {
            (Until::Document { .. }, _) => self.read_in_document(c),
            (Until::Arithmetic { start, open, .. }, _) => self.read_in_arithmetic(c, start, open),
            (_, true) => self.read_in_quotes(c),
            (Until::Brace { .. }, false) => self.read_in_brace(c),
            _ => self.read_unquoted(c),
        }
    }

    fn read_in_quotes(&mut self, c: char) {
        match c {
            '"' => self.frame().in_quotes = false,
            '\\' => self.escape_in_quotes("$`\"\\"),
            '$' => self.dollar(true),
            '`' => self.backtick(true),
            c => self.push(c, true),
        }
    }

    fn read_in_document(&mut self, c: char) {
        match c {
            '\\' => self.escape_in_quotes("$`\\"),
            '$' => self.dollar(true),
            '`' => self.backtick(true),
            c => self.push(c, true),
        }
    }

    fn escape_in_quotes(&mut self, escaped: &str) {
        match self.next() {
            Some('\n') => {}
            Some(c) => {
                if !escaped.contains(c) {
                    self.push('\\', true);
                }
                self.push(c, true);
            }
            None => self.push('\\', true),
        }
    }

    fn read_in_brace(&mut self, c: char) {
        match c {
            '}' => self.close(),
            '"' => self.frame().in_quotes = true,
            '\\' => drop(self.next()),
            '\'' if !self.frame().is_quoted => self.single_quotes(),
            '$' => self.dollar(true),
            '`' => self.backtick(true),
            c => self.push(c, false),
        }
    }

    fn read_in_arithmetic(&mut self, c: char, start: usize, open: usize) {
        match c {
            '(' => self.set_open(open + 1),
            ')' if open > 0 => self.set_open(open - 1),
            ')' if self.next_if(')') => self.close(),
            ')' => self.rewind(start),
            '$' => self.dollar(true),
            '`' => self.backtick(true),
            '\\' => drop(self.next()),
            _ => {}
        }
    }

    fn set_open(&mut self, count: usize) {
        if let Until::Arithmetic { open, .. } = &mut self.frame().until {
            *open = count;
        }
    }

    /// Reads `((` and `$((` again: they began two groups.
    fn rewind(&mut self, start: usize) {
        self.rewinds += 1;
        if self.rewinds > MOST_REWINDS {
            self.syntax.doubt("parentheses that may be arithmetic");
            return self.close();
        }
        let Some(arithmetic) = self.frames.pop() else {
            return;
        };
        self.at = start;
        self.here = start - 1;
        let is_group = matches!(
            arithmetic.until,
            Until::Arithmetic {
                is_command: true,
                ..
            }
        );
        if !is_group {
            return self.open_output(Until::Parenthesis, arithmetic.is_quoted, false);
        }
        let Self { frames, syntax, .. } = self;
        if let Some(frame) = frames.last_mut() {
            frame.grammar.open(Group::Parenthesis, syntax);
        }
    }

    fn read_unquoted(&mut self, c: char) {
        match c {
            '\\' => self.escape(),
            '"' => {
                // Empty quotes are a word.
                self.word().push("", true);
                self.frame().in_quotes = true;
            }
            '\'' => self.single_quotes(),
            '$' => self.dollar(false),
            '`' => self.backtick(false),
            '#' if self.frame().word.is_none() => drop(self.take_while(|c| c != '\n')),
            ' ' | '\t' | '\r' => self.end_word(),
            c if self.frame().until == Until::Array => self.read_in_array(c),
            '\n' => self.end_line(),
            c if self.frame().grammar.in_test => self.read_in_test(c),
            c => self.read_operator(c),
        }
    }

    fn read_operator(&mut self, c: char) {
        match c {
            '<' | '>' => self.redirection(c),
            '(' => self.open_parenthesis(),
            ')' => self.close_parenthesis(),
            '|' if self.frame().grammar.in_pattern() => self.frame().word = None,
            ';' | '&' | '|' => self.operator(c),
            c => self.push(c, false),
        }
    }

    fn escape(&mut self) {
        match self.next() {
            // The two lines are one.
            Some('\n') => {}
            Some('`') if self.frame().until == Until::Backtick => {
                self.syntax.doubt("a backtick within backticks");
            }
            Some(c) => self.push(c, true),
            None => self.push('\\', true),
        }
    }

    fn single_quotes(&mut self) {
        let quoted = self.take_while(|c| c != '\'');
        self.word().push(quoted, true);
        if !self.next_if('\'') {
            self.syntax.doubt("a quote does not end");
        }
    }

    fn read_in_array(&mut self, c: char) {
        match c {
            ')' => self.close(),
            '\n' => self.end_word(),
            c => self.push(c, false),
        }
    }

    /// Reads operators within `[[ .. ]]`, which are text. `]]` may stand directly before an operator.
    fn read_in_test(&mut self, c: char) {
        let is_end = |word: &Word| word.bare() == Some("]]");
        let has_end = self.frame().word.as_ref().is_some_and(is_end);
        if has_end && matches!(c, ';' | '&' | '|' | ')' | '<' | '>') {
            self.end_word();
            return self.read_operator(c);
        }
        self.push(c, false);
    }

    fn backtick(&mut self, is_quoted: bool) {
        if self.frame().until == Until::Backtick {
            self.check_quotes();
            return self.close();
        }
        self.open_output(Until::Backtick, is_quoted, false);
    }

    fn open_output(&mut self, until: Until, is_quoted: bool, is_file: bool) {
        self.word();
        let outer = &self.frame().grammar;
        let (shell, piped) = (outer.shell, outer.piped.clone());
        let shell = self.syntax.new_shell(shell);
        let mut grammar = Grammar::new(&self.syntax, shell, self.at);
        if is_file {
            // `curl x | tee >(sh)`
            grammar.piped = piped;
        }
        let mut frame = Frame::new(until, grammar);
        frame.is_quoted = is_quoted;
        frame.is_file = is_file;
        self.frames.push(frame);
    }

    /// Opens a text that runs nothing itself.
    fn open(&mut self, until: Until, is_quoted: bool) -> &mut Frame {
        let shell = self.frame().grammar.shell;
        let grammar = Grammar::new(&self.syntax, shell, self.at);
        self.frames.push(Frame::new(until, grammar));
        let frame = self.frame();
        frame.is_quoted = is_quoted;
        frame
    }

    fn open_arithmetic(&mut self, is_quoted: bool, is_command: bool) {
        let arithmetic = Until::Arithmetic {
            start: self.at - 1,
            open: 0,
            is_command,
        };
        self.open(arithmetic, is_quoted);
    }

    /// Closes the innermost frame, and gives its value to the one around it.
    fn close(&mut self) {
        self.end_word();
        let here = self.here;
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        if matches!(frame.until, Until::Parenthesis | Until::Backtick) {
            frame.grammar.end(here, &mut self.syntax);
        }
        if let Until::Brace { has_default: true } = frame.until {
            self.set_default(frame.word.take());
        }
        if let Some(array) = frame.array {
            return self.frame().grammar.assign(array);
        }
        if let Until::Arithmetic {
            is_command: true, ..
        } = frame.until
        {
            return;
        }
        let commands = frame.grammar.first..self.syntax.commands.len();
        if let Until::Document { id } = frame.until {
            self.syntax.documents[id] = frame.word.unwrap_or_default();
        } else if !commands.is_empty() || frame.is_file {
            self.output(commands, frame.is_quoted, frame.is_file);
        } else if matches!(frame.until, Until::Parenthesis | Until::Backtick) {
            self.output(commands, frame.is_quoted, false);
        }
    }

    fn output(&mut self, commands: Range<usize>, is_quoted: bool, is_file: bool) {
        self.word().pieces.push(Piece::Output {
            commands,
            is_quoted,
            is_file,
        });
    }

    fn dollar(&mut self, is_quoted: bool) {
        const SPECIAL: &str = "@*#?-$!0123456789";
        let rest = self.rest();
        match rest.chars().next() {
            Some('(') if rest.starts_with("((") => {
                self.at += 2;
                self.variable("?", is_quoted, false);
                self.open_arithmetic(is_quoted, false);
            }
            Some('(') => {
                self.at += 1;
                self.open_output(Until::Parenthesis, is_quoted, false);
            }
            Some('{') => self.brace(is_quoted),
            Some('\'') if !is_quoted => self.escaped_text(),
            Some('"') if !is_quoted => {}
            Some('\\') if rest.starts_with("\\\n") => {
                self.syntax.doubt("a line that goes on after `$`");
            }
            Some('[') if !is_quoted => {
                self.syntax.doubt("`$[`");
                self.push('$', is_quoted);
            }
            Some(c) if SPECIAL.contains(c) => {
                self.at += 1;
                self.variable(&rest[..1], is_quoted, true);
            }
            Some(c) if is_of_name(c) => {
                let name = self.take_while(is_of_name);
                self.variable(name, is_quoted, true);
            }
            _ => self.push('$', is_quoted),
        }
    }

    fn variable(&mut self, name: &str, is_quoted: bool, is_plain: bool) {
        self.word().pieces.push(Piece::Variable {
            name: name.to_owned(),
            is_quoted,
            is_plain,
            is_list: name == "@",
            default: None,
        });
    }

    /// Reads `${NAME`; the rest, up to the brace, is a frame.
    fn brace(&mut self, is_quoted: bool) {
        self.at += 1;
        let has_value = !self.next_if('!') && !self.next_if('#');
        let name = match self.take_while(is_of_name) {
            "" => self.take_while(|c| c == '@'),
            name => name,
        };
        let rest = self.rest();
        let after_index = rest.strip_prefix("[@]").or(rest.strip_prefix("[*]"));
        let is_list = after_index.is_some() || name == "@";
        let rest = after_index.unwrap_or(rest);
        // `${d:?}` has the value of `d`, and `${d%/}` is the same path.
        let is_plain = has_value
            && ["}", ":?", "?", "%/}"]
                .iter()
                .any(|end| rest.starts_with(end));
        self.variable(name, is_quoted, is_plain);
        if let Some(Piece::Variable { is_list: list, .. }) = self.word().pieces.last_mut() {
            *list = is_list;
        }
        self.next_if(':');
        let has_default =
            has_value && (self.next_if('-') || self.next_if('=') || self.next_if('+'));
        self.open(Until::Brace { has_default }, is_quoted);
    }

    /// Gives the variable at the end of the current word its default.
    fn set_default(&mut self, word: Option<Word>) {
        if let Some(Piece::Variable { default, .. }) = self.word().pieces.last_mut() {
            *default = Some(Box::new(word.unwrap_or_default()));
        }
    }

    /// Reads `$'..'`.
    fn escaped_text(&mut self) {
        self.syntax.escape.get_or_insert(self.at);
        self.at += 1;
        let decoded = ansi::decode(self.rest());
        self.at += decoded.length;
        if !decoded.is_ended {
            self.syntax.doubt("a quote does not end");
        }
        self.word().push(&decoded.text, true);
    }

    fn open_parenthesis(&mut self) {
        if self.frame().grammar.in_case_head {
            // `case a in(b)`
            self.end_word();
        }
        if self.frame().grammar.in_pattern() {
            self.frame().word = None;
        } else if self.opens_array() || self.skips_function() || self.skips_glob() {
        } else if self.frame().word.is_none()
            && self.frame().grammar.may_open()
            && self.next_if('(')
        {
            self.open_arithmetic(true, true);
        } else {
            self.open_group();
        }
    }

    fn open_group(&mut self) {
        self.end_word();
        let here = self.here;
        let Self { frames, syntax, .. } = self;
        let Some(frame) = frames.last_mut() else {
            return;
        };
        if frame.grammar.may_open() {
            frame.grammar.forget_words();
        } else {
            syntax.doubt("a parenthesis within a command");
        }
        frame.grammar.end_command(here, syntax);
        frame.grammar.open(Group::Parenthesis, syntax);
    }

    /// Reads `x=(`.
    fn opens_array(&mut self) -> bool {
        let frame = self.frame();
        let text = frame.word.as_ref().and_then(Word::bare).unwrap_or("");
        let is_whole = |(_, length): &(&str, usize)| *length == text.len();
        let Some((name, _)) = assignment(text).filter(is_whole) else {
            return false;
        };
        let array = Assignment {
            name: name.to_owned(),
            words: Vec::new(),
            adds: text.ends_with("+="),
        };
        frame.word = None;
        self.open(Until::Array, false).array = Some(array);
        true
    }

    /// Reads `()` after the name of a function.
    fn skips_function(&mut self) -> bool {
        let rest = self.rest();
        let inner = rest.trim_start_matches([' ', '\t']);
        let frame = self.frame();
        let names = usize::from(frame.word.is_some());
        let is_name = match names {
            0 => frame.grammar.has_one_word() || frame.grammar.has_no_words(),
            _ => frame.grammar.has_no_words(),
        };
        if !is_name || !inner.starts_with(')') {
            return false;
        }
        let word = frame.word.take();
        frame.grammar.begin_function(word);
        self.at += rest.len() - inner.len() + 1;
        true
    }

    /// Reads an extended pattern: `@(a|b)`.
    fn skips_glob(&mut self) -> bool {
        let before = self.text[..self.here].chars().next_back();
        let word = self.frame().word.as_ref();
        // `!(sudo ls)` is a group, unless a shell has been told otherwise.
        let is_within = word.is_some_and(|word| word.bare() != Some("!"));
        if !is_within || !matches!(before, Some('@' | '!' | '+' | '?' | '*')) {
            return false;
        }
        self.push('(', false);
        let inner = self.take_while(|c| c != ')' && c != '\n');
        if inner.contains(['$', '`']) {
            self.syntax.doubt("a substitution within a pattern");
        }
        self.word().push(inner, false);
        if self.next_if(')') {
            self.push(')', false);
        }
        true
    }

    fn close_parenthesis(&mut self) {
        let frame = self.frame();
        if frame.grammar.in_pattern() {
            frame.word = None;
            return frame.grammar.set_pattern(false);
        }
        if frame.until == Until::Parenthesis && frame.grammar.parentheses == 0 {
            return self.close();
        }
        self.end_command();
        let Self { frames, syntax, .. } = self;
        if let Some(frame) = frames.last_mut() {
            frame.grammar.close(Group::Parenthesis, syntax);
        }
    }

    fn redirection(&mut self, c: char) {
        // In `2>x` and `{fd}>x`, the descriptor is not a word.
        let is_descriptor = |word: &Word| {
            word.bare().is_some_and(|text| {
                let is_name = text.starts_with('{') && text.ends_with('}');
                is_name || text.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        if self.next_if('(') {
            return self.open_output(Until::Parenthesis, false, true);
        }
        let frame = self.frame();
        frame.word = frame.word.take().filter(|word| !is_descriptor(word));
        let is_index = frame.word.as_ref().is_some_and(|word| {
            let text = word.text();
            let index = text.rsplit_once('[');
            index.is_some_and(|(name, index)| name.chars().all(is_of_name) && !index.contains(']'))
        });
        self.end_word();
        let is_double = self.next_if(c);
        if is_index && is_double {
            // `x[1<<2]=3`
            self.syntax.doubt("`<<` within brackets");
        }
        let next = match c {
            '<' if is_double && self.next_if('<') => Next::HereString,
            '<' if is_double => Next::Document {
                is_indented: self.next_if('-'),
            },
            '<' if self.next_if('>') => Next::Write,
            '<' if self.next_if('&') => Next::Ignored,
            '<' => Next::Read,
            _ => self.write(),
        };
        self.frame().grammar.next = next;
    }

    /// Reads what may follow `>`: `>|x`, `>&2`, `>&x`.
    fn write(&mut self) -> Next {
        self.next_if('|');
        let is_descriptor = |c: char| c.is_ascii_digit() || c == '-';
        if self.next_if('&') && self.rest().starts_with(is_descriptor) {
            return Next::Ignored;
        }
        Next::Write
    }

    fn operator(&mut self, c: char) {
        // `&>x` is a redirection in bash. In other shells a command ends here, and the same words follow.
        if c == '&' && self.rest().starts_with('>') {
            return self.end_word();
        }
        self.end_command();
        let is_double = self.next_if(c);
        let is_pipe = c == '|' && !is_double;
        // `|&`, `;&`, `;;&`
        let has_ampersand = c != '&' && self.next_if('&');
        let Self { frames, syntax, .. } = self;
        let Some(frame) = frames.last_mut() else {
            return;
        };
        frame.grammar.place.join = match (c, is_double) {
            ('&', true) => Join::And,
            ('|', true) => Join::Or,
            (';', _) => Join::Sequence,
            _ => Join::Beside,
        };
        if is_pipe {
            return frame.grammar.pipe(syntax);
        }
        frame.grammar.end_pipeline(syntax);
        if c == ';' && (is_double || has_ampersand) {
            frame.grammar.set_pattern(true);
        }
    }

    fn end_line(&mut self) {
        self.end_word();
        if self.frame().grammar.in_test {
            return;
        }
        self.end_command();
        let Self { frames, syntax, .. } = self;
        if let Some(frame) = frames.last_mut() {
            frame.grammar.end_pipeline(syntax);
        }
        self.begin_documents();
    }

    fn end_word(&mut self) {
        let Self { frames, syntax, .. } = self;
        let Some(frame) = frames.last_mut() else {
            return;
        };
        if matches!(frame.until, Until::Document { .. }) {
            return;
        }
        let Some(mut word) = frame.word.take() else {
            return;
        };
        word.end = self.here.max(word.start);
        syntax.words += 1;
        if frame.until == Until::Text {
            syntax.written.push(word.start..word.end);
        }
        match frame.until {
            Until::Array => {
                if let Some(array) = &mut frame.array {
                    array.words.push(word);
                }
            }
            Until::Brace { has_default: true } => frame.word = Some(word),
            Until::Brace { .. } | Until::Arithmetic { .. } => {}
            _ => self.pending.extend(frame.grammar.word(word, syntax)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let here = self.here;
        let Self { frames, syntax, .. } = self;
        if let Some(frame) = frames.last_mut() {
            frame.grammar.end_command(here, syntax);
        }
    }

    /// Reads the documents that begin with this line, up to one with substitutions.
    fn begin_documents(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            let start = self.at;
            let stop = self.find_end(&pending);
            let body = &self.text[start..stop];
            if pending.is_quoted || !body.contains(['$', '`', '\\']) {
                let word = &mut self.syntax.documents[pending.id];
                word.push(body, true);
                continue;
            }
            if self.documents.len() == DEEPEST_DOCUMENT {
                self.syntax.doubt("documents within documents");
                continue;
            }
            self.documents.push(Behind {
                at: self.at,
                limit: self.limit,
                pending: std::mem::take(&mut self.pending),
            });
            self.at = start;
            self.limit = stop;
            self.open(Until::Document { id: pending.id }, true);
            return;
        }
    }

    /// Goes behind the line that ends a document, or to the end of the text. Returns the end of the document.
    fn find_end(&mut self, pending: &Pending) -> usize {
        while !self.rest().is_empty() {
            let start = self.at;
            let line = self.take_while(|c| c != '\n');
            self.next_if('\n');
            let line = if pending.is_indented {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line.strip_suffix('\r').unwrap_or(line) == pending.end {
                return start;
            }
        }
        self.at
    }

    /// Ends the innermost document, at its limit.
    fn end_document(&mut self) {
        let is_document = |frame: &Frame| matches!(frame.until, Until::Document { .. });
        let index = self.frames.iter().rposition(is_document).unwrap_or(0);
        self.here = self.at;
        self.close_to(index + 1);
        self.close();
        if let Some(behind) = self.documents.pop() {
            self.at = behind.at;
            self.limit = behind.limit;
            self.pending = behind.pending;
        }
        self.begin_documents();
    }
}
