//! `serve`: the engine as a child process of a host in any language, which speaks JSON-RPC 2.0, one message a line.
//!
//! One thread reads, one writes, and the executor's threads run hooks. This file is the thread between them: it alone handles
//! requests and responds.

mod message;
mod outbox;
mod server;
mod vocabulary;
mod worker;

use std::io::{self, BufRead, BufReader, Read};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded, select, unbounded};

use crate::cli::args::Recording;
use crate::cli::io::{start, streams};
use crate::cli::{CommandError, Context, Done, Exit, Terminal};
use message::LONGEST_LINE;
use outbox::Outbox;
use server::{News, Server};
pub(crate) use vocabulary::declare;

/// The interval at which a signal and the end of the host are checked.
const TICK: Duration = Duration::from_millis(50);

/// The time that the program waits for the last lines of the recorded events.
const LAST_LINES: Duration = Duration::from_millis(400);

pub(crate) fn run(
    workers: usize,
    recording: &Recording,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Done {
    if !terminal.is_system {
        let message = "`serve` needs the standard input and output of the process";
        return Err(CommandError::new(message));
    }
    let parent = parent();
    // From here on a signal ends the hooks, not only this program.
    let _ = terminal.interrupted();
    let hooks = context.load()?;
    let trace = context.trace_events(recording, &hooks)?;
    let (input, output) = streams()
        .map_err(|error| CommandError::new(format!("cannot use the standard streams: {error}")))?;
    let (sender, news) = unbounded();
    let (outbox, write) = Outbox::new(output);
    let closed = sender.clone();
    start(move || {
        write();
        // The receiver is gone when the program is about to end.
        let _ = closed.send(News::OutputClosed);
    })?;
    // A host that sends faster than its requests are handled waits.
    let (read, lines) = bounded(1);
    start(move || read_lines(BufReader::new(input), &read))?;
    let mut server = Server::new(hooks, outbox, sender, (workers, trace.as_ref()), context)?;
    let ended = loop {
        let goes_on = select! {
            recv(lines) -> line => line.map(|line| server.line(&line)).is_ok(),
            recv(news) -> event => event.is_ok_and(|event| server.handle_news(event)),
            default(TICK) => true,
        };
        if let Some(status) = terminal.interrupted() {
            break Ok(Exit(status));
        }
        if !goes_on || server.has_ended() || self::parent() != parent {
            break Ok(Exit::FINE);
        }
        if server.outbox.is_flooded() {
            break Err(CommandError::new("the host does not read its responses"));
        }
    };
    server.end(&news);
    if let Some(trace) = trace {
        trace.flush(LAST_LINES);
    }
    ended
}

/// Reads lines up to the end of the input, and of a line that is too long only the beginning.
fn read_lines(mut input: impl BufRead, lines: &Sender<Vec<u8>>) {
    let mut next = || -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let most = LONGEST_LINE as u64 + 1;
        let length = input.by_ref().take(most).read_until(b'\n', &mut line)?;
        if length > LONGEST_LINE && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        Ok(line)
    };
    while let Ok(line) = next() {
        if line.is_empty() || lines.send(line).is_err() {
            return;
        }
    }
}

/// Returns the id of the process that started this one. After that process has ended, the id is another one.
#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// The end of the input alone shows that the host has ended outside of Unix.
#[cfg(not(unix))]
fn parent() -> u32 {
    0
}
