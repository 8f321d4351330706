//! Runs the hooks of hooks.json on an event of another agent, and returns the answer in the form that this agent reads. Agents
//! start `forge-hooks hook`, which uses this module, as their own hook.
//!
//! Nothing that a model can write decides here: the registered command, not the environment, says where the user's files are
//! and where programs are found. An event that is not understood blocks.

mod answer;
#[cfg(test)]
mod answer_tests;
mod arguments;
mod background;
mod call;
mod decision;
mod dispatch;
mod firing;
mod front_matter;
mod guarded;
mod install;
mod operation;
mod patch;
mod paths;
#[cfg(test)]
#[cfg(unix)]
mod real_events_tests;
mod registered;
mod session;
mod settings;
mod text_output;
mod turn;
mod vanished;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::Value;

use crate::agents::{Agent, Effect, Event};
pub(crate) use answer::Answer;
use decision::{CallDecision, unchecked};
use firing::Deadline;
pub(crate) use guarded::DECIDES;
pub(crate) use install::{
    Approvals, BoundedChild, Mistake, Registration, Runs, User, by_hand, changed_by_hand, empty,
    install, probe, registered, remove_message, remove_rest, uninstall, usable, was_made,
};
#[cfg(fuzzing)]
pub use patch::check_patch;
pub(crate) use registered::Registered;
pub(crate) use session::has_started;
use turn::Turn;
pub(crate) use vanished::record_hooks;

/// Returns the answer to an event on standard input. `is_interrupted` says whether a signal was received.
pub(crate) fn answer(
    registered: &Registered,
    input: &str,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Answer {
    // No event of hooks.json corresponds to this one, so no hook can run.
    if registered.event.ours().is_none() {
        return Answer::default();
    }
    let registered = &registered.for_writer(input);
    let deadline = Deadline::below(registered.timeout);
    let answered = catch_unwind(AssertUnwindSafe(|| -> Result<Answer, String> {
        let turn = Turn::read(registered, input, deadline)?;
        let decision = turn.decide(is_interrupted);
        Ok(turn.write(decision))
    }));
    let answer = match answered {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => fault(registered.agent, registered.event, &why),
        Err(_) => fault(
            registered.agent,
            registered.event,
            "forge-hooks has panicked, which is a mistake in it: please report it",
        ),
    };
    match registered.agent.plugin {
        Some(_) => answer.with_nonce(input),
        None => answer,
    }
}

/// Returns the answer if there is no other after this time, from the start of the program.
pub(crate) fn late(registered: &Registered) -> (Duration, Answer) {
    let last = Deadline::below(registered.timeout).last();
    let why = format!("there was no answer within {} seconds", last.as_secs_f32());
    (last, fault(registered.agent, registered.event, &why))
}

/// Runs the hooks in the background with these fingerprints to their end.
pub(crate) fn run_background(registered: &Registered, input: &str, hooks: &[u64]) {
    let registered = &registered.for_writer(input);
    let deadline = Deadline::below(registered.timeout);
    if let Ok(turn) = Turn::read(registered, input, deadline) {
        turn.run_background(hooks);
    }
}

/// Returns the answer if hooks could not decide: a block, or an output that is withheld. The end of a turn is not blocked: it could
/// be blocked for ever.
pub(crate) fn fault(agent: &Agent, event: &Event, why: &str) -> Answer {
    let mut decision = CallDecision::default();
    if event.ours() == Some("tool:post_execute") {
        decision.withhold_output(why);
    } else if event.effect != Effect::Blocks || event.is_stop() {
        decision.note(&unchecked(why));
    } else {
        decision.block_with(format!("blocked by forge-hooks: {why}"));
    }
    agent.answers.answer(event, &Value::Null, decision)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::agents::{CLAUDE, CODEX};
    use crate::profile::AppProfile;

    #[test]
    fn a_panic_blocks_and_keeps_no_agent_from_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let hooks = directory.path().join("forge-hooks/hooks.json");
        fs::create_dir_all(hooks.parent().unwrap()).unwrap();
        fs::write(
            &hooks,
            r#"{"hooks": [{"event": "*", "command": "sleep 0.3"}]}"#,
        )
        .unwrap();
        for (agent, name, code) in [
            (CLAUDE, "PreToolUse", 2),
            (CODEX, "PreToolUse", 2),
            (CLAUDE, "UserPromptSubmit", 2),
            (CLAUDE, "Stop", 0),
            (CODEX, "SubagentStop", 0),
            (CLAUDE, "Notification", 0),
        ] {
            let registered = Registered {
                agent,
                event: agent.event_named(name).unwrap(),
                profile: AppProfile::default(),
                home: home::home_dir().unwrap(),
                config_home: Some(directory.path().to_owned()),
                path: "/usr/bin:/bin".into(),
                inherited: Vec::new(),
                timeout: std::time::Duration::from_secs(60),
                trace_events: None,
                is_background: false,
            };
            // A session without an id has no state.
            let input = json!({"hook_event_name": name, "cwd": directory.path(), "tool_name": "Bash", "tool_input": {}});
            let answer = answer(&registered, &input.to_string(), &mut || panic!("a test"));
            assert_eq!(answer.code, code, "{name}: {answer:?}");
            let (reason, other) = if code == 2 {
                (answer.stderr, answer.stdout)
            } else {
                (answer.stdout, answer.stderr)
            };
            assert!(reason.contains("forge-hooks has panicked"), "{reason}");
            assert_eq!(other, "");
        }
        let registered = Registered {
            agent: CODEX,
            event: CODEX.event_named("PostToolUse").unwrap(),
            profile: AppProfile::default(),
            home: "/no/such/home".into(),
            config_home: None,
            path: "/usr/bin:/bin".into(),
            inherited: Vec::new(),
            timeout: std::time::Duration::from_secs(60),
            trace_events: None,
            is_background: false,
        };
        let withheld = super::answer(&registered, "{}", &mut || false);
        assert!(
            withheld
                .stdout
                .contains("[output withheld: the home directory is"),
            "{withheld:?}"
        );
    }
}
