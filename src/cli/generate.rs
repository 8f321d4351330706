//! Generated output: completions, the schema.

use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;

use crate::cli::context::Context;
use crate::cli::error::{Done, Ended};
use crate::cli::events::name_of;
use crate::cli::terminal::Terminal;

pub(crate) fn schema(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    terminal.json(&context.hooks.json_schema())?;
    Ok(Ended::FINE)
}

pub(crate) fn completions(
    shell: Shell,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let mut program = with_values(context);
    // `mygame hooks` is a subcommand of `mygame`, which is the command that the shell completes.
    let mut words: Vec<&str> = context.program.split_whitespace().collect();
    while words.len() > 1 {
        let inner = words.pop().unwrap_or_default();
        let outer = words[words.len() - 1].to_owned();
        program = clap::Command::new(outer).subcommand(program.name(inner.to_owned()));
    }
    let name = words.pop().unwrap_or_default();
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    if shell == Shell::Bash {
        let plain = name.replace('-', "_");
        clap_complete::generate(shell, &mut program, &plain, &mut script);
        script = registered_for(name, &plain, &script).into_bytes();
    } else {
        clap_complete::generate(shell, &mut program, name, &mut script);
    }
    terminal.write_all(&script)?;
    Ok(Ended::FINE)
}

/// Returns the command line with the values that can be completed. It is not for parsing, since other events
/// are valid too.
fn with_values(context: &Context<'_>) -> clap::Command {
    let vocabulary = context.hooks.vocabulary();
    let events = vocabulary.events().iter().map(name_of);
    let tools = vocabulary.tools().iter().map(String::as_str);
    let tools: Vec<_> = tools.filter(|tool| !tool.contains('*')).collect();
    let complete = |command: clap::Command, arg: &'static str, values: &[&str]| {
        let values = values
            .iter()
            .map(|value| PossibleValue::new((*value).to_owned()));
        let values = PossibleValuesParser::new(values.collect::<Vec<_>>());
        command.mut_arg(arg, |arg| arg.value_parser(values))
    };
    let events: Vec<_> = events.collect();
    let templates: Vec<_> = context.templates().into_keys().collect();
    let mut program = context.command_line.clone();
    for command in ["fire", "list"] {
        program = program.mut_subcommand(command, |command| {
            let command = complete(command, "event", &events);
            if tools.is_empty() {
                return command;
            }
            complete(command, "tool", &tools)
        });
    }
    program.mut_subcommand("templates", |command| complete(command, "name", &templates))
}

/// Registers a bash script for a name with a dash. The generator writes the state of such a program
/// in two ways, so that nothing is completed after a subcommand. So it gets a `plain` name without a
/// dash. Its script ends with two `complete ... NAME` lines, one for each kind of bash.
fn registered_for(name: &str, plain: &str, script: &[u8]) -> String {
    let script = String::from_utf8_lossy(script);
    script.replace(&format!(" {plain}\n"), &format!(" {name}\n"))
}
