//! A name as words: `dbPassword2`, `DB_PASSWORD` and `db-password` are all two. Knows no words.

/// The words of a name: what separators, capitals and digits make of it.
pub(super) struct Words<'a>(pub(super) &'a str);

pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) after_dot: bool,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let letter = |c: char| c.is_alphabetic();
        let start = self.0.find(letter)?;
        let after_dot = self.0[..start].contains('.');
        let rest = &self.0[start..];
        let end = word_end(rest);
        self.0 = &rest[end..];
        Some(Word {
            text: &rest[..end],
            after_dot,
        })
    }
}

/// Where the first word ends: before what is no letter, before a capital behind a small letter, and
/// before the last of several capitals, when a small letter follows (`API` in `APIKey`).
fn word_end(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    let mut before = None;
    while let Some((at, c)) = letters.next() {
        let next_is_small = letters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins_word = match before {
            Some(before) if c.is_uppercase() => char::is_lowercase(before) || next_is_small,
            _ => false,
        };
        if !c.is_alphabetic() || begins_word {
            return at;
        }
        before = Some(c);
    }
    text.len()
}
