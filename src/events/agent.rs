//! Events of agents that hooks of other agents use and the specification lacks. They are custom events; this
//! crate knows their names.

use std::sync::Arc;

use super::event_type::{CustomEventType, EventType};
use super::table::{
    AGENT_ID, AGENT_TYPE, LLM_ERROR, NOTIFICATION, POST_COMPACT, PRE_COMPACT, STOP, SUBAGENT_START,
    SUBAGENT_STOP,
};
use super::{HookEvent, HostContext};

impl EventType {
    /// Returns whether the event means that an agent is about to stop. A hook that blocks it makes the agent
    /// continue; a hook that stops the turn does not block it.
    pub(crate) fn is_agent_stop(&self) -> bool {
        matches!(self.as_str(), STOP | SUBAGENT_STOP)
    }
}

impl HookEvent {
    /// Creates `agent:stop`: the agent is about to end its turn. Can be blocked: the agent then continues, with the
    /// hook's reason. `stop_hook_active`: whether the agent runs only because a hook has blocked its last stop.
    #[must_use]
    pub fn agent_stop(stop_hook_active: bool) -> Self {
        Self::named(STOP).with_data("stop_hook_active", stop_hook_active)
    }

    /// Creates `agent:subagent_start`: an agent of this type has started, for a part of the work.
    #[must_use]
    pub fn agent_subagent_start(agent_type: impl Into<String>) -> Self {
        Self::named(SUBAGENT_START).with_data(AGENT_TYPE, agent_type.into())
    }

    /// Creates `agent:subagent_stop`: an agent of this type is about to end. Can be blocked, like
    /// [`agent_stop`](Self::agent_stop).
    #[must_use]
    pub fn agent_subagent_stop(agent_type: impl Into<String>, stop_hook_active: bool) -> Self {
        Self::named(SUBAGENT_STOP)
            .with_data(AGENT_TYPE, agent_type.into())
            .with_data("stop_hook_active", stop_hook_active)
    }

    /// Names the agent in whose turn the event occurs. Replaces both keys of the data, since both are about one agent.
    pub(crate) fn of_agent(mut self, agent_type: &str, id: Option<&str>) -> Self {
        self.data.insert(AGENT_TYPE.to_owned(), agent_type.into());
        self.data.remove(AGENT_ID);
        if let Some(id) = id {
            self.data.insert(AGENT_ID.to_owned(), id.into());
        }
        self
    }

    /// Creates `context:pre_compact`: the conversation is about to be shortened; `trigger` is `manual` or
    /// `auto`. Can be blocked.
    #[must_use]
    pub fn context_pre_compact(trigger: impl Into<String>) -> Self {
        Self::named(PRE_COMPACT).with_data("trigger", trigger.into())
    }

    /// Creates `context:post_compact`: the conversation has been shortened; `trigger` is `manual` or `auto`.
    #[must_use]
    pub fn context_post_compact(trigger: impl Into<String>) -> Self {
        Self::named(POST_COMPACT).with_data("trigger", trigger.into())
    }

    /// Creates `notification:show`: the host shows its user a message.
    #[must_use]
    pub fn notification_show(message: impl Into<String>) -> Self {
        Self::named(NOTIFICATION).with_data("message", message.into())
    }

    /// Creates `llm:error`: a request to a model has failed, with the message of its error.
    #[must_use]
    pub fn llm_error(model: impl Into<String>, error: impl Into<String>) -> Self {
        Self::named(LLM_ERROR)
            .with_data("llm_model", model.into())
            .with_data("error", error.into())
    }

    fn named(name: &'static str) -> Self {
        Self::new(EventType::Custom(CustomEventType::known(name)))
    }

    /// Sets the host's values for hooks of other agents; see [`HostContext`].
    #[must_use]
    pub fn with_context(mut self, context: Arc<HostContext>) -> Self {
        self.context = Some(context);
        self
    }

    /// Returns the host's values for hooks of other agents, if they are set.
    #[must_use]
    pub(crate) fn context(&self) -> Option<&Arc<HostContext>> {
        self.context.as_ref()
    }
}
