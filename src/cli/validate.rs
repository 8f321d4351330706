//! `validate`: shows all problems of hooks files.

use std::io::Write;
use std::path::Path;

use crate::cli::args::Validate;
use crate::cli::context::Context;
use crate::cli::draw::{Texts, drawn};
use crate::cli::error::{Done, Ended, Failure};
use crate::cli::terminal::{Style, Terminal, counted};
use crate::config::{Severity, TrustPolicy};
use crate::{HookConfig, Hooks, LoadReport, printable};

pub(crate) fn run(args: &Validate, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    let mut texts = Texts::default();
    let report = if args.files.is_empty() {
        let hooks = context.load_under(TrustPolicy::Everything)?;
        let report = hooks.report();
        if report.files.is_empty() && report.problems.is_empty() {
            return Err(no_file(context, &hooks));
        }
        LoadReport::clone(&report)
    } else {
        check_all(args, context.hooks.config(), &mut texts, terminal)?
    };
    if args.json {
        terminal.json(&report)?;
    } else {
        show(&report, &mut texts, terminal)?;
    }
    let is_bad = !report.is_ok() || (args.strict && !report.problems.is_empty());
    Ok(Ended::fine_if(!is_bad))
}

/// The name of standard input in problems.
const STANDARD_INPUT: &str = "standard input";

fn check_all(
    args: &Validate,
    config: &HookConfig,
    texts: &mut Texts,
    terminal: &mut Terminal<'_>,
) -> Result<LoadReport, Failure> {
    let mut all = LoadReport::default();
    for file in &args.files {
        let report = if file == Path::new("-") {
            let text = terminal.read_text(file);
            let text = text
                .map_err(|error| Failure::new(format!("cannot read {STANDARD_INPUT}: {error}")))?;
            let report = config.check_text(STANDARD_INPUT, &text);
            texts.add(Path::new(STANDARD_INPUT), text);
            report
        } else {
            config.check(file)
        };
        all.files.extend(report.files);
        all.loaded += report.loaded;
        all.read_as.extend(report.read_as);
        all.problems.extend(report.problems);
    }
    Ok(all)
}

fn no_file(context: &Context<'_>, hooks: &Hooks) -> Failure {
    let names = context.not_found(hooks).join("` or `");
    let mut words = format!("found no hooks file, such as `{names}`");
    for hint in context.misplaced(hooks) {
        words += &format!("\n  {hint}");
    }
    let init = context.command("init");
    Failure::new(words).with_fix(format!("name one, or write one with `{init}`"))
}

fn show(
    report: &LoadReport,
    texts: &mut Texts,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    if !report.problems.is_empty() {
        let drawn = drawn(report, texts, terminal.colours);
        writeln!(terminal, "{drawn}")?;
    }
    for (path, tool) in &report.read_as {
        let path = printable(&path.to_string_lossy());
        writeln!(terminal, "note: {path} was read as settings of {tool}")?;
    }
    let (files, hooks) = (report.files.len(), report.loaded);
    let count = |severity| {
        let problems = report.problems.iter();
        problems.filter(|it| it.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let style = match (errors, warnings) {
        (0, 0) => Style::GOOD,
        (0, _) => Style::WARNING,
        _ => Style::BAD,
    };
    let counts = [
        counted(errors, "error"),
        counted(warnings, "warning"),
        format!("{} usable", counted(hooks, "hook")),
    ];
    let verdict = format!("{}: {}", counted(files, "file"), counts.join(", "));
    writeln!(terminal, "{}", terminal.styled(style, verdict))?;
    Ok(())
}
