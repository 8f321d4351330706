//! The words of a shell's command, as far as they can be told without being the shell.
//!
//! Knows quotes and the ends of commands; replaces nothing.

/// A word of a command, as far as it matters here.
#[derive(Default)]
pub(crate) struct Word {
    /// Without its quotes.
    pub(crate) text: String,
    /// What of it stands in no quotes.
    pub(crate) bare: String,
    pub(crate) single_quoted: Vec<String>,
    /// Something of it stands in quotes.
    pub(crate) quoted: bool,
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

/// The words of a command; an operator ends the word that it follows and stays with it, and so does
/// the end of a line.
pub(crate) fn words(command: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word = Word::default();
    let mut chars = command.chars();
    let mut in_double_quotes = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.text.extend(chars.next()),
            '\'' if !in_double_quotes => {
                let quoted: String = chars.by_ref().take_while(|c| *c != '\'').collect();
                word.text.push_str(&quoted);
                word.single_quoted.push(quoted);
            }
            '"' => {
                in_double_quotes = !in_double_quotes;
                word.quoted = true;
            }
            _ if in_double_quotes => word.text.push(c),
            ' ' | '\t' => end(&mut words, &mut word),
            '\n' | ';' | '&' | '|' => {
                // It belongs to the word before it, where there is one.
                let last = if word.text.is_empty() {
                    words.last_mut()
                } else {
                    None
                };
                last.unwrap_or(&mut word).text.push(c);
                end(&mut words, &mut word);
            }
            _ => {
                word.text.push(c);
                word.bare.push(c);
            }
        }
    }
    end(&mut words, &mut word);
    words
}

fn end(words: &mut Vec<Word>, word: &mut Word) {
    if !word.text.is_empty() || !word.single_quoted.is_empty() {
        words.push(std::mem::take(word));
    }
}
