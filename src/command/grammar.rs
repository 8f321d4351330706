//! Puts words and operators together to simple commands: keywords, groups, pipelines, functions, redirections.
//!
//! A grammar is the state of one text; the lexer has a stack of them. Knows no quotes and no substitutions.

use std::ops::Range;

use super::syntax::{Assignment, Input, Join, Piece, Place, Simple, Syntax, Word};

/// The role of the next word.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Next {
    Word,
    Read,
    Write,
    HereString,
    Document {
        is_indented: bool,
    },
    /// The name behind `function`.
    Function,
    /// The descriptor of `2>&1`.
    Ignored,
}

/// A document that begins with the next line.
pub(super) struct Pending {
    pub(super) id: usize,
    pub(super) end: String,
    pub(super) is_indented: bool,
    pub(super) is_quoted: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Group {
    Parenthesis,
    Brace,
    Keyword,
    Case { in_pattern: bool },
}

struct Open {
    group: Group,
    stage: usize,
    piped: Option<Range<usize>>,
    shell: usize,
    /// The function whose body it is, and the first command of that.
    function: Option<(String, usize)>,
}

pub(super) struct Grammar {
    command: Simple,
    pub(super) next: Next,
    groups: Vec<Open>,
    /// The groups in parentheses among them.
    pub(super) parentheses: usize,
    /// The first command of the current stage of the pipeline, and the stage before it.
    stage: usize,
    pub(super) piped: Option<Range<usize>>,
    /// True after `}`, `)`, `done`, where only redirections may follow.
    is_behind_group: bool,
    /// True within `[[ .. ]]`.
    pub(super) in_test: bool,
    /// True between `case` and `in`.
    pub(super) in_case_head: bool,
    /// The function whose body begins.
    function: Option<String>,
    /// The first command of this text.
    pub(super) first: usize,
    pub(super) shell: usize,
    /// True for the text itself, false within a substitution.
    is_outermost: bool,
    /// The place of the next command.
    pub(super) place: Place,
}

impl Grammar {
    pub(super) fn new(syntax: &Syntax, shell: usize, start: usize) -> Self {
        let first = syntax.commands.len();
        let mut grammar = Self {
            command: Simple::default(),
            next: Next::Word,
            groups: Vec::new(),
            parentheses: 0,
            stage: first,
            piped: None,
            is_behind_group: false,
            in_test: false,
            in_case_head: false,
            function: None,
            first,
            shell,
            // A substitution begins behind its first character.
            is_outermost: start == 0,
            place: Place::default(),
        };
        grammar.command.start = start;
        grammar
    }

