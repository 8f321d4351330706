//! `init`: a hooks file to start from.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::cli::args::Init;
use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::files;
use crate::cli::terminal::{Style, Terminal};
use crate::files::lock;
use crate::{Hook, printable};

/// The schema file, next to the hooks file, so that an editor needs no network.
const SCHEMA: &str = "hooks.schema.json";

pub(crate) fn run(
    args: &Init,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let does = "`init` writes the project's file, or with `--global` the user's";
    context.needs_the_usual_files(does)?;
    let path = match args.global {
        true => context.hooks.config().global_path(),
        false => context
            .project_config()
            .project_path(context.root_unless_global()?),
    };
    let path = path.ok_or_else(|| {
        Failure::new("cannot find a home directory to write to").with_fix("set `XDG_CONFIG_HOME`")
    })?;
    write_new(&path, args, context)?;
    let shown = printable(&path.to_string_lossy());
    writeln!(terminal, "wrote {}", terminal.styled(Style::Strong, shown))?;
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
    let trust = if args.global { None } else { Some("trust") };
    for command in ["validate"].into_iter().chain(trust).chain([event]) {
        writeln!(terminal, "  {}", context.command(command))?;
    }
    Ok(Ended::Fine)
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
    let content = serde_json::to_string_pretty(&content(context)).map_err(io::Error::from);
    let text = content.map_err(cannot)? + "\n";
    files::replace(path, &text).map_err(cannot)?;
    match File::create_new(path.with_file_name(SCHEMA)) {
        Ok(mut schema) => writeln!(schema, "{:#}", context.hooks.json_schema()).map_err(cannot),
        // It is the user's own file, or that of another version.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(cannot(error)),
    }
}

/// A pattern for those of these tools that the host has; for any tool if it has none of them.
fn pattern(event: &str, tools: &[&str], context: &Context<'_>) -> String {
    let vocabulary = context.hooks.vocabulary();
    let mut tools = tools.to_vec();
    // A host that declares no tools may have any.
    tools.retain(|tool| vocabulary.tools().is_empty() || vocabulary.has_tool(tool));
    if tools.is_empty() {
        return event.to_owned();
    }
    format!("{event}:{}", tools.join("|"))
}

/// A hooks file, with its keys in the order in which people write them.
#[derive(Serialize)]
struct Starter {
    #[serde(rename = "$schema")]
    schema: String,
    comment: String,
    hooks: Vec<Hook>,
}

/// The first guard, which reads the event on its standard input.
const GUARD: &str = if cfg!(windows) {
    "findstr sudo >NUL && (echo sudo is not allowed& exit 1) || exit 0"
} else {
    "if grep -q sudo; then echo 'sudo is not allowed'; exit 1; fi"
};

/// Returns one example of each kind of hook. Only the harmless guard is enabled.
fn content(context: &Context<'_>) -> Starter {
    let examples = [
        json!({
            "event": pattern("tool:pre_execute", &["bash"], context),
            "command": GUARD,
            "name": "no_sudo",
            "description": "A guard: exit code 0 lets the tool run, any other exit code blocks it, and the output is the reason",
        }),
        json!({
            "event": pattern("tool:post_execute", &["write", "edit"], context),
            "args": ["git", "status", "--short"],
            "name": "after_a_tool",
            "description": "After a tool has run; `args` runs a program without a shell",
            "on_failure": "continue",
            "enabled": false,
        }),
        json!({
            "event": "session:*",
            "command": "echo \"$FORGE_EVENT $FORGE_SESSION_ID\" >> \"$HOME/sessions.log\"",
            "name": "session_log",
            "description": "Writes a log in the background; not into the project's hooks directory, which an approval covers",
            "background": true,
            "enabled": false,
        }),
    ];
    Starter {
        schema: format!("./{SCHEMA}"),
        comment: format!(
            "The hooks run in this order. Keys called `comment`, or that begin with `_`, are yours. `{} validate` shows what is wrong.",
            context.program
        ),
        hooks: examples.iter().flat_map(Hook::from_json).collect(),
    }
}
