//! Each message of `validate`: the inputs are in `validate_inputs.txt`, and what is said of each in `validate.txt`.
//! `FORGE_HOOKS_BLESS=1` writes the results again.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use forge_hooks::cli::{self, Io};
use forge_hooks::compat::{CLAUDE, OtherTools, TOOLS, Tool};
use forge_hooks::config::TrustPolicy;
use forge_hooks::trust::Approval;
use forge_hooks::{AppProfile, EventSpec, HookConfig, HookRegistry, Hooks, HooksBuilder};
use serde_json::Value;

const INPUTS: &str = include_str!("validate_inputs.txt");

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

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        // Whatever the umask is.
        mode(&path, 0o644);
        path
    }

    fn host(&self) -> HooksBuilder {
        Hooks::builder(AppProfile::default())
            .config_home(self.path("config"))
            .other_tools(self.tools([]))
            .project(self.path("project"))
            .approve_command("forge-hooks trust")
    }

    fn tools<const N: usize>(&self, tools: [&'static Tool; N]) -> OtherTools {
        OtherTools::new(tools).with_home(self.path("home"))
    }

    /// The hooks files of a project and its plugins, loaded by a host that knows the other tools.
    fn load(&self) -> String {
        self.run(self.host().other_tools(self.tools(TOOLS)), &[])
    }

    fn load_plugin(&self, name: &str) -> String {
        let tools = self.tools([]).with_plugin(self.path(name));
        self.run(self.host().other_tools(tools), &[])
    }

    fn check(&self, name: &str) -> String {
        let path = self.path(name);
        self.run(self.host(), &[path.to_str().unwrap()])
    }

    /// `validate --json` with these files.
    fn run(&self, host: HooksBuilder, files: &[&str]) -> String {
        self.run_with_input(host, files, b"")
    }

    fn run_with_input(&self, host: HooksBuilder, files: &[&str], input: &[u8]) -> String {
        let hooks = host.trust(TrustPolicy::Everything).load();
        let args = [&["validate", "--json"], files].concat();
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        let mut io = Io::new("forge-hooks", input, &mut out, &mut errors);
        let status = cli::run(&hooks, args, &mut io);
        drop(io);
        let status = format!("{status:?}");
        let status = status.trim_matches(|c: char| !c.is_ascii_digit());
        self.shown(status, &serde_json::from_slice(&out).unwrap())
    }

    /// What a host reports that runs only approved hooks.
    fn load_approved(&self, change: impl FnOnce(HooksBuilder) -> HooksBuilder) -> String {
        let store = self.config().trust_store().unwrap();
        let host = change(self.host()).trust(TrustPolicy::Approved(store));
        let report = host.load().report();
        let status = if report.is_ok() { "0" } else { "1" };
        self.shown(status, &report.to_json())
    }

    fn config(&self) -> HookConfig {
        HookConfig::default().with_config_home(self.path("config"))
    }

    fn project_file(&self, text: &str) {
        self.write("project/.src/forge/hooks.json", text);
    }

    fn approve(&self) {
        let root = self.path("project");
        let hooks = self.config().load_project(&root);
        let store = self.config().trust_store().unwrap();
        store.approve(&Approval::of(&root, hooks).unwrap()).unwrap();
        mode(store.path(), 0o600);
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
    let mut section = ("", "", "");
    for line in INPUTS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
    {
        if let Some(header) = line.strip_prefix("== ") {
            let (how, rest) = header.split_once(' ').unwrap();
            let (file, template) = rest.split_once(' ').unwrap();
            section = (how, file, template);
            continue;
        }
        let (name, text) = line.split_once(' ').unwrap_or((line, ""));
        let (how, file, template) = section;
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
    ];
    signs
        .iter()
        .fold(whole, |text, (sign, meant)| text.replace(*sign, meant))
}

fn result_of(row: &Row<'_>, all: &Path) -> String {
    let place = Place::new(all, row.name);
    let path = place.write(row.file, written_out(&row.text));
    let path = path.to_str().unwrap();
    match row.how {
        "check" => place.run(place.host(), &[path]),
        "load" => place.load(),
        "host" => {
            let event = EventSpec::custom("level:loaded").unwrap();
            let host = place.host().event(event).tools(["bash", "write", "read"]);
            place.run(host, &[path])
        }
        other => panic!("{other}"),
    }
}

const HOOK: &str = r#"{"event": "*", "command": "x"}"#;

fn with_hooks(hooks: &str) -> String {
    format!(r#"{{"hooks": [{hooks}]}}"#)
}

fn handlers(event: &str, handlers: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{handlers}]}}]}}}}"#)
}

