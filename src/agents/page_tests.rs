//! Tests that pages about agents agree with the agents' rows.

use super::AGENTS;
#[cfg(feature = "cli")]
use super::APPLY_PATCH;
use super::Agent;
use super::event::Fires::OfHost;
#[cfg(feature = "cli")]
use super::{BRIDGED, COPILOT, Effect, KILO, OPENCODE, Tool};
#[cfg(feature = "cli")]
use crate::events::EventType;

/// Returns the words of a cell that are code.
fn code(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}

const PAGE: &str = include_str!("../../docs/other-agents.md");

/// Returns the rows of the page's table with this head, which names these agents, as cells.
fn rows(
    page: &'static str,
    agents: &[&Agent],
    (before, after): (&str, &str),
) -> Vec<Vec<&'static str>> {
    let titles: Vec<_> = agents.iter().map(|agent| agent.title).collect();
    let head = format!("| {before} | {} |{after}\n", titles.join(" | "));
    let (_, table) = page.split_once(&head).unwrap_or_else(|| {
        panic!("docs/agents.md and docs/other-agents.md have no table with the head {head}")
    });
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').skip(1).map(str::trim).collect())
        .collect()
}

#[test]
fn the_page_has_each_event_of_each_agent() {
    let rows = rows(PAGE, &AGENTS, ("event here", " a hook can |"));
    for (column, agent) in AGENTS.into_iter().enumerate() {
        let of_host = rows.iter().flat_map(|row| {
            let names = code(row[column + 1]).into_iter();
            let is_of_host = row[0].ends_with('¹');
            code(row[0])
                .into_iter()
                .zip(names)
                .map(move |(ours, name)| (name, ours, is_of_host))
        });
        let mut of_page: Vec<_> = of_host.collect();
        let events = agent.events.iter().filter_map(|event| {
            let is_of_host = matches!(event.fires, OfHost(_));
            Some((event.name, event.fired_by_hosts()?, is_of_host))
        });
        let mut events: Vec<_> = events.collect();
        of_page.sort_unstable();
        events.sort_unstable();
        assert_eq!(of_page, events, "{agent}");
    }
    assert!(!self::rows(PAGE, &AGENTS, ("field", "")).is_empty());
}

#[cfg(feature = "cli")]
#[test]
fn the_page_of_the_agents_has_the_events_that_are_not_registered() {
    let page = include_str!("../../docs/agents.md");
    let (_, table) = page.split_once("| not registered | why |\n").unwrap();
    let rows = table.lines().skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut of_page: Vec<_> = rows.flat_map(code).collect();
    let events = BRIDGED.into_iter().flat_map(|agent| agent.events);
    let events = events.filter(|event| event.ours().is_some() && !event.is_registered());
    let mut events: Vec<_> = events.map(|event| event.name).collect();
    of_page.sort_unstable();
    events.sort_unstable();
    assert_eq!(of_page, events);
}

#[cfg(feature = "cli")]
#[test]
fn the_page_of_the_agents_has_the_events_of_copilot_cli() {
    let page = include_str!("../../docs/agents.md");
    let (_, rest) = page
        .split_once("Those of Copilot CLI have the names of Claude Code's: ")
        .unwrap();
    let (sentence, _) = rest.split_once('.').unwrap();
    let events = COPILOT
        .events()
        .iter()
        .filter(|event| event.is_registered());
    let events: Vec<_> = events.map(|event| event.name).collect();
    assert_eq!(code(sentence), events);
}

/// Returns the tools of an agent in a cell, each with its arguments.
#[cfg(feature = "cli")]
fn tools(agent: &Agent, cell: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut tools: Vec<(_, Vec<_>)> = Vec::new();
    for word in code(cell) {
        match tools.last_mut() {
            Some((_, arguments)) if agent.tool(word).is_none() => arguments.push(word),
            _ => tools.push((word, Vec::new())),
        }
    }
    tools
}

#[cfg(feature = "cli")]
#[test]
fn the_page_of_the_agents_has_each_tool() {
    let (first, more) = BRIDGED.split_at(5);
    has_tools_of(first);
    // One column is for both.
    assert_eq!(format!("{:?}", KILO.tools), format!("{:?}", OPENCODE.tools));
    let more: Vec<_> = more
        .iter()
        .copied()
        .filter(|agent| *agent != KILO)
        .collect();
    has_tools_of(&more);
}

/// Checks the table of the tools of these agents.
#[cfg(feature = "cli")]
#[track_caller]
fn has_tools_of(agents: &[&Agent]) {
    let page = include_str!("../../docs/agents.md");
    let rows = rows(page, agents, ("tool here | arguments here", ""));
    let (mcp, rows) = rows.split_last().unwrap();
    assert_eq!(mcp[0], "`mcp__SERVER__TOOL`");
    for (column, agent) in agents.iter().enumerate() {
        let mut of_page = Vec::new();
        for row in rows {
            // A patch is described in words.
            let cell = row[column + 2]
                .split("a patch that ")
                .next()
                .unwrap_or_default();
            let tools = tools(agent, cell).into_iter();
            of_page.extend(tools.map(|(tool, arguments)| (code(row[0])[0], tool, arguments)));
        }
        let tools = agent.tools.iter().filter(|tool| tool.theirs != APPLY_PATCH);
        let arguments = |tool: &Tool| tool.arguments.iter().map(|(theirs, _)| *theirs).collect();
        let tools = tools.map(|tool| (tool.ours[0], tool.theirs, arguments(tool)));
        let mut tools: Vec<_> = tools.collect();
        of_page.sort_unstable();
        tools.sort_unstable();
        assert_eq!(of_page, tools, "{agent}");
    }
    rows.iter().for_each(|row| has_arguments(row, agents));
}

