//! A call of a model: the request, the stream of the answer, the answer.

use std::fmt;

use super::{Ask, Lifecycle, Question, ask_user_if_needed, options};
use crate::events::HookEvent;
use crate::outcome::{HookBlockedError, Outcome};

/// A request to a model that is about to be sent; see [`Lifecycle::llm`].
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let call = hooks.llm("large", 12).begin()?;
/// let mut stream = call.stream();
/// for chunk in ["Hello", ", ", "world"] {
///     print!("{chunk}");
///     stream.add_tokens(1);
/// }
/// let tokens = stream.tokens();
/// stream.end();
/// call.finish(tokens);
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[must_use = "nothing is fired before `begin`"]
pub struct LlmRequest<'a> {
    lifecycle: &'a Lifecycle,
    model: String,
    message_count: u64,
    ask: Option<Ask<'a>>,
}

impl<'a> LlmRequest<'a> {
    pub(super) fn new(lifecycle: &'a Lifecycle, model: String, message_count: u64) -> Self {
        Self {
            lifecycle,
            model,
            message_count,
            ask: None,
        }
    }

    /// Sets the function that asks the user when a hook answers `ask`; true allows the request.
    /// Default: such a hook blocks the request.
    pub fn on_ask(mut self, ask: impl FnOnce(&Question<'_>) -> bool + Send + 'a) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Fires `llm:pre_request`. On success the host sends its request.
    ///
    /// # Errors
    /// If a hook blocks the request, or the user declines when asked.
    pub fn begin(self) -> Result<LlmCall, HookBlockedError> {
        let event = HookEvent::llm_pre_request(&self.model, self.message_count);
        let event = self.lifecycle.of_session(event);
        let outcome = self
            .lifecycle
            .executor
            .execute(&event, options(self.ask.as_ref()));
        Ok(LlmCall {
            before: ask_user_if_needed(&event, outcome, None, self.ask)?,
            lifecycle: self.lifecycle.clone(),
            model: self.model,
        })
    }
}

impl fmt::Debug for LlmRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmRequest")
            .field("model", &self.model)
            .field("message_count", &self.message_count)
            .finish_non_exhaustive()
    }
}

/// A request to a model that may be sent or has been sent. If it is dropped without
/// [`finish`](LlmCall::finish), there was no answer, and no further event is fired. It borrows
/// nothing, so a host that polls can store it and its stream, or move them to another thread.
#[derive(Debug)]
#[must_use = "`finish` fires the end of the call"]
pub struct LlmCall {
    lifecycle: Lifecycle,
    model: String,
    before: Outcome,
}

impl LlmCall {
    /// The outcome before the request.
    pub fn before(&self) -> &Outcome {
        &self.before
    }

    /// Fires `llm:stream_start`: the answer begins to arrive, piece by piece.
    pub fn stream(&self) -> LlmStream {
        let event = HookEvent::llm_stream_start(&self.model);
        let started = self.lifecycle.fire_after(event);
        LlmStream {
            lifecycle: self.lifecycle.clone(),
            model: self.model.clone(),
            started,
            tokens: 0,
            ended: false,
        }
    }

    /// Fires `llm:post_response` with the number of tokens of the complete answer. Returns the
    /// outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn finish(self, tokens: u64) -> Option<Outcome> {
        let event = HookEvent::llm_post_response(&self.model, tokens);
        self.lifecycle.fire_after(event)
    }
}

/// An answer that arrives piece by piece. Its end is fired once, with the number of tokens so far,
/// also if it is dropped earlier by an error or a panic.
#[derive(Debug)]
#[must_use = "a stream that is dropped at once has ended"]
pub struct LlmStream {
    lifecycle: Lifecycle,
    model: String,
    started: Option<Outcome>,
    tokens: u64,
    ended: bool,
}

impl LlmStream {
    /// The outcome of its start; none if it was not waited for.
    pub fn started(&self) -> Option<&Outcome> {
        self.started.as_ref()
    }

    /// Adds to the number of tokens that have arrived.
    pub fn add_tokens(&mut self, count: u64) {
        self.tokens = self.tokens.saturating_add(count);
    }

    /// The number of tokens that have arrived.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Fires `llm:stream_end`. Returns the outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn end(mut self) -> Option<Outcome> {
        self.fire_end()
    }

    fn fire_end(&mut self) -> Option<Outcome> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let event = HookEvent::llm_stream_end(&self.model, self.tokens);
        self.lifecycle.fire_after(event)
    }
}

impl Drop for LlmStream {
    fn drop(&mut self) {
        // No caller is left to check the outcome.
        let _ = self.fire_end();
    }
}
