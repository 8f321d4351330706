//! Hooks to start from: `init` writes a hooks file, `templates` shows hooks, or adds one to a file.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::args::{Init, Templates};
use crate::cli::files::{self, named};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal};
use crate::compat::{Agent, BRIDGED};
use crate::config::{ConfigError, HooksFile};
use crate::files::{create_new, lock};
use crate::{Hook, printable};

/// The schema file, next to the hooks file, so that an editor needs no network.
const SCHEMA: &str = "hooks.schema.json";

pub(crate) fn init(args: &Init, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let config = context.hooks.config();
    let root = context.root_unless(args.global)?;
    let path = config.path_to_edit(root.as_deref()).ok_or_else(|| {
        CommandError::new("cannot find a home directory to write to")
            .with_fix("set `XDG_CONFIG_HOME`")
    })?;
    if root.is_some() && path.symlink_metadata().is_err() {
        // `file_to_edit` refuses a link that leads out of the project.
        config.file_to_edit(root.as_deref())?;
    }
    write_new(&path, args, context)?;
    writeln!(terminal, "wrote {}", Style::STRONG.paint(named(&path)))?;
    writeln!(terminal, "editors use {SCHEMA} for completion")?;
    if context.is_standalone() {
        let [agent, others @ ..] = BRIDGED.map(Agent::name);
        let install = context.command(&format!("install {agent}"));
        let others = others.join(", ");
        writeln!(
            terminal,
            "agents read it after `{install}`; others are {others}"
        )?;
        let hosts = printable(context.profile().name());
        let other = "for another host, use `--profile NAME`";
        writeln!(terminal, "hosts called `{hosts}` read it; {other}")?;
    }
    writeln!(terminal, "edit it, and try it:")?;
    let event = r#"fire tool:pre_execute --tool bash --args '{"command":"sudo ls"}'"#;
    let trust = (!args.global).then_some("trust");
    for command in ["check"].into_iter().chain(trust).chain([event]) {
        writeln!(terminal, "  {}", context.command(command))?;
    }
    Ok(Exit::FINE)
}

fn write_new(path: &Path, args: &Init, context: &Context<'_>) -> Result<(), CommandError> {
    let global = if args.global { " --global" } else { "" };
    let add = context.command(&format!("templates NAME --add{global}"));
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CommandError::new(format!("`{}` already exists", path.display()))
                .with_fix(format!("edit it, or add a template with `{add}`"))
        }
        _ => CommandError::new(format!("cannot write `{}`: {error}", path.display())),
    };
    // The lock and the replacement in one step keep another program from creating the file meanwhile, and from seeing half of it.
    let _lock = lock(path).map_err(cannot)?;
    if path.symlink_metadata().is_ok() {
        return Err(cannot(io::ErrorKind::AlreadyExists.into()));
    }
    let text = STARTER.replace("{program}", context.program);
    files::replace(path, &text).map_err(cannot)?;
    match create_new(&path.with_file_name(SCHEMA)) {
        Ok(mut schema) => writeln!(schema, "{:#}", context.hooks.json_schema()).map_err(cannot),
        // An existing schema is the user's own file, or that of another version.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(cannot(error)),
    }
}

/// A hooks file with a guard that starts no process, so that it works on every system.
const STARTER: &str = include_str!("starter.json");

/// The time for which `templates --add` tries again while other programs keep changing the file.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

pub(crate) fn templates(
    args: &Templates,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let mut templates = context.templates();
    let Some(name) = &args.name else {
        for (name, hook) in templates {
            let name = Style::STRONG.paint(format_args!("{name:<22}"));
            let (event, description) = (hook.event_pattern(), hook.description());
            writeln!(terminal, "{name}{event:<28}{description}")?;
        }
        return Ok(Exit::FINE);
    };
    let hook = templates.remove(&**name).ok_or_else(|| {
        let names = Vec::from_iter(templates.into_keys()).join(", ");
        CommandError::new(format!("unknown template `{name}`"))
            .with_fix(format!("the templates are {names}"))
    })?;
    if args.add {
        add(name, &hook, args.global, context, terminal)?
    } else {
        terminal.json(&hook.to_json())?
    }
    Ok(Exit::FINE)
}

fn add(
    name: &str,
    hook: &Hook,
    global: bool,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<(), CommandError> {
    let deadline = Instant::now() + LONGEST_WAIT;
    let path = loop {
        let mut file = file_without(name, global, context)?;
        file.insert(usize::MAX, hook.clone());
        match file.save() {
            // Another program has saved the file meanwhile.
            Err(ConfigError::Changed { .. }) if Instant::now() < deadline => {}
            saved => break saved.map(|()| named(file.path()))?,
        }
    };
    writeln!(terminal, "added `{name}` to {path}")?;
    if !global {
        let trust = context.command("trust");
        let only = "it runs only after you have approved it";
        writeln!(terminal, "{only}: `{trust}`")?;
    }
    Ok(())
}

/// Opens the file. Refuses a file with errors, and one that has this template already.
fn file_without(
    name: &str,
    global: bool,
    context: &Context<'_>,
) -> Result<HooksFile, CommandError> {
    let root = context.root_unless(global)?;
    let file = context.hooks.config().file_to_edit(root.as_deref())?;
    for entry in file.entries() {
        let hook = entry.hook().map_err(|_| {
            let display = named(file.path());
            CommandError::new(format!("cannot add to `{display}`: the file has errors"))
                .with_fix(context.fix_errors())
        })?;
        if hook.name() == Some(name) {
            let message = format!("a hook called `{name}` already exists");
            return Err(
                CommandError::new(message).with_fix(format!("see `{}`", context.command("list")))
            );
        }
    }
    Ok(file)
}