/// Checks that a row has the arguments of its tool under our names.
#[cfg(feature = "cli")]
#[track_caller]
fn has_arguments(row: &[&'static str], agents: &[&Agent]) {
    // These names are in no row of an agent, as they are the same everywhere.
    const SAME: [&str; 4] = ["command", "content", "old_string", "path"];
    let ours = code(row[0])[0];
    let tools = agents.iter().flat_map(|agent| agent.tools);
    let tools: Vec<_> = tools
        .filter(|tool| tool.ours[0] == ours && tool.theirs != APPLY_PATCH)
        .collect();
    let of_page = code(row[1]);
    let renamed = tools.iter().flat_map(|tool| tool.arguments);
    let renamed: Vec<_> = renamed.map(|(_, ours)| *ours).collect();
    assert!(renamed.iter().all(|ours| of_page.contains(ours)), "{row:?}");
    let needed: Vec<_> = tools.iter().flat_map(|tool| tool.needs).collect();
    let is_known =
        |name: &&str| renamed.contains(name) || needed.contains(&name) || SAME.contains(name);
    let unknown: Vec<_> = of_page.iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "{row:?}: {unknown:?}");
}

/// A row that leaves its effect out has none.
#[cfg(feature = "cli")]
#[test]
fn agents_can_block_what_hosts_can_and_the_end_of_a_turn() {
    for agent in BRIDGED {
        for event in agent.events() {
            let ours = event.ours().and_then(|ours| ours.parse::<EventType>().ok());
            let can_block = ours.is_some_and(|ours| ours.can_block()) || event.is_stop();
            let blocks = event.effect == Effect::Blocks;
            assert!(blocks || !can_block, "{agent} {}", event.name);
        }
    }
}

/// A row that was copied may still have one of these of another agent.
#[cfg(feature = "cli")]
#[test]
fn agents_under_which_hooks_run_share_no_name() {
    for (index, agent) in BRIDGED.into_iter().enumerate() {
        for other in &BRIDGED[..index] {
            assert_ne!(agent.name, other.name);
            assert_ne!(agent.title, other.title);
            assert_ne!(agent.files[0], other.files[0], "{agent}, {other}");
            let is_shared = agent.moved_by.0 == "XDG_CONFIG_HOME";
            assert!(
                is_shared || agent.moved_by != other.moved_by,
                "{agent}, {other}"
            );
            assert_ne!(agent.set_for_tools, other.set_for_tools, "{agent}, {other}");
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn the_pages_and_the_tests_have_each_agent_under_which_hooks_run() {
    let readme = include_str!("../../README.md");
    let page = include_str!("../../docs/agents.md");
    let inputs = include_str!("../../tests/it/golden/agents_inputs.txt");
    let tests = concat!(
        include_str!("../../tests/it/agents/mod.rs"),
        include_str!("../../tests/it/agents/newer.rs")
    );
    let program = include_str!("../../docs/program.md");
    let heads: Vec<_> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains("Claude Code | "))
        .collect();
    assert!(!heads.is_empty());
    for agent in BRIDGED {
        let (title, name) = (agent.title, agent.name);
        let has_no_column = |head: &&&str| !head.contains(&format!("| {title} |"));
        let has_row = page.contains(&format!("\n| {title} | "));
        let missing = heads.iter().find(has_no_column);
        assert!(has_row || missing.is_none(), "{title}: {missing:?}");
        let variable = agent.set_for_tools;
        let needed = [
            ("README.md", readme, title.to_owned()),
            ("docs/agents.md", page, agent.moved_by.0.to_owned()),
            ("docs/program.md", program, format!("`{name}`")),
            ("docs/program.md", program, variable.to_owned()),
            (
                "tests/it/golden/agents_inputs.txt",
                inputs,
                format!("\n@ {name} "),
            ),
            ("tests/it/agents/mod.rs", tests, format!("name: {name:?},")),
        ];
        let missing = needed.iter().filter(|(_, text, part)| !text.contains(part));
        let missing: Vec<_> = missing.map(|(file, _, part)| (file, part)).collect();
        assert!(missing.is_empty(), "the files do not have: {missing:?}");
    }
}

#[test]
fn the_pages_and_the_golden_inputs_have_each_agent() {
    let program = include_str!("../../docs/program.md");
    let inputs = include_str!("../../tests/it/golden/fire_inputs.txt");
    let option = format!("`{}`", AGENTS.map(Agent::name).join("` or `"));
    assert!(program.contains(&option), "{option}");
    let variables = PAGE.lines().find(|row| row.starts_with("| variables"));
    let variables: Vec<_> = variables.unwrap().split('|').skip(2).collect();
    for (agent, variables) in AGENTS.into_iter().zip(variables) {
        let (title, name) = (agent.title, agent.name);
        assert!(include_str!("../../README.md").contains(title), "{title}");
        assert!(inputs.contains(&format!("\n@ {name}: ")), "{name}");
        for (variable, _) in agent.variables {
            assert!(variables.contains(variable), "{title}: {variable}");
        }
    }
}
