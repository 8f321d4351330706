//! A game at 60 frames a second that fires twenty events a frame, at hooks of which each takes longer
//! than a frame, and polls the handles once a frame. It never waits for one of them.
//!
//! Plays twice, without hooks and with them, and prints for both how long frames took and which was
//! the longest: the time from the start of a frame's work to its end, without the pause until the
//! next frame. `game_loop SECONDS` plays so long; 2 seconds without.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{
    AppProfile, EventType, FireOptions, Hook, HookError, HookEvent, HookExecutor, HookHandle,
    SubmitError,
};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
const EVENTS_A_FRAME: u64 = 20;

#[cfg(not(windows))]
mod commands {
    pub(super) const LEVEL: &str = r#"sleep 0.2; echo "level $MYGAME_LEVEL is loaded""#;
    pub(super) const SHOT: &str = "sleep 0.05";
}

#[cfg(windows)]
mod commands {
    pub(super) const LEVEL: &str = "ping -n 2 127.0.0.1 >NUL & echo level !MYGAME_LEVEL! is loaded";
    pub(super) const SHOT: &str = "ping -n 2 127.0.0.1 >NUL";
}

/// The upper bounds of the histogram's rows, in microseconds.
const ROWS: [u128; 10] = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 16_667];

#[derive(Default)]
struct Played {
    frames: Vec<Duration>,
    fired: u64,
    refused: u64,
    finished: u64,
    last_words: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(2.0), |text| text.parse())?;
    let time = Duration::from_secs_f64(seconds);
    let without = play(&game(&[])?, time)?;
    let executor = game(&[
        ("game:level_loaded", commands::LEVEL),
        ("game:shot_fired", commands::SHOT),
    ])?;
    let with = play(&executor, time)?;
    // What is still waiting is no longer of interest; a game that has a last event to see done
    // gives it more time.
    let report = executor.shutdown(Duration::ZERO);

    println!("{:24}{:>14}{:>14}", "", "without hooks", "with hooks");
    row("frames", without.frames.len(), with.frames.len());
    row("events fired", without.fired, with.fired);
    row("  finished in time", without.finished, with.finished);
    row("  refused: queue full", without.refused, with.refused);
    row(
        "  dropped at the end",
        0,
        report.cut.len() + report.never_started.len(),
    );
    println!("\nframes that took");
    let mut from = 0;
    for to in ROWS {
        let within = |frames: &[Duration]| {
            let within = |frame: &&Duration| (from..to).contains(&frame.as_micros());
            frames.iter().filter(within).count()
        };
        row(
            &format!("  below {to} us"),
            within(&without.frames),
            within(&with.frames),
        );
        from = to;
    }
    let longest = |frames: &[Duration]| frames.iter().max().copied().unwrap_or_default();
    let shown = |frames: &[Duration]| format!("{:.0?}", longest(frames));
    row("longest frame", shown(&without.frames), shown(&with.frames));
    println!("\nlast words: {}", with.last_words);
    Ok(())
}

fn row(name: &str, without: impl ToString, with: impl ToString) {
    println!(
        "{name:24}{:>14}{:>14}",
        without.to_string(),
        with.to_string()
    );
}

fn game(hooks: &[(&str, &str)]) -> Result<HookExecutor, HookError> {
    let executor = HookExecutor::builder()
        .profile(AppProfile::new("mygame"))
        .build();
    for (event, command) in hooks {
        executor.registry().register(Hook::new(*event, *command)?);
    }
    Ok(executor)
}

fn play(executor: &HookExecutor, time: Duration) -> Result<Played, Box<dyn Error>> {
    let level_loaded = EventType::custom("game:level_loaded")?;
    let shot_fired = EventType::custom("game:shot_fired")?;
    let mut played = Played::default();
    let mut pending: Vec<HookHandle> = Vec::new();
    let start = Instant::now();
    while start.elapsed() < time {
        let frame = Instant::now();
        for number in 0..EVENTS_A_FRAME {
            let is_level = number == 0 && played.frames.len() % 60 == 0;
            let event_type = if is_level { &level_loaded } else { &shot_fired };
            let event =
                HookEvent::new(event_type.clone()).with_data("level", 1 + played.frames.len() / 60);
            played.fired += 1;
            match executor.submit(event, FireOptions::default()) {
                Ok(handle) => pending.push(handle),
                // There are too many. This game can do without; another would try again in the
                // next frame, for the error gives the event back.
                Err(SubmitError::Busy(_)) => played.refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
        pending.retain_mut(|handle| match handle.try_wait() {
            Some(outcome) => {
                played.finished += 1;
                let said = outcome.results().iter().map(|result| result.stdout.trim());
                let said: String = said.collect();
                if !said.is_empty() {
                    played.last_words = said;
                }
                false
            }
            None => true,
        });
        played.frames.push(frame.elapsed());
        thread::sleep(FRAME.saturating_sub(frame.elapsed()));
    }
    Ok(played)
}
