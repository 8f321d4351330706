//! An editor: hooks of its user and of the workspace can prevent saving, and others run after it. Hooks of the
//! workspace run only after the user has approved them. `cargo run --example editor -- [--trust] WORKSPACE
//! FILE...` saves files; `--trust` approves the workspace's hooks first.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use forge_hooks::{AppProfile, EventSpec, Hooks, SetupError};

struct Editor {
    hooks: Hooks,
    will_save: EventSpec,
    saved: EventSpec,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    let trusts = args.next_if(|arg| arg == "--trust").is_some();
    let workspace = args.next().unwrap_or_else(|| ".".to_owned());
    let editor = Editor::open(Path::new(&workspace))?;
    if trusts {
        editor.approve()?;
    }
    print!("{}", editor.hooks.report());
    for file in args {
        match editor.save(&file) {
            Ok(messages) => println!("{file}: saved{messages}"),
            Err(error) => println!("{file}: {error}"),
        }
    }
    let ended = editor.hooks.shutdown(Duration::from_secs(5));
    println!("all hooks ended: {}", ended);
    Ok(())
}

impl Editor {
    fn open(workspace: &Path) -> Result<Self, Box<dyn Error>> {
        let will_save = EventSpec::named("file:will_save")
            .with_description("A file is about to be saved")
            .with_data("file", "its path in the workspace");
        let saved = EventSpec::named("file:saved")
            .with_description("A file was saved")
            .with_data("file", "its path in the workspace")
            .notify_only();
        let hooks = Hooks::builder(AppProfile::new("myeditor"))
            .event(will_save.clone())
            .event(saved.clone())
            .approve_command(format!("editor --trust {}", workspace.display()))
            .project(workspace)
            .load();
        Ok(Self {
            hooks,
            will_save,
            saved,
        })
    }

    /// A real editor would show this to the user, and ask.
    fn approve(&self) -> Result<bool, SetupError> {
        self.hooks.approve_with(|approval| {
            print!("{approval}");
            true
        })
    }

    /// Saves a file, unless a hook blocks. Returns the hooks' messages for the status line.
    fn save(&self, file: &str) -> Result<String, Box<dyn Error>> {
        let event = self.will_save.event().with_data("file", file);
        let outcome = self.hooks.execute(&event);
        outcome.check()?;
        for failure in outcome.failures() {
            eprintln!("{failure}");
        }
        // Here the editor writes the file.
        let event = self.saved.event().with_data("file", file);
        drop(self.hooks.submit(event));
        let messages = outcome.system_messages();
        Ok(messages.iter().map(|said| format!(", {said}")).collect())
    }
}