    pub(super) fn depth(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn has_no_words(&self) -> bool {
        self.command.words.is_empty()
    }

    pub(super) fn has_one_word(&self) -> bool {
        self.command.words.len() == 1
    }

    pub(super) fn is_loop(&self) -> bool {
        self.command.is_loop
    }

    pub(super) fn forget_words(&mut self) {
        self.command.words.clear();
    }

    /// Takes the name of a function, in a word of its own or in the one before: what follows is its body.
    pub(super) fn begin_function(&mut self, word: Option<Word>) {
        let name = word.or_else(|| self.command.words.pop());
        self.function = name.map(|name| name.text());
    }

    pub(super) fn assign(&mut self, assignment: Assignment) {
        self.command.assignments.push(assignment);
    }

    pub(super) fn in_pattern(&self) -> bool {
        let group = self.groups.last().map(|open| open.group);
        group == Some(Group::Case { in_pattern: true })
    }

    pub(super) fn set_pattern(&mut self, is_pattern: bool) {
        if let Some(Open {
            group: Group::Case { in_pattern },
            ..
        }) = self.groups.last_mut()
        {
            *in_pattern = is_pattern;
        }
    }

    /// Takes a word. Returns the document that it announces.
    pub(super) fn word(&mut self, word: Word, syntax: &mut Syntax) -> Option<Pending> {
        match std::mem::replace(&mut self.next, Next::Word) {
            Next::Word => self.plain_word(word, syntax),
            Next::Function => self.begin_function(Some(word)),
            Next::Ignored => {}
            Next::Read => self.command.inputs.push(Input::File(word)),
            Next::Write => self.command.writes.push(word),
            Next::HereString => self.command.inputs.push(Input::Text(word)),
            Next::Document { is_indented } => {
                let id = syntax.documents.len();
                syntax.documents.push(Word::default());
                self.command.inputs.push(Input::Document(id));
                return Some(Pending {
                    id,
                    end: word.text(),
                    is_indented,
                    is_quoted: word.is_quoted(),
                });
            }
        }
        None
    }

    fn plain_word(&mut self, word: Word, syntax: &mut Syntax) {
        if self.in_case_head {
            if word.bare() == Some("in") {
                self.in_case_head = false;
                self.open(Group::Case { in_pattern: true }, syntax);
            }
            return;
        }
        if self.in_pattern() {
            if word.bare() == Some("esac") {
                self.close(Group::Keyword, syntax);
            }
            return;
        }
        // `for x do`, `for ((..)) do`
        let is_loop_without_words = self.is_loop() && self.command.words.len() <= 2;
        if is_loop_without_words && word.bare() == Some("do") {
            return self.end_command(word.start, syntax);
        }
        if self.is_at_start() {
            if self.keyword(&word, syntax) {
                return;
            }
            if self.has_no_words()
                && let Some(assignment) = word.assignment()
            {
                return self.command.assignments.push(assignment);
            }
        }
        if self.in_test && word.bare() == Some("]]") {
            self.in_test = false;
        }
        self.push(word);
    }

    fn push(&mut self, word: Word) {
        if self.has_no_words() {
            self.command.start = word.start;
        }
        self.command.words.push(word);
    }

    /// Returns whether a keyword may stand here. `time` is one before a group, and else a program.
    fn is_at_start(&self) -> bool {
        !self.in_test && (self.has_no_words() || self.is_timed())
    }

    fn is_timed(&self) -> bool {
        let words = &self.command.words;
        self.command.assignments.is_empty() && words.len() == 1 && words[0].bare() == Some("time")
    }

    /// Returns whether parentheses that begin here are a group.
    pub(super) fn may_open(&self) -> bool {
        self.has_no_words() || self.is_loop() || self.is_timed()
    }

    fn keyword(&mut self, word: &Word, syntax: &mut Syntax) -> bool {
        if !self.command.assignments.is_empty() {
            return false;
        }
        let Some(keyword) = word.bare() else {
            return false;
        };
        self.place.is_negated |= keyword == "!";
        match keyword {
            "then" | "elif" | "else" | "do" | "!" | "coproc" => self.is_behind_group = false,
            "if" | "while" | "until" => self.open(Group::Keyword, syntax),
            "for" | "select" => {
                self.open(Group::Keyword, syntax);
                self.command.is_loop = true;
                self.forget_words();
                self.push(word.clone());
                return true;
            }
            "case" => self.in_case_head = true,
            "{" => self.open(Group::Brace, syntax),
            "}" => self.close(Group::Brace, syntax),
            "fi" | "done" | "esac" => self.close(Group::Keyword, syntax),
            "function" => self.next = Next::Function,
            "[[" => {
                self.in_test = true;
                return false;
            }
            _ => return false,
        }
        self.forget_words();
        true
    }

    /// Notes a command or a group.
    fn note(&mut self, command: Option<usize>, is_list: bool, syntax: &mut Syntax) {
        let mut place = std::mem::take(&mut self.place);
        place.depth = self.groups.len();
        place.is_list = is_list;
        if self.is_outermost {
            syntax.steps.push((place, command));
        }
    }

    pub(super) fn open(&mut self, group: Group, syntax: &mut Syntax) {
        let first = syntax.commands.len();
        self.note(
            None,
            matches!(group, Group::Parenthesis | Group::Brace),
            syntax,
        );
        self.groups.push(Open {
            group,
            stage: self.stage,
            piped: self.piped.clone(),
            shell: self.shell,
            function: self.function.take().map(|name| (name, first)),
        });
        self.stage = first;
        self.is_behind_group = false;
        if group == Group::Parenthesis {
            self.parentheses += 1;
            self.shell = syntax.new_shell(self.shell);
        }
    }

    pub(super) fn close(&mut self, group: Group, syntax: &mut Syntax) {
        let is_same = |open: Group| {
            open == group || group == Group::Keyword && matches!(open, Group::Case { .. })
        };
        let Some(open) = self.groups.pop_if(|open| is_same(open.group)) else {
            return syntax.doubt("a group ends that has not begun");
        };
        if group == Group::Parenthesis {
            self.parentheses -= 1;
        }
        if let Some((name, first)) = open.function {
            syntax.functions.push((name, first..syntax.commands.len()));
        }
        self.stage = open.stage;
        self.piped = open.piped;
        self.shell = open.shell;
        self.is_behind_group = true;
    }

    /// Ends the text: each group must have ended.
    pub(super) fn end(&mut self, at: usize, syntax: &mut Syntax) {
        self.end_command(at, syntax);
        if self.place.join == Join::Beside {
            self.note(None, false, syntax);
        }
        if !self.groups.is_empty() || self.in_case_head {
            syntax.doubt("a group does not end");
        }
    }

    /// Ends a command. `at` is the place behind it.
    pub(super) fn end_command(&mut self, at: usize, syntax: &mut Syntax) {
        self.in_test = false;
        self.next = Next::Word;
        if self.in_case_head {
            return;
        }
        let mut command = std::mem::take(&mut self.command);
        self.command.start = at;
        let is_of_group = command.words.is_empty() && self.is_behind_group;
        if command.words.is_empty()
            && command.assignments.is_empty()
            && command.writes.is_empty()
            && command.inputs.is_empty()
        {
            return;
        }
        command.end = at;
        command.shell = self.shell;
        command.fed_by.extend(self.piped.clone());
        let index = syntax.commands.len();
        if is_of_group && !command.inputs.is_empty() {
            // Which of its commands reads the document of a group is not known: each may.
            for inner in &mut syntax.commands[self.stage..] {
                inner.fed_by.push(index..index + 1);
            }
        }
        add_feeders(&mut command, index, syntax);
        if !is_of_group {
            self.note(Some(index), false, syntax);
        }
        syntax.commands.push(command);
    }

    /// A new pipeline begins.
    pub(super) fn end_pipeline(&mut self, syntax: &Syntax) {
        if self.stage == syntax.commands.len() {
            // A line end after `|`.
            return;
        }
        self.piped = self.groups.last().and_then(|open| open.piped.clone());
        self.stage = syntax.commands.len();
        self.is_behind_group = false;
    }

    /// The next command reads what this stage writes.
    pub(super) fn pipe(&mut self, syntax: &Syntax) {
        let end = syntax.commands.len();
        self.piped = Some(self.stage..end);
        self.stage = end;
        self.is_behind_group = false;
    }
}

/// Notes which commands feed this one by substitutions, and which it feeds by `> >(..)`.
fn add_feeders(command: &mut Simple, index: usize, syntax: &mut Syntax) {
    let mut feeders: Vec<_> = command.words.iter().flat_map(Word::outputs).collect();
    for input in &command.inputs {
        if let Input::Text(word) | Input::File(word) = input {
            feeders.extend(word.outputs());
        }
    }
    command.fed_by.extend(feeders);
    for word in &command.writes {
        for piece in &word.pieces {
            if let Piece::Output {
                commands,
                is_file: true,
                ..
            } = piece
            {
                for reader in &mut syntax.commands[commands.clone()] {
                    reader.fed_by.push(index..index + 1);
                }
            }
        }
    }
}
