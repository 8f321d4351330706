//! A request to end a run early, made by any thread, seen by the one that waits for the process.

use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::{
    io::{PipeReader, PipeWriter},
    os::fd::{AsFd, BorrowedFd},
    sync::{Mutex, OnceLock, PoisonError},
};

/// Once requested, it stays so. A request costs nothing until a run waits for it: the pipe that
/// wakes the run is made by the run.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    requested: AtomicBool,
    #[cfg(unix)]
    pipe: OnceLock<Option<Pipe>>,
}

/// Its reading end is at its end, and so readable, from the request on, for every run that asks.
#[cfg(unix)]
#[derive(Debug)]
struct Pipe {
    reader: PipeReader,
    writer: Mutex<Option<PipeWriter>>,
}

impl Cancel {
    pub(crate) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    pub(crate) fn request(&self) {
        // In this order: `wake` makes the pipe first and looks at the flag then, so that one of the
        // two is always seen.
        self.requested.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        if let Some(Some(pipe)) = self.pipe.get() {
            pipe.close();
        }
    }

    /// Readable from the request on. None where no pipe is to be had: look at `is_requested` from
    /// time to time.
    #[cfg(unix)]
    pub(crate) fn wake(&self) -> Option<BorrowedFd<'_>> {
        let make = || {
            let (reader, writer) = std::io::pipe().ok()?;
            Some(Pipe {
                reader,
                writer: Mutex::new(Some(writer)),
            })
        };
        let pipe = self.pipe.get_or_init(make).as_ref()?;
        if self.is_requested() {
            pipe.close();
        }
        Some(pipe.reader.as_fd())
    }
}

#[cfg(unix)]
impl Pipe {
    fn close(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        drop(writer.take());
    }
}
