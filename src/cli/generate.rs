//! What is made of the command line and of the library's own knowledge: completions, the manual page,
//! the schema.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::terminal::Terminal;

pub(crate) fn schema(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    terminal.json(&context.hooks.json_schema())?;
    Ok(Ended::Fine)
}

pub(crate) fn completions(
    shell: Shell,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let mut program = context.command_line.clone();
    // `mygame hooks` is a command of `mygame`, which the shell completes.
    let mut words: Vec<&str> = context.program.split_whitespace().collect();
    while words.len() > 1 {
        let inner = words.pop().unwrap_or_default();
        let outer = words[words.len() - 1].to_owned();
        program = clap::Command::new(outer).subcommand(program.name(inner.to_owned()));
    }
    let name = words.pop().unwrap_or_default();
    // It panics when it cannot write, so that it writes where it can.
    let mut script = Vec::new();
    if shell == Shell::Bash {
        let plain = name.replace('-', "_");
        clap_complete::generate(shell, &mut program, &plain, &mut script);
        script = registered_for(name, &plain, &script).into_bytes();
    } else {
        clap_complete::generate(shell, &mut program, name, &mut script);
    }
    terminal.write_all(&script)?;
    Ok(Ended::Fine)
}

/// The generator for bash writes the state of a program with a dash in its name in two ways, and then
/// completes nothing behind a subcommand. It is given a `plain` name without a dash, and its script
/// ends with two `complete ... NAME`, one for each kind of bash.
fn registered_for(name: &str, plain: &str, script: &[u8]) -> String {
    let script = String::from_utf8_lossy(script);
    script.replace(&format!(" {plain}\n"), &format!(" {name}\n"))
}

/// One page for the program and all its commands.
pub(crate) fn man(context: &Context<'_>, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    let mut program = context.command_line.clone();
    program.build();
    let title = context.program.to_uppercase().replace(' ', "-");
    let page = clap_mangen::Man::new(program.clone()).title(title.clone());
    page.render(terminal)?;
    for command in program.get_subcommands() {
        if command.get_name() != "help" {
            section_of(command, &title, terminal)?;
        }
    }
    Ok(Ended::Fine)
}

fn section_of(command: &clap::Command, title: &str, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let name = command.get_name().to_uppercase();
    writeln!(terminal, ".SH \"{title} {name}\"")?;
    let page = clap_mangen::Man::new(command.clone());
    page.render_description_section(terminal)?;
    page.render_synopsis_section(terminal)?;
    page.render_options_section(terminal)?;
    page.render_extra_section(terminal)
}
