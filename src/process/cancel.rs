//! A request to end a run early: made by any thread, seen by the thread that waits for the process.

use std::sync::Arc;
use std::sync::atomic::fence;
#[cfg(unix)]
use std::{
    io::{PipeReader, PipeWriter},
    os::fd::{AsFd, BorrowedFd},
    sync::{Mutex, OnceLock, PoisonError},
};

use crate::sync::{AtomicBool, Ordering};

/// A cancellation flag. Once requested, it stays requested. A request costs nothing until a run waits for
/// it: the run itself creates the pipe that wakes it.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    requested: AtomicBool,
    /// Further flags, each of which is a request.
    flags: Vec<Arc<AtomicBool>>,
    /// None within: there is no pipe, so a run looks at the flags from time to time.
    #[cfg(unix)]
    pipe: OnceLock<Option<Pipe>>,
}

/// The pipe that wakes a run: after the request its reading end is at its end, and so readable for every run.
#[cfg(unix)]
#[derive(Debug)]
struct Pipe {
    reader: PipeReader,
    writer: Mutex<Option<PipeWriter>>,
}

impl Cancel {
    /// Creates a flag that is also requested by these flags. `is_polled` says that one of them is set without a call of
    /// [`request`](Self::request).
    #[cfg_attr(windows, allow(unused_variables))]
    pub(crate) fn watching(flags: Vec<Arc<AtomicBool>>, is_polled: bool) -> Self {
        Self {
            flags,
            #[cfg(unix)]
            pipe: if is_polled {
                OnceLock::from(None)
            } else {
                OnceLock::new()
            },
            ..Self::default()
        }
    }

    pub(crate) fn is_requested(&self) -> bool {
        let mut flags =
            std::iter::once(&self.requested).chain(self.flags.iter().map(|flag| &**flag));
        flags.any(|flag| flag.load(Ordering::SeqCst))
    }

    /// Requests the end. Returns whether this is the first request.
    pub(crate) fn request(&self) -> bool {
        // `wake` creates the pipe first and then reads the flag. The fences of both ensure that one of the two threads sees
        // the change of the other. That the lock is set is known without such an order.
        let is_first = !self.requested.swap(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        #[cfg(unix)]
        if let Some(Some(pipe)) = self.pipe.get() {
            pipe.close();
        }
        is_first
    }

    /// Returns a descriptor that is readable after the request. None: the caller must check `is_requested` from time to time, since
    /// no pipe could be created, or a flag is set without a request.
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
        fence(Ordering::SeqCst);
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
