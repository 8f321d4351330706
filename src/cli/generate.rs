//! `completions`: a script for a shell.

use clap_complete::Shell;

use crate::cli::{Context, Done, Exit, Terminal};

pub(crate) fn completions(
    shell: Shell,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let mut program = context.command_line.clone();
    // `mygame hooks` is a subcommand of `mygame`, which is the command that the shell completes.
    let mut names: Vec<&str> = context.program.split_whitespace().collect();
    while names.len() > 1 {
        let inner = names.pop().unwrap_or_default();
        let outer = names[names.len() - 1].to_owned();
        program = clap::Command::new(outer).subcommand(program.name(inner.to_owned()));
    }
    let name = names.pop().unwrap_or_default();
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

/// Registers a bash script for a name with a dash. The generator writes the state of such a program
/// in two ways, so that nothing is completed after a subcommand. So it gets a `plain` name without a
/// dash. Its script ends with two `complete ... NAME` lines, one for each kind of bash.
fn registered_for(name: &str, plain: &str, script: &[u8]) -> String {
    let script = String::from_utf8_lossy(script);
    script.replace(&format!(" {plain}\n"), &format!(" {name}\n"))
}
