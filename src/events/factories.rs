//! A constructor for each known event, with its data.
//!
//! The keys are those of the table.

use serde_json::Value;

use super::table::{
    CustomEventType, LLM_ERROR, NOTIFICATION, POST_COMPACT, PRE_COMPACT, STOP, SUBAGENT_START,
    SUBAGENT_STOP,
};
use super::{EventType, HookEvent};

impl HookEvent {
    /// Creates `tool:pre_execute`: a tool is about to run.
    pub fn tool_pre_execute(tool: impl Into<String>, args: impl Into<Value>) -> Self {
        Self::of_tool(EventType::ToolPreExecute, tool).with_data("tool_args", args)
    }

    /// Creates `tool:post_execute`: a tool has run, with its result.
    pub fn tool_post_execute(
        tool: impl Into<String>,
        args: impl Into<Value>,
        result: impl Into<Value>,
    ) -> Self {
        Self::of_tool(EventType::ToolPostExecute, tool)
            .with_data("tool_args", args)
            .with_data("tool_result", result)
    }

    /// Creates `tool:error`: a tool failed, with the message of its error.
    pub fn tool_error(
        tool: impl Into<String>,
        args: impl Into<Value>,
        error: impl Into<String>,
    ) -> Self {
        Self::of_tool(EventType::ToolError, tool)
            .with_data("tool_args", args)
            .with_data("error", error.into())
    }

    /// Creates `llm:pre_request`: a request to a model follows, with the number of its messages.
    pub fn llm_pre_request(model: impl Into<String>, message_count: u64) -> Self {
        Self::of_model(EventType::LlmPreRequest, model).with_data("message_count", message_count)
    }

    /// Creates `llm:post_response`: a model has answered, with the number of tokens.
    pub fn llm_post_response(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmPostResponse, model).with_data("llm_tokens", tokens)
    }

    /// Creates `llm:stream_start`: a response begins to stream.
    pub fn llm_stream_start(model: impl Into<String>) -> Self {
        Self::of_model(EventType::LlmStreamStart, model)
    }

    /// Creates `llm:stream_end`: a streamed response has ended, with the number of tokens.
    pub fn llm_stream_end(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmStreamEnd, model).with_data("llm_tokens", tokens)
    }

    /// Creates `session:start`: a session begins.
    pub fn session_start(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionStart).with_session_id(id)
    }

    /// Creates `session:end`: a session ends.
    pub fn session_end(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionEnd).with_session_id(id)
    }

    /// Creates `session:message`: a message is added to a session.
    pub fn session_message(
        id: impl Into<String>,
        role: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self::new(EventType::SessionMessage)
            .with_session_id(id)
            .with_data("role", role.into())
            .with_data("content", content.into())
    }

    /// Creates `permission:check`: a permission is checked, with the tool that needs it, its level, and the
    /// rule that matched.
    pub fn permission_check(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionCheck, tool, level, rule)
    }

    /// Creates `permission:prompt`: the user is asked for a permission.
    pub fn permission_prompt(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionPrompt, tool, level, rule)
    }

    /// Creates `permission:granted`: a permission was granted.
    pub fn permission_granted(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionGranted, tool, level, rule)
    }

    /// Creates `permission:denied`: a permission was denied.
    pub fn permission_denied(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionDenied, tool, level, rule)
    }

    /// Creates `user:prompt_submit`: the user submits input.
    pub fn user_prompt_submit(content: impl Into<String>) -> Self {
        Self::new(EventType::UserPromptSubmit).with_data("content", content.into())
    }

    /// Creates `user:interrupt`: the user interrupts, as with Ctrl-C.
    pub fn user_interrupt() -> Self {
        Self::new(EventType::UserInterrupt)
    }

    /// Creates `agent:stop`: the agent is about to end its turn. Can be blocked: the agent then continues, with the
    /// hook's reason. `stop_hook_active`: whether the agent runs only because a hook has blocked its last stop.
    pub fn agent_stop(stop_hook_active: bool) -> Self {
        Self::named(STOP).with_data("stop_hook_active", stop_hook_active)
    }

    /// Creates `agent:subagent_start`: an agent of this type has started, for a part of the work.
    pub fn agent_subagent_start(agent_type: impl Into<String>) -> Self {
        Self::named(SUBAGENT_START).with_data("agent_type", agent_type.into())
    }

    /// Creates `agent:subagent_stop`: an agent of this type is about to end. Can be blocked, like
    /// [`agent_stop`](Self::agent_stop).
    pub fn agent_subagent_stop(agent_type: impl Into<String>, stop_hook_active: bool) -> Self {
        Self::named(SUBAGENT_STOP)
            .with_data("agent_type", agent_type.into())
            .with_data("stop_hook_active", stop_hook_active)
    }

    /// Creates `context:pre_compact`: the conversation is about to be shortened; `trigger` is `manual` or
    /// `auto`. Can be blocked.
    pub fn context_pre_compact(trigger: impl Into<String>) -> Self {
        Self::named(PRE_COMPACT).with_data("trigger", trigger.into())
    }

    /// Creates `context:post_compact`: the conversation has been shortened; `trigger` is `manual` or `auto`.
    pub fn context_post_compact(trigger: impl Into<String>) -> Self {
        Self::named(POST_COMPACT).with_data("trigger", trigger.into())
    }

    /// Creates `notification:show`: the host shows its user a message.
    pub fn notification_show(message: impl Into<String>) -> Self {
        Self::named(NOTIFICATION).with_data("message", message.into())
    }

    /// Creates `llm:error`: a request to a model has failed, with the message of its error.
    pub fn llm_error(model: impl Into<String>, error: impl Into<String>) -> Self {
        Self::named(LLM_ERROR)
            .with_data("llm_model", model.into())
            .with_data("error", error.into())
    }

    fn of_tool(event_type: EventType, tool: impl Into<String>) -> Self {
        Self::new(event_type).with_tool_name(tool)
    }

    fn of_model(event_type: EventType, model: impl Into<String>) -> Self {
        Self::new(event_type).with_data("llm_model", model.into())
    }

    fn of_permission(
        event_type: EventType,
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        let event = Self::of_tool(event_type, tool).with_data("perm_level", level.into());
        match rule {
            Some(rule) => event.with_data("perm_rule", rule),
            None => event,
        }
    }

    fn named(name: &'static str) -> Self {
        Self::new(EventType::Custom(CustomEventType::known(name)))
    }
}
