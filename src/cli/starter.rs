//! `init`: writes a hooks file with one guard.

use std::io::{self, Write as _};
use std::path::Path;

use crate::cli::args::Init;
use crate::cli::files::{self, named};
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal};
use crate::files::{create_new, lock};
use crate::printable;

/// The schema file, next to the hooks file, so that an editor needs no network.
const SCHEMA: &str = "hooks.schema.json";

pub(crate) fn init(args: &Init, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let config = context.hooks.config();
    let root = context.root_unless(args.global)?;
    let path = config.path_to_edit(root.as_deref()).ok_or_else(|| {
        CommandError::new("cannot find a home directory to write to")
            .with_fix("set `XDG_CONFIG_HOME`")
    })?;
    if let Some(root) = &root
        && path.symlink_metadata().is_err()
    {
        config.check_file_to_edit(root)?;
    }
    write_new(&path, context)?;
    writeln!(terminal, "wrote {}", Style::STRONG.paint(named(&path)))?;
    writeln!(terminal, "editors use {SCHEMA} for completion")?;
    if context.is_standalone() {
        writeln!(terminal, "to guard an agent with it: {}", context.install())?;
        let hosts = printable(context.profile().name());
        let other = "for another host, use `--profile NAME`";
        writeln!(terminal, "programs called `{hosts}` read it; {other}")?;
    }
    writeln!(terminal, "edit it, and try it:")?;
    let event = r#"fire tool:pre_execute --tool bash --args '{"command":"sudo ls"}'"#;
    let trust = (!args.global).then_some("trust");
    for command in trust.into_iter().chain(["check", event]) {
        writeln!(terminal, "  {}", context.command(command))?;
    }
    Ok(Exit::FINE)
}

fn write_new(path: &Path, context: &Context<'_>) -> Result<(), CommandError> {
    let add = context.command("add");
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CommandError::new(format!("`{}` already exists", path.display()))
                .with_fix(format!("edit it, or add guards with `{add}`"))
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
    write_schema(path, context).map_err(cannot)
}

/// Writes the schema next to a hooks file. An existing one is the user's own file, or that of another version.
pub(crate) fn write_schema(hooks_file: &Path, context: &Context<'_>) -> io::Result<()> {
    match create_new(&hooks_file.with_file_name(SCHEMA)) {
        Ok(mut schema) => writeln!(schema, "{:#}", context.hooks.json_schema()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A hooks file with a guard that starts no process, so that it works on every system.
const STARTER: &str = include_str!("starter.json");
