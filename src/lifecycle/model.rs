//! A call of a model: the request, the stream of the answer, the answer.

use super::action::{Action, Asks, Request, Running};
use crate::events::HookEvent;
use crate::outcome::{HookBlockedError, Outcome};

/// A call of a model; see [`Lifecycle::llm`](super::Lifecycle::llm).
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
/// stream.finish();
/// call.finish(tokens);
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[derive(Debug)]
pub struct Model {
    pub(super) name: String,
    pub(super) message_count: u64,
}

impl Action for Model {
    fn event(&self) -> HookEvent {
        HookEvent::llm_pre_request(&self.name, self.message_count)
    }
}

impl Asks for Model {}

impl Request<'_, Model> {
    /// Fires `llm:pre_request`, calls the model, and fires `llm:post_response` with the number of tokens that
    /// the function returns beside the answer.
    ///
    /// # Errors
    /// As with [`begin`](Request::begin). The model has not been called then.
    pub fn run<T>(
        self,
        call: impl FnOnce(&Running<Model>) -> (T, u64),
    ) -> Result<T, HookBlockedError> {
        let running = self.begin()?;
        let (answer, tokens) = call(&running);
        running.finish(tokens);
        Ok(answer)
    }
}

impl Running<Model> {
    /// Fires `llm:stream_start`: the answer begins to arrive, piece by piece.
    pub fn stream(&self) -> Running<Stream> {
        let model = self.open.action.name.clone();
        let stream = Stream { model, tokens: 0 };
        Running::announced(self.open.lifecycle.clone(), stream)
    }

    /// Fires `llm:post_response` with the number of tokens of the complete answer. Returns the outcome; none if
    /// it was not waited for. Without an answer, the call is dropped instead, and nothing is fired.
    pub fn finish(mut self, tokens: u64) -> Option<Outcome> {
        let event = HookEvent::llm_post_response(&self.open.action.name, tokens);
        self.open.end(event)
    }
}

/// An answer that arrives piece by piece. Its end is fired once, with the number of tokens so far, also if it
/// is dropped.
#[derive(Debug)]
pub struct Stream {
    model: String,
    tokens: u64,
}

impl Action for Stream {
    fn event(&self) -> HookEvent {
        HookEvent::llm_stream_start(&self.model)
    }

    fn dropped(&self) -> Option<HookEvent> {
        Some(HookEvent::llm_stream_end(&self.model, self.tokens))
    }
}

impl Running<Stream> {
    /// Adds to the number of tokens that have arrived.
    pub fn add_tokens(&mut self, count: u64) {
        let tokens = &mut self.open.action.tokens;
        *tokens = tokens.saturating_add(count);
    }

    /// The number of tokens that have arrived.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.open.action.tokens
    }

    /// Fires `llm:stream_end`. Returns the outcome; none if it was not waited for.
    pub fn finish(mut self) -> Option<Outcome> {
        let action = &self.open.action;
        let event = HookEvent::llm_stream_end(&action.model, action.tokens);
        self.open.end(event)
    }
}
