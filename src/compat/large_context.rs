//! Context of hooks that is larger than a model should receive at once: the model gets its beginning, and the path of a
//! private file with all of it.
//!
//! Knows neither the agent nor the answer that contained the context.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// The most files at a time. The oldest one is removed first.
const MOST_FILES: usize = 16;

/// The number of bytes of a token, by the estimate of Codex.
const BYTES_OF_TOKEN: usize = 4;

/// The files of a settings file's hooks. They are removed with these hooks: when the host drops or reloads them.
#[derive(Debug, Default)]
pub(crate) struct LargeContext(Mutex<VecDeque<NamedTempFile>>);

/// Writes a file that only this user can read.
fn new_file(text: &str) -> io::Result<NamedTempFile> {
    let mut named = tempfile::Builder::new();
    let mut file = named
        .prefix("forge-hooks-context-")
        .suffix(".txt")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

impl LargeContext {
    /// Returns the part of a text that the model receives, and if there is no file for all of it, the reason.
    pub(super) fn shortened(&self, text: String, tokens: usize) -> (String, Option<String>) {
        let most = tokens.saturating_mul(BYTES_OF_TOKEN);
        if text.len() <= most {
            return (text, None);
        }
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
        let beginning = &text[..end.unwrap_or_default()];
        let length = text.len();
        let (message, why) = match new_file(&text) {
            Ok(file) => {
                let path = file.path().display().to_string();
                self.keep(file);
                let message = format!("{length} bytes of context; all of it is in {path}");
                (message, None)
            }
            Err(error) => {
                let message =
                    format!("the file for {length} bytes of context cannot be written: {error}");
                (message.clone(), Some(message))
            }
        };
        (format!("{beginning}\n[{message}]"), why)
    }

    fn keep(&self, file: NamedTempFile) {
        let oldest = {
            let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            files.push_back(file);
            let is_full = files.len() > MOST_FILES;
            is_full.then(|| files.pop_front())
        };
        // The file is removed without the lock.
        drop(oldest);
    }
}
