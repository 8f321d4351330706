//! Waits for descriptors, up to a time.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

/// The length of a wait if the caller must check something that no descriptor reports: of the first wait, and of the
/// longest.
const SHORTEST: Duration = Duration::from_micros(500);
const LONGEST: Duration = Duration::from_millis(10);

/// A descriptor to wait for, if it is open, and its owner's name for it.
pub(super) type Source<'a, T> = (T, Option<BorrowedFd<'a>>, PollFlags);

/// Waits for descriptors. The waits are short after an event, and then become longer, so that the caller can check
/// conditions that no descriptor reports.
#[derive(Debug)]
pub(super) struct Waiter {
    pause: Duration,
}

impl Waiter {
    pub(super) fn new() -> Self {
        Self { pause: SHORTEST }
    }

    /// Waits until a source is ready or the time is over, and returns the sources that are ready. `looks`: the caller must
    /// check something that no source reports, so the wait may be shorter.
    pub(super) fn wait<'a, T>(
        &mut self,
        sources: impl IntoIterator<Item = Source<'a, T>>,
        longest: Duration,
        looks: bool,
    ) -> Vec<T> {
        let longest = if looks {
            longest.min(self.pause)
        } else {
            longest
        };
        let timeout = Timespec::try_from(longest).ok();
        let open = sources.into_iter().filter_map(|(name, fd, flags)| {
            let fd = PollFd::from_borrowed_fd(fd?, flags);
            Some((name, fd))
        });
        let (mut names, mut fds): (Vec<T>, Vec<_>) = open.unzip();
        // An error is EINTR or ENOMEM: the caller tries again until its own limit.
        let polled = rustix::event::poll(&mut fds, timeout.as_ref());
        if polled.is_ok_and(|count| count > 0) {
            self.pause = SHORTEST;
        } else {
            self.pause = (self.pause * 2).min(LONGEST);
            return Vec::new();
        }
        let mut fds = fds.iter();
        names.retain(|_| fds.next().is_some_and(|fd| !fd.revents().is_empty()));
        names
    }
}
