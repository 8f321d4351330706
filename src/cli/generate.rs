//! Generated output: completions, the schema.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;

use crate::cli::events::name_of;
use crate::cli::{Context, Done, Exit, Terminal};

pub(crate) fn schema(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    terminal.json(&context.hooks.json_schema())?;
    Ok(Exit::FINE)
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
    Ok(Exit::FINE)
}

/// Returns the command line with the values that can be completed. It is not for parsing, since other events
/// are valid too.
fn with_values(context: &Context<'_>) -> clap::Command {
    let vocabulary = context.hooks.vocabulary();
    let mut tools: Vec<_> = vocabulary.tools().iter().map(String::as_str).collect();
    tools.retain(|tool| !tool.contains('*'));
    let events: Vec<_> = vocabulary.events().iter().map(name_of).collect();
    let templates: Vec<_> = context.templates().into_keys().collect();
    let mut program = context.command_line.clone();
    for (command, arg, values) in [
        ("fire", "event", &events),
        ("list", "event", &events),
        ("fire", "tool", &tools),
        ("list", "tool", &tools),
        ("templates", "name", &templates),
    ] {
        if values.is_empty() {
            continue;
        }
        let values = values
            .iter()
            .map(|value| PossibleValue::new((*value).to_owned()));
        let values = PossibleValuesParser::new(values);
        program = program.mut_subcommand(command, |command| {
            command.mut_arg(arg, |arg| arg.value_parser(values))
        });
    }
    program
}

/// Registers a bash script for a name with a dash. The generator writes the state of such a program
/// in two ways, so that nothing is completed after a subcommand. So it gets a `plain` name without a
/// dash. Its script ends with two `complete ... NAME` lines, one for each kind of bash.
fn registered_for(name: &str, plain: &str, script: &[u8]) -> String {
    let script = String::from_utf8_lossy(script);
    script.replace(&format!(" {plain}\n"), &format!(" {name}\n"))
}
