//! What is made of the command line and of the library's own knowledge: completions, the manual page,
//! the schema.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;
use forge_hooks::HookConfig;

use crate::Ended;
use crate::args::Cli;
use crate::error::Failure;
use crate::terminal::Terminal;

pub(crate) fn schema(terminal: &mut Terminal) -> Result<Ended, Failure> {
    terminal.json(&HookConfig::json_schema())?;
    Ok(Ended::Fine)
}

pub(crate) fn completions(shell: Shell, terminal: &mut Terminal) -> Result<Ended, Failure> {
    // It panics when it cannot write, so that it writes where it can.
    let mut script = Vec::new();
    if shell == Shell::Bash {
        clap_complete::generate(shell, &mut Cli::command(), NAME_FOR_BASH, &mut script);
        script = registered_for_the_program(&script).into_bytes();
    } else {
        clap_complete::generate(shell, &mut Cli::command(), "forge-hooks", &mut script);
    }
    terminal.write_all(&script)?;
    Ok(Ended::Fine)
}

/// The generator for bash writes the state of a program with a dash in its name in two ways, and then
/// completes nothing behind a subcommand. It is given a name without a dash.
const NAME_FOR_BASH: &str = "forge_hooks";

/// The script ends with two `complete ... NAME`, one for each kind of bash.
fn registered_for_the_program(script: &[u8]) -> String {
    let registers = format!(" {NAME_FOR_BASH}\n");
    String::from_utf8_lossy(script).replace(&registers, " forge-hooks\n")
}

/// One page for the program and all its commands.
pub(crate) fn man(terminal: &mut Terminal) -> Result<Ended, Failure> {
    let mut program = Cli::command();
    program.build();
    let page = clap_mangen::Man::new(program.clone()).title("FORGE-HOOKS");
    page.render(terminal)?;
    for command in program.get_subcommands() {
        if command.get_name() != "help" {
            section_of(command, terminal)?;
        }
    }
    Ok(Ended::Fine)
}

fn section_of(command: &clap::Command, terminal: &mut Terminal) -> io::Result<()> {
    let name = command.get_name().to_uppercase();
    writeln!(terminal, ".SH \"FORGE-HOOKS {name}\"")?;
    let page = clap_mangen::Man::new(command.clone());
    page.render_description_section(terminal)?;
    page.render_synopsis_section(terminal)?;
    page.render_options_section(terminal)?;
    page.render_extra_section(terminal)
}
