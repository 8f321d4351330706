//! A program with a screen: its user's hooks can prevent quitting, or ask. It draws while they run, and has no thread for
//! them. Type `q` and Enter to quit, `c` to cancel, `y` or `n` to answer. Its hooks are in `~/.config/myscreen/hooks.json`: `cargo run
//! --example screen`.

use std::error::Error;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use forge_hooks::crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use forge_hooks::lifecycle::{OwnAction, Submitted};
use forge_hooks::{AppProfile, EventSpec, Hooks};

/// How long a picture stays.
const FRAME: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let [wish, quits, failed] = ["app:quit", "app:quits", "app:stays"].map(EventSpec::named);
    let [quits, failed] = [quits, failed].map(EventSpec::notify_only);
    let quitting = OwnAction::new(&wish, &quits, &failed)?;
    let hooks = Hooks::builder(AppProfile::new("myscreen"))
        .event(wish.with_description("The user wants to quit"))
        .event(quits)
        .event(failed)
        .load();
    print!("{}", hooks.report());
    let keys = keys();
    let mut status = "q quits".to_owned();
    let mut pending: Option<Submitted<OwnAction>> = None;
    loop {
        draw(&status)?;
        let key = match keys.recv_timeout(FRAME) {
            Ok(key) => Some(key),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) if pending.is_none() => break, // the terminal is gone
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(FRAME);
                None
            }
        };
        if key == Some('q') && pending.is_none() {
            pending = Some(hooks.lifecycle().action(&quitting).submit());
        }
        match pending.as_mut().map(|quit| ask_hooks(quit, key)) {
            None => continue,
            Some(Answer::Open(text)) => status = text,
            Some(Answer::Yes) => break,
            Some(Answer::No(why)) => {
                status = format!("stays open: {why}");
                pending = None;
            }
        }
    }
    println!("\nbye");
    hooks.shutdown(Duration::from_secs(5));
    Ok(())
}

/// What may happen to a wish to quit in one frame.
enum Answer {
    Open(String),
    Yes,
    No(String),
}

/// Called once a frame: asks the hooks, and shows their question. `y` and `n` answer it, `c` cancels.
fn ask_hooks(quit: &mut Submitted<OwnAction>, key: Option<char>) -> Answer {
    match key {
        Some('c') => quit.cancel(),
        Some('y') => quit.answer(true),
        Some('n') => quit.answer(false),
        _ => {}
    }
    match quit.poll() {
        Some(Ok(running)) => {
            running.finish(Ok::<_, String>(())); // fires `app:quits`
            Answer::Yes
        }
        Some(Err(blocked)) => Answer::No(blocked.to_string()),
        None => Answer::Open(match quit.question() {
            Some(question) => format!("{} y/n?", question.reasons().join("; ")),
            None => "hooks run, c cancels them".to_owned(),
        }),
    }
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
