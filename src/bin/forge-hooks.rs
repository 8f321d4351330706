//! The program `forge-hooks`: the library's commands with the default names, a logger and Ctrl-C.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forge_hooks::cli::{self, Io};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

fn main() -> ExitCode {
    // A logger costs time, so it is only installed if `RUST_LOG` is set.
    if std::env::var_os("RUST_LOG").is_some() {
        env_logger::init();
    }
    let mut interrupts: Option<Interrupts> = None;
    let interrupted = move || interrupts.get_or_insert_with(Interrupts::heard).status();
    let mut io = Io::system("forge-hooks").interrupted_by(interrupted);
    cli::run_standalone(std::env::args_os().skip(1), &mut io)
}

/// The signals that end the program, each with its flag and its exit status. The first signal ends the
/// hooks in an orderly way, the second ends the program at once. Needs no thread: a handler sets a flag.
struct Interrupts(Vec<(Arc<AtomicBool>, u8)>);

impl Interrupts {
    /// Installs the handlers. A signal without a handler ends the program as usual.
    fn heard() -> Self {
        let mut heard = Vec::new();
        let mut signals = vec![(SIGINT, 130), (SIGTERM, 143)];
        #[cfg(target_os = "linux")]
        if hangs_up() {
            signals.push((signal_hook::consts::SIGHUP, 129));
        }
        for (signal, status) in signals {
            let is_raised = Arc::new(AtomicBool::new(false));
            match listen(signal, status.into(), &is_raised) {
                Ok(()) => heard.push((is_raised, status)),
                Err(error) => log::warn!("cannot handle signal {signal}: {error}"),
            }
        }
        Self(heard)
    }

    /// Returns the exit status of the signal that was received, if any.
    fn status(&self) -> Option<u8> {
        let mut raised = self.0.iter();
        let found = raised.find(|(is_raised, _)| is_raised.load(Ordering::SeqCst));
        found.map(|(_, status)| *status)
    }
}

fn listen(signal: i32, status: i32, is_raised: &Arc<AtomicBool>) -> io::Result<()> {
    // The order matters: the first handler checks the flag that the second one set on the previous
    // signal.
    flag::register_conditional_shutdown(signal, status, Arc::clone(is_raised))?;
    flag::register(signal, Arc::clone(is_raised))?;
    Ok(())
}

/// Whether the program ends when its terminal is closed. `nohup` starts it with this signal ignored, and so it stays.
#[cfg(target_os = "linux")]
fn hangs_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set & 1 << (signal_hook::consts::SIGHUP - 1) == 0)
}
