//! `templates`: shows hook templates, or adds one to a file.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::args::Templates;
use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::terminal::{Style, Terminal};
use crate::config::{ConfigError, HooksFile};
use crate::{Hook, printable};

/// How long it is tried to add to a file that other programs keep changing.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

pub(crate) fn run(
    args: &Templates,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let Some(name) = &args.name else {
        for (name, hook) in context.templates() {
            let name = terminal.styled(Style::Strong, format!("{name:<22}"));
            let (event, words) = (hook.event_pattern(), hook.description());
            writeln!(terminal, "{name}{event:<26}{words}")?;
        }
        return Ok(Ended::Fine);
    };
    let hook = template(name, context)?;
    if args.add {
        return add(name, hook, args, context, terminal);
    }
    terminal.json(&hook.to_json())?;
    Ok(Ended::Fine)
}

fn template(name: &str, context: &Context<'_>) -> Result<Hook, Failure> {
    let mut templates = context.templates();
    templates.remove(name).ok_or_else(|| {
        let known: Vec<_> = templates.keys().copied().collect();
        Failure::new(format!("unknown template `{name}`"))
            .with_fix(format!("the templates are {}", known.join(", ")))
    })
}

fn add(
    name: &str,
    hook: Hook,
    args: &Templates,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let does = "`--add` adds to the project's file, or with `--global` to the user's";
    context.needs_the_usual_files(does)?;
    let deadline = Instant::now() + LONGEST_WAIT;
    let path = loop {
        let mut file = file_without(name, args.global, context)?;
        file.insert(usize::MAX, hook.clone());
        match file.save() {
            // Another program has saved it meanwhile.
            Err(ConfigError::Changed { .. }) if Instant::now() < deadline => {}
            saved => {
                saved?;
                break file.path().to_owned();
            }
        }
    };
    let path = printable(&path.to_string_lossy());
    writeln!(terminal, "added `{name}` to {path}")?;
    if !args.global {
        writeln!(
            terminal,
            "it runs only after you have approved it: `{}`",
            context.command("trust")
        )?;
    }
    Ok(Ended::Fine)
}

/// Opens the file. Refuses a file with errors, and one that has this template already.
fn file_without(name: &str, global: bool, context: &Context<'_>) -> Result<HooksFile, Failure> {
    let file = match global {
        true => context.hooks.config().global_file()?,
        false => context
            .project_config()
            .project_file(context.root_unless_global()?)?,
    };
    let mut hooks = Vec::new();
    for entry in file.entries() {
        let shown = printable(&file.path().to_string_lossy());
        hooks.push(entry.hook().map_err(|_| {
            let fix = format!("fix them; `{}` shows them", context.command("validate"));
            Failure::new(format!("cannot add to `{shown}`: the file has errors")).with_fix(fix)
        })?);
    }
    if hooks.iter().any(|there| there.name() == Some(name)) {
        let words = format!("a hook called `{name}` already exists");
        return Err(Failure::new(words).with_fix(format!("see `{}`", context.command("list"))));
    }
    Ok(file)
}
