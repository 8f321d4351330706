//! A game at 60 frames a second: mods receive its events, and can prevent saving. The game waits for hooks only
//! before it saves. Its hooks are in `~/.config/mygame/hooks.json`; to use those of this repository:
//! `XDG_CONFIG_HOME=$PWD/examples/config cargo run --example game_loop`.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use forge_hooks::{AppProfile, EventSpec, HookHandle, Hooks};

fn main() -> ExitCode {
    let level_loaded = EventSpec::named("level:loaded")
        .with_description("A level is ready")
        .with_data("level", "which one")
        .notify_only();
    let game_save = EventSpec::named("game:save")
        .with_description("The game is about to be saved")
        .with_data("slot", "the file, without its directory");
    let frame_drawn = EventSpec::named("frame:drawn")
        .with_description("A frame was drawn; not fired while hooks of an earlier one run")
        .with_data("frame", "its number")
        .notify_only();
    let hooks = Hooks::builder(AppProfile::new("mygame"))
        .event(frame_drawn.clone())
        .event(level_loaded.clone())
        .event(game_save.clone())
        .load();
    #[cfg(feature = "cli")]
    if std::env::args().nth(1).as_deref() == Some("hooks") {
        use forge_hooks::cli::{Io, run};
        let args = std::env::args_os().skip(2);
        return run(&hooks, args, &mut Io::system("mygame hooks")).into();
    }
    print!("{}", hooks.report());

    let mut pending = Vec::new();
    let mut drawn: Option<HookHandle> = None;
    for frame in 0..60 {
        if frame % 30 == 0 {
            let event = level_loaded.event().with_data("level", 1 + frame / 30);
            pending.push(hooks.submit(event));
        }
        // Events of frames do not queue up behind a slow hook.
        if drawn.as_mut().is_none_or(|handle| !is_pending(handle)) {
            let event = frame_drawn.event().with_data("frame", frame);
            drawn = Some(hooks.submit(event));
        }
        pending.retain_mut(is_pending);
        thread::sleep(Duration::from_nanos(16_666_667));
    }

    let save = game_save.event().with_data("slot", "quick");
    let outcome = hooks.execute(&save);
    for failure in outcome.failures() {
        eprintln!("{failure}");
    }
    match outcome.check() {
        Ok(()) => println!("saved"),
        Err(blocked) => println!("not saved: {blocked}"),
    }
    hooks.shutdown(Duration::from_secs(5));
    pending.extend(drawn);
    pending.retain_mut(is_pending);
    ExitCode::SUCCESS
}

/// Shows what hooks have said of an event, once they have ended.
fn is_pending(handle: &mut HookHandle) -> bool {
    let Some(outcome) = handle.try_wait() else {
        return true;
    };
    for failure in outcome.failures() {
        eprintln!("{failure}");
    }
    for result in &outcome {
        println!("{}: {}", result.hook().label(), result.stdout().trim());
    }
    false
}
