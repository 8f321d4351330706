//! A request to end a run early: made by any thread, seen by the thread that waits for the process.

#[cfg(unix)]
use std::{
    io::{PipeReader, PipeWriter},
    os::fd::{AsFd, BorrowedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::sync::{AtomicBool, Ordering};

/// A cancellation flag. Once requested, it stays requested. A request costs nothing until a run waits for
/// it: the run itself creates the pipe that wakes it.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    requested: AtomicBool,
    #[cfg(unix)]
    pipe: Mutex<Option<Arc<Pipe>>>,
}

/// The pipe that wakes a run: after the request its reading end is at its end, and so readable for every run.
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

    /// Returns whether this is the first request.
    pub(crate) fn request(&self) -> bool {
        // `wake` creates the pipe first and then reads the flag, so that one of the two threads sees what the other has done.
        let is_first = !self.requested.swap(true, Ordering::SeqCst);
        #[cfg(unix)]
        {
            let pipe = self.pipe().clone();
            if let Some(pipe) = pipe {
                pipe.close();
            }
        }
        is_first
    }

    /// Returns what is readable after the request. None: no pipe could be created, so the caller
    /// must check `is_requested` from time to time.
    #[cfg(unix)]
    pub(crate) fn wake(&self) -> Option<Wake> {
        let known = self.pipe().clone();
        let pipe = match known {
            Some(pipe) => pipe,
            None => {
                let (reader, writer) = std::io::pipe().ok()?;
                let writer = Mutex::new(Some(writer));
                // Another run may have been faster.
                let pipe = Arc::new(Pipe { reader, writer });
                Arc::clone(self.pipe().get_or_insert(pipe))
            }
        };
        if self.is_requested() {
            pipe.close();
        }
        Some(Wake(pipe))
    }

    /// Closes the pipe: no run waits any more. What is cancelled may be kept for long, and a process has few descriptors.
    pub(crate) fn rest(&self) {
        #[cfg(unix)]
        {
            let pipe = self.pipe().take();
            drop(pipe);
        }
    }

    #[cfg(unix)]
    fn pipe(&self) -> MutexGuard<'_, Option<Arc<Pipe>>> {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the pipe that a run waits for.
#[cfg(unix)]
pub(crate) struct Wake(Arc<Pipe>);

#[cfg(unix)]
impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.reader.as_fd()
    }
}

#[cfg(unix)]
impl Pipe {
    fn close(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        drop(writer.take());
    }
}
