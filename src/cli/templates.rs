//! `templates`: shows hook templates, or adds one to a file.

use std::io::Write;

use crate::cli::args::Templates;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::terminal::{Style, Terminal};
use crate::{Hook, printable};

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
    let (path, mut hooks) = if args.global {
        let config = context.hooks.config();
        (config.global_path(), config.load_global())
    } else {
        let config = context.project_config();
        let root = context.root_unless_global()?;
        (config.project_path(&root), config.load_project(&root))
    };
    if let Some(path) = path.as_deref().filter(|path| path.exists())
        && !context.hooks.config().check(path).is_ok()
    {
        let shown = printable(&path.to_string_lossy());
        let words = format!("cannot add to `{shown}`: the file has errors");
        return Err(Failure::new(words).with_fix(format!(
            "fix them; `{}` shows them",
            context.command("validate")
        )));
    }
    if hooks.iter().any(|there| there.name() == Some(name)) {
        let words = format!("a hook called `{name}` already exists");
        return Err(Failure::new(words).with_fix(format!("see `{}`", context.command("list"))));
    }
    hooks.push(hook);
    if args.global {
        context.hooks.config().save_global(&hooks)?;
    } else {
        context
            .project_config()
            .save_project(context.needed_root()?, &hooks)?;
    }
    let path = printable(&path.unwrap_or_default().to_string_lossy());
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
