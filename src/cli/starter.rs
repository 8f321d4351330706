//! Hooks to start from: `init` writes a hooks file, `templates` shows hooks, or adds one to a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::args::{Init, Templates};
use crate::cli::context::Context;
use crate::cli::error::{Done, Ended, Failure};
use crate::cli::files;
use crate::cli::terminal::{Style, Terminal};
use crate::config::{ConfigError, HooksFile};
use crate::files::lock;
use crate::{Hook, printable};

/// The schema file, next to the hooks file, so that an editor needs no network.
const SCHEMA: &str = "hooks.schema.json";

pub(crate) fn init(args: &Init, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let does = "`init` writes the project's file, or with `--global` the user's";
    context.needs_the_usual_files(does)?;
    let config = context.hooks.config();
    let path = match args.global {
        true => config.global_path(),
        false => config.project_path(context.root_unless_global()?),
    };
    let path = path.ok_or_else(|| {
        Failure::new("cannot find a home directory to write to").with_fix("set `XDG_CONFIG_HOME`")
    })?;
    write_new(&path, args, context)?;
    let shown = printable(&path.to_string_lossy());
    writeln!(terminal, "wrote {}", terminal.styled(Style::STRONG, shown))?;
    writeln!(terminal, "editors use {SCHEMA} for completion")?;
    if context.is_standalone() {
        let name = printable(context.profile().name());
        writeln!(
            terminal,
            "hosts called `{name}` read it; for another host, use `--profile NAME`"
        )?;
    }
    writeln!(terminal, "edit it, and try it:")?;
    let event = r#"fire tool:pre_execute --tool bash --args '{"command":"sudo ls"}'"#;
    for command in ["validate", "trust", event] {
        if command != "trust" || !args.global {
            writeln!(terminal, "  {}", context.command(command))?;
        }
    }
    Ok(Ended::FINE)
}

fn write_new(path: &Path, args: &Init, context: &Context<'_>) -> Result<(), Failure> {
    let global = if args.global { " --global" } else { "" };
    let add = context.command(&format!("templates NAME --add{global}"));
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::new(format!("`{}` already exists", path.display()))
                .with_fix(format!("edit it, or add a template with `{add}`"))
        }
        _ => Failure::new(format!("cannot write `{}`: {error}", path.display())),
    };
    // No other program creates the file meanwhile, or sees half of it.
    let _lock = lock(path).map_err(cannot)?;
    if path.symlink_metadata().is_ok() {
        return Err(cannot(io::ErrorKind::AlreadyExists.into()));
    }
    files::replace(path, &content(context)).map_err(cannot)?;
    match File::create_new(path.with_file_name(SCHEMA)) {
        Ok(mut schema) => writeln!(schema, "{:#}", context.hooks.json_schema()).map_err(cannot),
        // It is the user's own file, or that of another version.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(cannot(error)),
    }
}

/// One example of each kind of hook. Only the harmless guard is enabled.
const STARTER: &str = include_str!("starter.json");

/// The first guard, which reads the event on its standard input.
const GUARD: &str = if cfg!(windows) {
    "findstr sudo >NUL && (echo sudo is not allowed& exit 1) || exit 0"
} else {
    "if grep -q sudo; then echo 'sudo is not allowed'; exit 1; fi"
};

fn content(context: &Context<'_>) -> String {
    STARTER
        .replace("{program}", context.program)
        .replace("{guard}", GUARD)
        .replace("{before}", &pattern("tool:pre_execute", &["bash"], context))
        .replace(
            "{after}",
            &pattern("tool:post_execute", &["write", "edit"], context),
        )
}

/// A pattern for those of these tools that the host has; for any tool if it has none of them.
fn pattern(event: &str, tools: &[&str], context: &Context<'_>) -> String {
    let vocabulary = context.hooks.vocabulary();
    let mut tools = tools.to_vec();
    // A host that declares no tools may have any.
    tools.retain(|tool| vocabulary.tools().is_empty() || vocabulary.has_tool(tool));
    match tools.is_empty() {
        true => event.to_owned(),
        false => format!("{event}:{}", tools.join("|")),
    }
}

/// How long it is tried to add to a file that other programs keep changing.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

pub(crate) fn templates(
    args: &Templates,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    let Some(name) = &args.name else {
        for (name, hook) in context.templates() {
            let name = terminal.styled(Style::STRONG, format!("{name:<22}"));
            let (event, words) = (hook.event_pattern(), hook.description());
            writeln!(terminal, "{name}{event:<26}{words}")?;
        }
        return Ok(Ended::FINE);
    };
    let hook = template(name, context)?;
    if args.add {
        return add(name, hook, args, context, terminal);
    }
    terminal.json(&hook.to_json())?;
    Ok(Ended::FINE)
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
) -> Done {
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
        let trust = context.command("trust");
        writeln!(
            terminal,
            "it runs only after you have approved it: `{trust}`"
        )?;
    }
    Ok(Ended::FINE)
}

/// Opens the file. Refuses a file with errors, and one that has this template already.
fn file_without(name: &str, global: bool, context: &Context<'_>) -> Result<HooksFile, Failure> {
    let config = context.hooks.config();
    let file = match global {
        true => config.global_file()?,
        false => config.project_file(context.root_unless_global()?)?,
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
