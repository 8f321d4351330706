//! Commands that only a person may run: they refuse to run below an agent, and ask first.

use std::io::{BufRead, BufReader, Read};

use crate::agents::BRIDGED;
use crate::cli::{CommandError, Terminal};

/// Refuses to run as a command of an agent, whose model would decide for the person.
pub(crate) fn refuse_below_an_agent() -> Result<(), CommandError> {
    let Some(variable) = variable_of_agent() else {
        return Ok(());
    };
    let message = format!(
        "an agent runs this command (`{variable}` is set), and only a person may decide this"
    );
    Err(CommandError::new(message).with_fix("run the same command in your own terminal"))
}

/// Returns the variable of the agent that runs this program as a command of a tool, if one does.
pub(crate) fn variable_of_agent() -> Option<&'static str> {
    let mut variables = BRIDGED.iter().map(|agent| agent.set_for_tools);
    variables.find(|name| std::env::var_os(name).is_some())
}

/// The most bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 1000;

/// Returns whether the user has confirmed the action, by an option or when asked.
pub(crate) fn is_confirmed(
    yes: bool,
    question: &str,
    terminal: &mut Terminal<'_>,
) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    if !terminal.is_input_a_terminal {
        let message = "cannot ask for confirmation: standard input is not a terminal";
        return Err(CommandError::new(message).with_fix("if you are sure, add `--yes`"));
    }
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    let mut input = BufReader::new((&mut terminal.input).take(LONGEST_ANSWER));
    let read = input.read_line(&mut answer);
    read.map_err(|error| CommandError::new(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
