//! The program `forge-hooks`: the library's commands with the default names, a logger and signals.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forge_hooks::cli::{self, Io};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

fn main() -> ExitCode {
    // A logger costs time, so it is only installed if `RUST_LOG` is set. A process that an agent starts writes only its
    // answer.
    let is_of_agent = std::env::args_os()
        .nth(1)
        .is_some_and(|command| command == "hook");
    if !is_of_agent && std::env::var_os("RUST_LOG").is_some() {
        env_logger::init();
    }
    let mut interrupts: Option<Interrupts> = None;
    let interrupted = move || interrupts.get_or_insert_with(Interrupts::install).status();
    let mut io = Io::system("forge-hooks").interrupted_by(interrupted);
    // `packaging/build` sets it; a crate of crates.io comes without its git.
    if let Some(commit) = option_env!("FORGE_HOOKS_COMMIT") {
        io = io.with_version(format!("{} ({commit})", env!("CARGO_PKG_VERSION")));
    }
    cli::run_standalone(std::env::args_os().skip(1), &mut io).into()
}

/// The signals that end the program, each with its flag and its exit status. The first signal ends the
/// hooks in an orderly way, the second ends the program at once. Needs no thread: a handler sets a flag.
struct Interrupts(Vec<(Arc<AtomicBool>, u8)>);

impl Interrupts {
    /// Installs the handlers. A signal without a handler ends the program as usual.
    fn install() -> Self {
        let mut installed = Vec::new();
        let usual = [(SIGINT, 130), (SIGTERM, 143)];
        for (signal, status) in usual.into_iter().chain(quit()).chain(hangup()) {
            let is_raised = Arc::new(AtomicBool::new(false));
            match listen(signal, status.into(), &is_raised) {
                Ok(()) => installed.push((is_raised, status)),
                Err(error) => log::warn!("cannot handle signal {signal}: {error}"),
            }
        }
        Self(installed)
    }

    /// Returns the exit status of the signal that was received, if any.
    fn status(&self) -> Option<u8> {
        let mut raised = self.0.iter();
        let signal = raised.find(|(is_raised, _)| is_raised.load(Ordering::SeqCst));
        signal.map(|(_, status)| *status)
    }
}

fn listen(signal: i32, status: i32, is_raised: &Arc<AtomicBool>) -> io::Result<()> {
    // The order matters: the first handler checks the flag that the second one set on the previous
    // signal.
    flag::register_conditional_shutdown(signal, status, Arc::clone(is_raised))?;
    flag::register(signal, Arc::clone(is_raised))?;
    Ok(())
}

/// The signal of Ctrl-\.
#[cfg(unix)]
fn quit() -> Option<(i32, u8)> {
    Some((signal_hook::consts::SIGQUIT, 131))
}

/// Windows has no such signal.
#[cfg(not(unix))]
fn quit() -> Option<(i32, u8)> {
    None
}

/// The signal of a closed terminal. `nohup` starts the program with this signal ignored, and it stays ignored.
#[cfg(target_os = "linux")]
fn hangup() -> Option<(i32, u8)> {
    use std::fs::File;
    use std::io::{BufRead, BufReader};

    use signal_hook::consts::SIGHUP;

    let status = BufReader::new(File::open("/proc/self/status").ok()?);
    let mut lines = status.lines().map_while(Result::ok);
    let ignored = lines.find(|line| line.starts_with("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored["SigIgn:".len()..].trim(), 16).ok()?;
    (ignored & 1 << (SIGHUP - 1) == 0).then_some((SIGHUP, 129))
}

/// The signal of a closed terminal. It is not known here whether it is ignored, so it ends the program without its handler.
#[cfg(not(target_os = "linux"))]
fn hangup() -> Option<(i32, u8)> {
    None
}