type Scenario = (&'static str, fn(&Place) -> String);

/// Inputs that are more than the text of one file.
const SCENARIOS: &[Scenario] = &[
    ("no-file", |place| place.load()),
    ("no-such-file", |place| place.check("hooks.json")),
    ("several-files", |place| {
        let [one, two] = ["one.json", "two.json"].map(|name| place.write(name, with_hooks("5")));
        place.run(
            place.host(),
            &[one.to_str().unwrap(), two.to_str().unwrap()],
        )
    }),
    ("strict", |place| {
        let file = place.write(
            "hooks.json",
            with_hooks(r#"{"event": "tool", "command": "x"}"#),
        );
        place.run(place.host(), &["--strict", file.to_str().unwrap()])
    }),
    ("standard-input", |place| {
        place.run_with_input(place.host(), &["-"], with_hooks("5").as_bytes())
    }),
    ("standard-input-of-claude", |place| {
        place.run_with_input(place.host(), &["-"], br#"{"hooks": {"PreToolUse": [5]}}"#)
    }),
    ("standard-input-not-utf8", |place| {
        place.run_with_input(place.host(), &["-"], b"\xff")
    }),
    ("project-and-user", |place| {
        place.write("config/src/forge/hooks.json", with_hooks("1"));
        place.project_file(&with_hooks("2"));
        place.write("home/.claude/settings.json", handlers("Stop", "3"));
        place.write("project/.gemini/settings.json", handlers("AfterAgent", "4"));
        place.load()
    }),
    ("dangling-link", |place| {
        symlink("nowhere", place.path("hooks.json")).unwrap();
        place.check("hooks.json")
    }),
    ("link-to-itself", |place| {
        symlink("hooks.json", place.path("hooks.json")).unwrap();
        place.check("hooks.json")
    }),
    ("below-a-file", |place| {
        place.write("file", "");
        place.check("file/hooks.json")
    }),
    ("directory", |place| place.check("project")),
    ("special-file", |place| {
        let _socket = UnixListener::bind(place.path("s")).unwrap();
        place.check("s")
    }),
    ("too-large", |place| {
        let file = File::create(place.path("hooks.json")).unwrap();
        file.set_len((1 << 20) + 1).unwrap();
        mode(&place.path("hooks.json"), 0o644);
        place.check("hooks.json")
    }),
    ("not-utf8", |place| {
        place.write("hooks.json", b"{\n  \"hooks\": [\"\xff\"]}");
        place.check("hooks.json")
    }),
    ("utf16", |place| {
        place.write("hooks.json", b"\xff\xfe{\0}\0");
        place.check("hooks.json")
    }),
    ("latin1-of-claude", |place| {
        place.write("project/.claude/settings.json", b"{\"a\": \"\xe4\"}");
        place.load()
    }),
    ("world-writable", |place| {
        mode(&place.write("hooks.json", with_hooks(HOOK)), 0o646);
        place.check("hooks.json")
    }),
    ("world-writable-quoted", |place| {
        mode(
            &place.write("it's here/hooks.json", with_hooks(HOOK)),
            0o646,
        );
        place.check("it's here/hooks.json")
    }),
    ("world-writable-directory", |place| {
        place.write("open/hooks.json", with_hooks(HOOK));
        mode(&place.path("open"), 0o777);
        place.check("open/hooks.json")
    }),
    ("group-writable", |place| {
        mode(&place.write("hooks.json", with_hooks(HOOK)), 0o664);
        place.check("hooks.json")
    }),
    ("script-exists", |place| {
        place.write("guard.sh", "");
        let handler = r#"{"type": "command", "command": "sh guard.sh && sh ./guard.sh"}"#;
        place.write(".claude/settings.json", handlers("Stop", handler));
        place.check(".claude/settings.json")
    }),
    ("script-not-executable", |place| {
        place.write("guard.sh", "");
        let handler = r#"{"type": "command", "command": "./guard.sh"}"#;
        place.write(".claude/settings.json", handlers("Stop", handler));
        place.check(".claude/settings.json")
    }),
    ("plugin", |place| {
        place.write("p/hooks/hooks.json", handlers("Stop", "5"));
        place.load_plugin("p")
    }),
    ("plugin-checked", |place| {
        place.write("p/.claude-plugin/plugin.json", "{}");
        place.write("p/hooks/hooks.json", handlers("Stop", "5"));
        place.check("p/hooks/hooks.json")
    }),
    ("plugin-missing", |place| place.load_plugin("p")),
    ("plugin-manifest", |place| {
        place.write("p/.claude-plugin/plugin.json", handlers("Stop", "5"));
        place.load_plugin("p")
    }),
    ("plugin-manifest-names", |place| {
        let names = r#"{"hooks": ["./a.json", "../b.json", "c.json"]}"#;
        place.write("p/.codex-plugin/plugin.json", names);
        place.write("p/a.json", handlers("Stop", "5"));
        place.load_plugin("p")
    }),
    ("plugin-manifest-number", |place| {
        place.write("p/.claude-plugin/plugin.json", r#"{"hooks": 5}"#);
        place.load_plugin("p")
    }),
    ("plugin-manifest-broken", |place| {
        place.write("p/.claude-plugin/plugin.json", "{");
        place.load_plugin("p")
    }),
    ("plugin-many-files", |place| {
        let names = vec!["\"hooks/hooks.json\""; 101].join(", ");
        let manifest = format!(r#"{{"hooks": [{names}]}}"#);
        place.write("p/.claude-plugin/plugin.json", manifest);
        place.load_plugin("p")
    }),
    ("plugins-too-large", |place| {
        let mut tools = place.tools([]);
        for number in 0..18 {
            let text = format!("5/*{}*/", "x".repeat((1 << 20) - 5));
            place.write(&format!("project/{number}/hooks/hooks.json"), text);
            tools = tools.with_plugin(place.path("project").join(number.to_string()));
        }
        place.run(place.host().other_tools(tools), &[])
    }),
    ("extension", |place| {
        let directory = "home/.gemini/extensions/e";
        place.write(&format!("{directory}/gemini-extension.json"), "{}");
        place.write(
            &format!("{directory}/hooks/hooks.json"),
            handlers("BeforeTool", "5"),
        );
        place.write("project/.gemini/extensions/f/hooks/hooks.json", "[]");
        place.load()
    }),
    ("settings-named", |place| {
        let path = place.write("mine.json", handlers("Stop", "5"));
        let tools = place.tools([]).with_settings(CLAUDE, path);
        place.run(place.host().other_tools(tools), &[])
    }),
    ("settings-missing", |place| {
        let path = place.path("mine.json");
        let tools = place.tools([]).with_settings(CLAUDE, path);
        place.run(place.host().other_tools(tools), &[])
    }),
    ("strict-guards", |place| {
        place.write("project/.claude/settings.json", handlers("Stop", "5"));
        let tools = place.tools([CLAUDE]).with_strict_guards();
        place.run(place.host().other_tools(tools), &[])
    }),
    ("unapproved", |place| {
        place.project_file(&with_hooks(HOOK));
        place.load_approved(|host| host)
    }),
    ("unapproved-in-another-host", |place| {
        place.write("project/.mygame/hooks.json", with_hooks(HOOK));
        let store = place.config().trust_store().unwrap();
        let config = HookConfig::new(AppProfile::new("mygame"));
        let policy = TrustPolicy::Approved(store);
        let registry = HookRegistry::new();
        let config = config.with_config_home(place.path("config"));
        let report = config.load_into(&registry, place.path("project"), policy);
        place.shown("0", &report.to_json())
    }),
    ("no-store", |place| {
        place.project_file(&with_hooks(HOOK));
        let profile = AppProfile::default().with_global_files([""; 0]);
        let hooks = Hooks::builder(profile).project(place.path("project"));
        place.shown("0", &hooks.load().report().to_json())
    }),
    ("unapproved-two", |place| {
        place.project_file(&with_hooks(&format!(
            r#"{HOOK}, {{"event": "*", "command": "y", "name": "n"}}"#
        )));
        place.load_approved(|host| host)
    }),
    ("unapproved-many", |place| {
        place.project_file(&with_hooks(&vec![HOOK; 1001].join(", ")));
        place.load_approved(|host| host)
    }),
    ("unapproved-broken", |place| {
        place.project_file("{");
        place.load_approved(|host| host)
    }),
    ("unapproved-of-claude", |place| {
        let handler = r#"{"type": "command", "command": "x", "statusMessage": "checks"}"#;
        place.write("project/.claude/settings.json", handlers("Stop", handler));
        place.load_approved(|host| host.other_tools(place.tools([CLAUDE])))
    }),
    ("approved", |place| {
        place.project_file(&with_hooks(HOOK));
        place.approve();
        place.load_approved(|host| host)
    }),
    ("approved-and-changed", |place| {
        place.project_file(&with_hooks(HOOK));
        place.approve();
        place.project_file(&with_hooks(&HOOK.replace('x', "y")));
        place.load_approved(|host| host)
    }),
    ("approved-and-gone", |place| {
        place.project_file(&with_hooks(HOOK));
        place.approve();
        fs::remove_file(place.path("project/.src/forge/hooks.json")).unwrap();
        place.load_approved(|host| host)
    }),
    ("approved-and-broken", |place| {
        place.project_file(&with_hooks(HOOK));
        place.approve();
        let bad = r#"{"event": "*", "command": "y", "when": {"/a": {"regex": "("}}}"#;
        place.project_file(&with_hooks(&format!("{HOOK}, {bad}")));
        place.load_approved(|host| host)
    }),
    ("script-changed", |place| {
        approved_script(place, |path| fs::write(path, "new").unwrap())
    }),
    ("script-gone", |place| {
        approved_script(place, |path| fs::remove_file(path).unwrap())
    }),
    ("script-unreadable", |place| {
        approved_script(place, |path| {
            fs::remove_file(path).unwrap();
            symlink("guard.sh", path).unwrap();
        })
    }),
    ("script-appeared", |place| {
        place.project_file(&with_hooks(r#"{"event": "*", "command": "sh guard.sh"}"#));
        place.approve();
        place.write("project/guard.sh", "");
        place.load_approved(|host| host)
    }),
    ("argument-became-script", |place| {
        place.write("project/notes", "text");
        place.project_file(&with_hooks(r#"{"event": "*", "command": "make notes"}"#));
        place.approve();
        place.write("project/notes", "#!/bin/sh\n");
        mode(&place.path("project/notes"), 0o755);
        place.load_approved(|host| host)
    }),
    ("store-broken", |place| with_store(place, "{", 0o600)),
    ("store-empty", |place| with_store(place, "", 0o600)),
    ("store-newer", |place| {
        with_store(place, r#"{"version": 9, "projects": {}}"#, 0o600)
    }),
    ("store-group-writable", |place| {
        with_store(place, r#"{"version": 2, "projects": {}}"#, 0o660)
    }),
    ("store-world-writable", |place| {
        with_store(place, r#"{"version": 2, "projects": {}}"#, 0o606)
    }),
    ("store-directory", |place| {
        place.project_file(&with_hooks(HOOK));
        fs::create_dir_all(place.path("config/src/forge/trust.json")).unwrap();
        place.load_approved(|host| host)
    }),
];

/// What is reported of a hook that was approved, after a change of its script.
fn approved_script(place: &Place, change: fn(&Path)) -> String {
    let script = place.write("project/guard.sh", "old");
    place.project_file(&with_hooks(r#"{"event": "*", "command": "sh guard.sh"}"#));
    place.approve();
    change(&script);
    place.load_approved(|host| host)
}

/// What is reported of the project with this store of approvals.
fn with_store(place: &Place, text: &str, permissions: u32) -> String {
    if !place.path("project/.src").exists() {
        place.project_file(&with_hooks(HOOK));
    }
    mode(
        &place.write("config/src/forge/trust.json", text),
        permissions,
    );
    place.load_approved(|host| host)
}

/// The result of each input, in order.
fn results() -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let all = directory.path().canonicalize().unwrap();
    let rows = rows();
    let count = rows.len() + SCENARIOS.len();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![String::new(); count]);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (name, result) = match (rows.get(index), index.checked_sub(rows.len())) {
                (Some(row), _) => (row.name, result_of(row, &all)),
                (None, Some(scenario)) if index < count => {
                    let (name, run) = SCENARIOS[scenario];
                    (name, run(&Place::new(&all, name)))
                }
                _ => break,
            };
            results.lock().unwrap()[index] = format!("{name}: {result}");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    results.into_inner().unwrap()
}

#[test]
fn every_message_is_as_reviewed() {
    super::same_as_corpus("validate.txt", &results().concat());
}
