//! A game at 60 frames a second whose hooks take longer than a frame: it fires events, polls their
//! handles once a frame, and never waits.
//!
//! Prints the longest frame: the time from the start of a frame's work to its end, without the pause
//! until the next frame. `game_loop SECONDS` plays so long; 2 seconds without.

use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{
    AppProfile, EventType, FireOptions, Hook, HookEvent, HookExecutor, HookHandle, HookRegistry,
    SubmitError,
};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

#[cfg(not(windows))]
const SLOW: &str = r#"sleep 0.2; echo "level $MYGAME_LEVEL is loaded""#;
#[cfg(windows)]
const SLOW: &str = "ping -n 2 127.0.0.1 >NUL & echo level !MYGAME_LEVEL! is loaded";

#[derive(Default)]
struct Played {
    frames: u64,
    fired: u64,
    refused: u64,
    finished: u64,
    longest: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(2.0), |text| text.parse())?;
    let registry = Arc::new(HookRegistry::new());
    registry.register(Hook::new("game:level_loaded", SLOW)?);
    let executor = HookExecutor::builder()
        .registry(registry)
        .profile(AppProfile::new("mygame"))
        .build();

    let (played, last_words) = play(&executor, Duration::from_secs_f64(seconds))?;

    println!("frames   {}", played.frames);
    println!(
        "events   {} fired, {} refused because the queue was full, {} finished",
        played.fired, played.refused, played.finished
    );
    println!("last     {last_words}");
    println!("longest  {:?} of a frame's {FRAME:?}", played.longest);
    Ok(())
}

fn play(executor: &HookExecutor, time: Duration) -> Result<(Played, String), Box<dyn Error>> {
    let mut played = Played::default();
    let mut last_words = String::new();
    let mut pending: Vec<HookHandle> = Vec::new();
    let start = Instant::now();
    // Beyond its time it plays on until the hooks have ended, so that none is cut off.
    while start.elapsed() < time || !pending.is_empty() {
        let frame = Instant::now();
        if start.elapsed() < time {
            let event = HookEvent::new(EventType::custom("game:level_loaded")?)
                .with_data("level", played.frames);
            match executor.submit(event, FireOptions::default()) {
                Ok(handle) => pending.push(handle),
                Err(SubmitError::Busy(_)) => played.refused += 1,
                Err(error) => return Err(error.into()),
            }
            played.fired += 1;
        }
        let before = pending.len();
        pending.retain_mut(|handle| match handle.try_wait() {
            Some(outcome) => {
                last_words = outcome.iter().map(|result| result.stdout.trim()).collect();
                false
            }
            None => true,
        });
        played.finished += (before - pending.len()) as u64;
        played.frames += 1;
        played.longest = played.longest.max(frame.elapsed());
        thread::sleep(FRAME.saturating_sub(frame.elapsed()));
    }
    Ok((played, last_words))
}
