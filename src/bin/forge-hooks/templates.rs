//! `templates`: ready-made hooks, shown or added to a file.

use std::io::Write;

use forge_hooks::{HOOK_TEMPLATES, Hook, HookConfig, printable};

use crate::Ended;
use crate::args::{Common, Templates};
use crate::error::Failure;
use crate::sources::{needs_the_usual_files, project_config, root_of};
use crate::terminal::{Style, Terminal};

pub(crate) fn run(
    args: &Templates,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<Ended, Failure> {
    let Some(name) = &args.name else {
        for (name, hook) in HOOK_TEMPLATES.iter() {
            let name = terminal.styled(Style::Strong, format!("{name:<22}"));
            let (event, words) = (hook.event_pattern(), hook.description());
            writeln!(terminal, "{name}{event:<26}{words}")?;
        }
        return Ok(Ended::Fine);
    };
    let hook = template(name)?;
    if args.add {
        return add(name, hook, args, common, terminal);
    }
    terminal.json(&hook.to_json())?;
    Ok(Ended::Fine)
}

fn template(name: &str) -> Result<&'static Hook, Failure> {
    HOOK_TEMPLATES.get(name).ok_or_else(|| {
        let known: Vec<_> = HOOK_TEMPLATES.keys().copied().collect();
        Failure::new(format!("there is no template `{name}`"))
            .with_fix(format!("the templates are {}", known.join(", ")))
    })
}

fn add(
    name: &str,
    hook: &Hook,
    args: &Templates,
    common: &Common,
    terminal: &mut Terminal,
) -> Result<Ended, Failure> {
    let does = "`--add` adds to the project's file, or with `--global` to the user's";
    needs_the_usual_files(common, does)?;
    let root = root_of(common)?;
    let (path, mut hooks) = if args.global {
        let config = HookConfig::default();
        (config.global_path(), config.load_global())
    } else {
        let config = project_config();
        (config.project_path(&root), config.load_project(&root))
    };
    if let Some(path) = path.as_deref().filter(|path| path.exists())
        && !HookConfig::default().check(path).is_ok()
    {
        let shown = printable(&path.to_string_lossy());
        let words = format!("nothing is added to `{shown}` while there are errors in it");
        return Err(Failure::new(words).with_fix("correct them; `forge-hooks validate` shows them"));
    }
    if hooks.iter().any(|there| there.name() == Some(name)) {
        let words = format!("a hook called `{name}` is there already");
        return Err(Failure::new(words).with_fix("see `forge-hooks list`"));
    }
    hooks.push(hook.clone());
    if args.global {
        HookConfig::default().save_global(&hooks)?;
    } else {
        project_config().save_project(&root, &hooks)?;
    }
    let path = printable(&path.unwrap_or_default().to_string_lossy());
    writeln!(terminal, "added `{name}` to {path}")?;
    if !args.global {
        writeln!(
            terminal,
            "it runs once you have approved it: forge-hooks trust"
        )?;
    }
    Ok(Ended::Fine)
}
