//! A program with a screen: its user's hooks can prevent quitting. It draws while it waits for them, and a key cancels
//! them. Type `q` and Enter to quit, `c` and Enter to cancel. Its hooks are in `~/.config/myscreen/hooks.json`: `cargo run
//! --example screen`.

use std::error::Error;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use forge_hooks::crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use forge_hooks::{AppProfile, EventSpec, Hooks};

/// How long a picture stays.
const FRAME: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let quit = EventSpec::named("app:quit").with_description("The user wants to quit");
    let hooks = Hooks::builder(AppProfile::new("myscreen"))
        .event(quit)
        .load();
    print!("{}", hooks.report());
    let keys = keys();
    let mut status = "q quits".to_owned();
    loop {
        draw(&status)?;
        match keys.recv_timeout(FRAME) {
            Ok('q') => match ask_hooks(&hooks, &keys) {
                Ok(()) => break,
                Err(why) => status = format!("stays open: {why}"),
            },
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break, // the terminal is gone
        }
    }
    println!("\nbye");
    hooks.shutdown(Duration::from_secs(5));
    Ok(())
}

/// Asks the hooks whether the program may quit, and draws while it waits.
fn ask_hooks(hooks: &Hooks, keys: &Receiver<char>) -> Result<(), Box<dyn Error>> {
    let mut handle = hooks.submit(hooks.event("app:quit")?);
    let outcome = loop {
        if let Some(outcome) = handle.wait_timeout(FRAME) {
            break outcome;
        }
        if keys.try_iter().any(|key| key == 'c') {
            handle.cancel(); // the event is then blocked
        }
        draw("hooks run, c cancels them")?;
    };
    eprint!("{}", outcome.failures());
    Ok(outcome.check()?)
}

fn draw(status: &str) -> io::Result<()> {
    print!("\r\x1b[K{status}");
    io::stdout().flush()
}

/// The keys, as another thread reads them.
fn keys() -> Receiver<char> {
    let (sender, keys) = unbounded();
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            let _ = line.chars().try_for_each(|key| sender.send(key));
        }
    });
    keys
}
