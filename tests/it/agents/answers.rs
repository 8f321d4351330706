//! The decisions of hooks in each agent's format: each outcome at each of its events.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cases::at_once;
use crate::golden::same_as_corpus;
use crate::program::User;

fn is_silent(row: &str) -> bool {
    row.ends_with(": 0\n")
}

#[test]
fn outcomes_are_said_in_each_agents_words() {
    let (mut events, mut outcomes) = (Vec::new(), Vec::new());
    for row in include_str!("../golden/agents_inputs.txt").lines() {
        let cells: Vec<_> = row.split(" | ").collect();
        match cells[..] {
            [event, fields] if event.starts_with("@ ") => {
                let (agent, name) = event[2..].split_once(' ').unwrap();
                let fields: Value = serde_json::from_str(fields).unwrap();
                events.push((agent, name.split(',').next().unwrap(), name, fields));
            }
            [name, hooks] if !row.starts_with('#') => outcomes.push((name, hooks)),
            _ => assert!(row.starts_with('#'), "{row}"),
        }
    }
    let jobs: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| events.iter().map(move |event| (outcome, event)))
        .collect();
    let rows = at_once(&jobs, User::new, |user, job| {
        let ((_, hooks), (agent, event, shown, fields)) = job;
        // With a terminal, it asks.
        if *agent == "gemini" && hooks.contains("asks") {
            return String::new();
        }
        user.has_hooks(&serde_json::from_str(hooks).unwrap());
        let _ = std::fs::remove_dir_all(user.path("home"));
        let answer = user.fired(agent, event, fields);
        let mut row = format!("  {agent} {shown}: {}\n", answer.status);
        for text in [&answer.out, &answer.err] {
            text.lines()
                .for_each(|line| writeln!(row, "    {line}").unwrap());
        }
        row
    });
    let mut text = String::new();
    for (outcome, rows) in outcomes.iter().zip(rows.chunks(events.len())) {
        let (silent, said): (Vec<_>, Vec<_>) = rows.iter().partition(|row| is_silent(row));
        let names = silent.iter().map(|row| row.trim().trim_end_matches(": 0"));
        let names: Vec<_> = names.collect();
        let silent = format!("  nothing at {}\n", names.join("; "));
        let said: String = said.into_iter().map(String::as_str).collect();
        writeln!(text, "{}: {}\n{said}{silent}", outcome.0, outcome.1).unwrap();
    }
    same_as_corpus("agents.txt", &text);
}
