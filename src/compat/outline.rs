//! The outline of a settings file of another tool: the groups of each event, and its other keys.
//!
//! Only one group at a time is parsed into a tree, like an entry of hooks.json. Does not know any
//! particular tool.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::tokens::Token;

use crate::config::reading::{Failure, FileError, MOST_ENTRIES, Member, Tokens, other_members};

/// The value of one event in `hooks`.
pub(super) struct Groups<'a> {
    pub(super) event: Cow<'a, str>,
    pub(super) key_range: Range<usize>,
    /// None if the value is not a list.
    pub(super) groups: Option<Vec<Range<usize>>>,
}

#[derive(Default)]
pub(super) struct Outline<'a> {
    /// The keys next to `hooks`.
    pub(super) others: Vec<Member<'a>>,
    pub(super) events: Vec<Groups<'a>>,
    /// The range of the value of `hooks`, if it is not an object: no settings file may have that, but a
    /// manifest has the names of files there.
    pub(super) no_object: Option<Range<usize>>,
}

/// Whether the value of `hooks` is an object. Reads only up to it. None if there is no such key.
pub(super) fn has_events(text: &str) -> Option<bool> {
    let mut tokens = Tokens::new(text);
    tokens.open().ok()?;
    let mut found = None;
    // Stops at the key, since the rest may be long.
    let _ = tokens.members(|tokens, key, key_range| {
        if key == "hooks" {
            found = Some(matches!(tokens.next()?, Some(Token::OpenBrace)));
            return Err((FileError::NoList, key_range));
        }
        tokens.value().map(drop)
    });
    found
}

impl<'a> Outline<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self, Failure> {
        let mut outline = Self::default();
        outline.others = other_members(text, |tokens, _| outline.hooks(tokens))?;
        Ok(outline)
    }

    /// Reads `hooks`. If the key occurs twice, the last one counts, as for the tools.
    fn hooks(&mut self, tokens: &mut Tokens<'a>) -> Result<(), Failure> {
        self.events.clear();
        self.no_object = None;
        let first = tokens.next()?;
        if !matches!(first, Some(Token::OpenBrace)) {
            self.no_object = Some(tokens.value_from(first)?);
            return Ok(());
        }
        let mut count = 0;
        tokens.members(|tokens, event, key_range| {
            let first = tokens.next()?;
            let groups = match first {
                Some(Token::OpenBracket) => Some(tokens.entries(first)?),
                first => {
                    tokens.value_from(first)?;
                    None
                }
            };
            count += groups.as_ref().map_or(0, Vec::len);
            if count > MOST_ENTRIES {
                return Err((FileError::TooManyEntries, key_range));
            }
            self.events.push(Groups {
                event,
                key_range,
                groups,
            });
            Ok(())
        })
    }
}
