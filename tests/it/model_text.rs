//! The limit of texts that hooks have for the model.

use forge_hooks::{EventType, FireOptions, HookBlockedError, HookOutput, HookResult, Outcome};
use serde_json::{Value, json};

use crate::support::{World, blocking_event, hook};

/// More than the usual limit, in characters of two bytes.
const LENGTH: usize = 12_345;

/// The outcomes of a hook that answers so, of a blocking call and of a submitted event.
fn outcomes(answer: &Value, limit: Option<usize>) -> [Outcome; 2] {
    let world = World::with(|builder| match limit {
        Some(chars) => builder.model_text_limit(chars),
        None => builder,
    });
    world.hook("*", &world.says(&answer.to_string()));
    let options = FireOptions::default().handles_ask();
    let submitted = world
        .executor
        .submit(blocking_event(), options.clone())
        .unwrap();
    let called = world.executor.execute(&blocking_event(), options);
    [called, submitted.wait()]
}

fn check(outcome: &Outcome, key: &str, expected: &str) {
    let json = serde_json::to_value(outcome).unwrap();
    assert_eq!(json[key], expected);
    let whole = "ä".repeat(LENGTH);
    assert!(json["results"][0]["output"].to_string().contains(&whole));
    if let Err(error) = outcome.check() {
        assert_eq!(error.result.reason(), Some(&*whole));
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(serde_json::to_value(&error).unwrap()[key], expected);
    }
}

#[test]
fn a_text_is_cut_and_the_results_have_all_of_it() {
    let text = "ä".repeat(LENGTH);
    let answers = [
        ("reason", json!({"decision": "block", "reason": text})),
        ("reason", json!({"decision": "ask", "reason": text})),
        ("context", json!({"additionalContext": text})),
    ];
    let limits = [
        (None, 10_000, " [... 2,345 more characters]"),
        (Some(7), 7, " [... 12,338 more characters]"),
        (Some(0), 1, " [... 12,344 more characters]"),
        (Some(LENGTH), LENGTH, ""),
    ];
    for (key, answer) in &answers {
        for (limit, length, note) in limits {
            let expected = "ä".repeat(length) + note;
            for outcome in outcomes(answer, limit) {
                check(&outcome, key, &expected);
            }
        }
    }
}

#[test]
fn an_answer_of_the_user_changes_what_is_cut() {
    let answer = json!({"decision": "ask", "reason": "ä".repeat(LENGTH)});
    let [outcome, _] = outcomes(&answer, None);
    let no = outcome.clone().answer(|_| false);
    let reason = no.reason().unwrap();
    assert!(reason.starts_with("the user declined: ä"), "{reason}");
    assert!(
        reason.ends_with("ä [... 2,364 more characters]"),
        "{reason}"
    );
    assert_eq!(outcome.answer(|_| true).reason(), None);
}

#[test]
fn texts_of_several_hooks_are_cut_together() {
    let result = |text: &str| {
        let mut output = HookOutput::default();
        output.feedback = Some(text.repeat(6_000));
        HookResult::new(hook("*", "x"), 0).with_output(output)
    };
    let outcome = Outcome::new(EventType::ToolPostExecute, vec![result("a"), result("b")]);
    let feedback = outcome.feedback().unwrap();
    assert!(feedback.ends_with("b [... 2,001 more characters]"));
}

#[test]
fn an_error_without_an_outcome_is_cut() {
    let result = HookResult::new(hook("*", "x"), 1).with_stdout("\u{1b}".repeat(1_100_000));
    let error = HookBlockedError::new(result);
    let (text, json) = (error.to_string(), serde_json::to_value(&error).unwrap());
    assert!(text.len() < 10_100 && text.ends_with(" more characters]"));
    let reason = json["reason"].as_str().unwrap();
    assert!(reason.ends_with(" [... 1,090,000 more characters]"));
}
