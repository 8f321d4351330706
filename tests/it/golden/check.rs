//! Each message of `check`: the inputs are in `check_inputs.txt`, and what is said of each in `check.txt`.
//! `FORGE_HOOKS_BLESS=1` writes the results again.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{AGENTS, Agent, CLAUDE, OtherAgents};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, EventSpec, Hooks, HooksBuilder};
use serde_json::{Value, json};

use crate::cases::{at_once, cases};

/// The most problems of one input that are kept.
const MOST_PROBLEMS: usize = 8;

/// A directory for one input, with a home, a configuration and a project.
struct Place(PathBuf);

impl Place {
    fn new(all: &Path, name: &str) -> Self {
        let place = Self(all.join(name));
        fs::create_dir_all(place.path("project")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        // The umask must make no difference.
        mode(&path, 0o644);
    }

    fn host(&self) -> HooksBuilder {
        self.host_of(AppProfile::default())
            .approve_command("forge-hooks trust")
    }

    fn host_of(&self, profile: AppProfile) -> HooksBuilder {
        Hooks::builder(profile)
            .config_home(self.path("config"))
            .other_agents(self.tools([]))
            .project(self.path("project"))
    }

    fn tools<const N: usize>(&self, tools: [&'static Agent; N]) -> OtherAgents {
        OtherAgents::new(tools).with_home(self.path("home"))
    }

    /// `check --json` with these arguments, of which those that are no option are files.
    fn run(&self, host: HooksBuilder, args: &[&str], input: &[u8]) -> String {
        let hooks = host.trust(TrustPolicy::Everything).load();
        let args = args.iter().map(|arg| {
            if arg.starts_with('-') {
                PathBuf::from(arg)
            } else {
                self.path(arg)
            }
        });
        let args: Vec<_> = ["check".into(), "--json".into()]
            .into_iter()
            .chain(args)
            .collect();
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let mut io = Io::new("forge-hooks", input, &mut out, &mut errors);
        let status = cli::run(&hooks, args, &mut io);
        drop(io);
        self.shown(&status.to_string(), &serde_json::from_slice(&out).unwrap())
    }

    /// Returns the report of a host that runs only approved hooks.
    fn load_approved(&self, host: HooksBuilder) -> String {
        let report = host.load().report();
        let status = if report.is_ok() { "0" } else { "1" };
        self.shown(status, &json!(*report))
    }

    fn approve(&self) {
        let hooks = self.host().load();
        let loaded = hooks.config().load_project(self.path("project"));
        let approval = Approval::of(self.path("project"), loaded).unwrap();
        hooks
            .config()
            .trust_store()
            .unwrap()
            .approve(&approval)
            .unwrap();
    }

    /// Does what a row says, with this text.
    fn prepare(&self, step: &str, text: &[u8]) {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (name, argument) = rest.split_once(" | ").unwrap_or((rest, ""));
        let path = self.path(name);
        match word {
            "write" => self.write(name, text),
            "mode" => mode(&path, u32::from_str_radix(argument, 8).unwrap()),
            "link" => symlink(argument, path).unwrap(),
            "socket" => drop(UnixListener::bind(path).unwrap()),
            "directory" => fs::create_dir_all(path).unwrap(),
            "remove" => fs::remove_file(path).unwrap(),
            "approve" => self.approve(),
            _ => panic!("{step}"),
        }
    }

    /// Returns the output of the last step of a row, or the problems that it reports.
    fn result(&self, step: &str, text: &[u8]) -> String {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let host = self.host();
        let files: Vec<_> = rest.split(", ").collect();
        let none = self.tools([]);
        let load = |tools| self.run(self.host().other_agents(tools), &[], b"");
        match word {
            "check" => self.run(host, &files, b""),
            "read" => self.run(host, &["-"], text),
            "all-tools" => load(self.tools(AGENTS)),
            "plugin" => load(none.with_plugin(self.path(rest))),
            "settings" => load(none.with_settings(CLAUDE, self.path(rest))),
            "strict-guards" => load(self.tools([CLAUDE]).with_strict_guards()),
            "approved" => self.load_approved(host),
            "approved-claude" => self.load_approved(host.other_agents(self.tools([CLAUDE]))),
            "approved-mygame" => self.load_approved(self.host_of(AppProfile::new("mygame"))),
            "approved-nowhere" => {
                let profile = AppProfile::default().with_global_files([""; 0]);
                self.load_approved(Hooks::builder(profile).project(self.path("project")))
            }
            _ => panic!("{step}"),
        }
    }

    /// One line for the status, and one for each problem.
    fn shown(&self, status: &str, report: &Value) -> String {
        let Some(problems) = report["problems"].as_array() else {
            let error = &report["error"];
            let line = format!(
                "exit {status}\n  {} | {}\n",
                text(error, "message"),
                text(error, "fix")
            );
            return self.normal(&line);
        };
        let mut lines = format!("exit {status}, {} hooks\n", report["loaded"]);
        for problem in problems.iter().take(MOST_PROBLEMS) {
            lines += &format!("  {}\n", line_of(problem));
        }
        if problems.len() > MOST_PROBLEMS {
            let last = line_of(&problems[problems.len() - 1]);
            lines += &format!("  ... {} problems\n  {last}\n", problems.len());
        }
        self.normal(&lines)
    }

    fn normal(&self, text: &str) -> String {
        let directory = self.0.to_str().unwrap();
        let text = text.replace(&format!("{directory}/"), "");
        // The number of an error differs between systems.
        let mut parts = text.split(" (os error ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |whole, part| whole + part.split_once(')').unwrap().1)
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn line_of(problem: &Value) -> String {
    let mut line = format!("{} {}", text(problem, "severity"), text(problem, "file"));
    if problem["line"].is_number() {
        let [start, column, end, end_column] =
            ["line", "column", "end_line", "end_column"].map(|key| &problem[key]);
        line += &format!(":{start}:{column}-{end}:{end_column}");
    }
    for (before, key) in [
        (" ", "key"),
        (": ", "message"),
        (" | meant: ", "suggestion"),
        (" | help: ", "help"),
    ] {
        if let Some(text) = problem[key].as_str() {
            line += &format!("{before}{text}");
        }
    }
    // Some inputs are very long.
    line.chars().take(500).collect()
}

/// A row of the inputs, with the header of its section.
struct Row<'a> {
    how: &'a str,
    file: &'a str,
    name: &'a str,
    text: String,
}

fn rows() -> Vec<Row<'static>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for section in cases(include_str!("check_inputs.txt")) {
        let (how, rest) = section.name.split_once(' ').unwrap();
        let (file, template) = rest.split_once(' ').unwrap();
        for line in section
            .text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("# "))
        {
            let (name, text) = line.split_once(' ').unwrap_or((line, ""));
            assert!(
                rows.iter().all(|row| row.name != name),
                "{name} occurs twice"
            );
            let text = template.replacen('%', text, 1);
            rows.push(Row {
                how,
                file,
                name,
                text,
            });
        }
    }
    rows
}

/// Replaces the signs of the inputs by what they stand for.
fn written_out(text: &str) -> String {
    let mut whole = text.to_owned();
    // The innermost first.
    while let Some((before, rest)) = whole.split_once('»') {
        let (before, repeated) = before.rsplit_once('«').unwrap();
        let (repeated, count) = repeated.rsplit_once('*').unwrap();
        whole = format!("{before}{}{rest}", repeated.repeat(count.parse().unwrap()));
    }
    let signs = [
        ('⏎', "\n"),
        ('␍', "\r"),
        ('⇥', "\t"),
        ('␛', "\u{1b}"),
        ('␣', "\u{a0}"),
        ('⌂', "\u{feff}"),
        ('␀', "\0"),
    ];
    signs.iter().fold(whole, |text, (sign, replacement)| {
        text.replace(*sign, replacement)
    })
}

fn result_of(row: &Row<'_>, all: &Path) -> String {
    let place = Place::new(all, row.name);
    let text = written_out(&row.text);
    if let "steps" | "bytes" = row.how {
        let mut result = String::new();
        let mut steps = text.split("; ").peekable();
        while let Some(step) = steps.next() {
            let text = step.split_once(" | ").map_or("", |(_, text)| text);
            let text = match row.how {
                "bytes" => text.chars().map(|c| u8::try_from(c).unwrap()).collect(),
                _ => text.as_bytes().to_vec(),
            };
            match steps.peek() {
                Some(_) => place.prepare(step, &text),
                None => result = place.result(step, &text),
            }
        }
        return result;
    }
    place.write(row.file, text);
    match row.how {
        "check" => place.result(&format!("check {}", row.file), b""),
        "load" => place.result("all-tools", b""),
        "host" => {
            let event = EventSpec::named("level:loaded");
            let host = place.host().event(event).tools(["bash", "write", "read"]);
            place.run(host, &[row.file], b"")
        }
        other => panic!("{other}"),
    }
}

#[test]
fn every_message_is_as_reviewed() {
    let directory = tempfile::tempdir().unwrap();
    let all = directory.path().canonicalize().unwrap();
    let results = at_once(
        &rows(),
        || {},
        |(), row| {
            let result = result_of(row, &all);
            format!("{}: {result}", row.name)
        },
    );
    super::same_as_corpus("check.txt", &results.concat());
}
