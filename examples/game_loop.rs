//! A game at 60 frames a second: mods hear of its levels, and may refuse that it is saved. It waits
//! for them only before it saves. Its hooks are in `~/.config/mygame/hooks.json`; to use some that are
//! here: `XDG_CONFIG_HOME=$PWD/examples/config cargo run --example game_loop`.

use std::error::Error;
use std::thread;
use std::time::Duration;

use forge_hooks::{AppProfile, EventSpec, EventType, HookEvent, HookHandle, Hooks};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> Result<(), Box<dyn Error>> {
    let level_loaded = EventType::custom("level:loaded")?;
    let game_save = EventType::custom("game:save")?;
    let loaded = EventSpec::new(level_loaded.clone()).description("A level is ready");
    let save = EventSpec::new(game_save.clone()).description("The game is about to be saved");
    let hooks = Hooks::builder(AppProfile::new("mygame"))
        .event(loaded.data("level", "its name").notify_only())
        .event(save.data("slot", "the file, without its directory"))
        .load();
    print!("{}", hooks.report().render(false));

    let mut pending = Vec::new();
    for frame in 0..60 {
        if frame % 30 == 0 {
            let level = if frame == 0 { "one" } else { "two" };
            let event = HookEvent::new(level_loaded.clone()).with_data("level", level);
            // An error means that too many events wait: this game can do without.
            pending.extend(hooks.submit(event).ok());
        }
        pending.retain_mut(is_pending);
        thread::sleep(FRAME);
    }

    let save = HookEvent::new(game_save).with_data("slot", "quick");
    match hooks.execute(&save).into_result() {
        Ok(_) => println!("saved"),
        Err(blocked) => println!("not saved: {blocked}"),
    }
    let ended = hooks.shutdown(Duration::from_secs(5));
    pending.retain_mut(is_pending);
    println!("all hooks ended: {}", ended.is_complete());
    Ok(())
}

/// Shows what hooks have said of a level, once they have ended.
fn is_pending(handle: &mut HookHandle) -> bool {
    let Some(outcome) = handle.try_wait() else {
        return true;
    };
    for result in &outcome {
        println!("{}: {}", result.hook.label(), result.stdout.trim());
    }
    false
}
