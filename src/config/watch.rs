//! Loads hooks again when their files change: a thread reads them four times a second.
//!
//! It asks the system for no notifications: these need a directory that exists, and are missing on network file systems
//! and in some containers. Reading a few small files takes less than a thousandth of the time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::last_good::LastGood;
use super::places::absolute;
use super::report::{LoadReport, TrustPolicy};
use super::{HookConfig, Installed, file};
use crate::json;
use crate::logging::{error, info, log_safely};
use crate::registry::HookRegistry;

/// The interval at which the files are read.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// An editor that saves a file makes several changes: a load waits until there was no change for this time.
const QUIET: Duration = Duration::from_millis(100);
const LONGEST_UNREST: Duration = Duration::from_millis(750);

/// The most reports that wait for a host to read them; more are dropped.
const MOST_REPORTS: usize = 64;

/// Keeps hooks up to date until it is dropped, see [`HookConfig::watch`]. The registered hooks then stay.
#[derive(Debug)]
#[must_use = "dropping it stops watching"]
pub struct HookWatcher {
    report: Arc<LoadReport>,
    reports: Receiver<LoadReport>,
    /// The thread ends when this is dropped with the watcher.
    _stop: Sender<()>,
}

impl HookWatcher {
    /// The report of the first load.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// The reports of later loads, one for each change, for a host that shows them. If a file cannot be
    /// used, [`LoadReport::in_use`] counts its last good hooks. Holds at most 64.
    #[must_use]
    pub fn reports(&self) -> &Receiver<LoadReport> {
        &self.reports
    }
}

/// Error watching hooks files. The hooks have not been loaded either.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch hooks files")]
#[non_exhaustive]
pub struct WatchError {
    /// The cause, for example that no thread can be started.
    pub source: std::io::Error,
}

impl HookConfig {
    /// Loads the user's and the project's hooks as [`load_into`](HookConfig::load_into) does, and again
    /// whenever one of their files changes, appears or vanishes, or an approval changes. An event sees the
    /// old hooks or the new ones, never a mixture.
    ///
    /// While some part of a file cannot be used, this file's last good hooks stay, and a warning is logged. They need
    /// their approval as before. The other files are loaded again. A file that was never good since the watcher began
    /// gets placeholder hooks, as with `load_into`. Hooks that the host has registered itself are not changed; hooks
    /// that are loaded again come after them.
    ///
    /// A thread reads the files four times a second. A change is loaded when the files have not changed for 100 ms. For a
    /// file with incomplete JSON (an editor may be writing it), the time is 200 ms. Every change is loaded after about one
    /// second at most.
    ///
    /// Needs the feature `watch`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn watch(
        &self,
        registry: Arc<HookRegistry>,
        root: impl AsRef<Path>,
        policy: TrustPolicy,
    ) -> Result<HookWatcher, WatchError> {
        let installed = Arc::new(Installed::new(registry));
        self.watch_installed(installed, Some(root.as_ref()), Some(policy))
    }

    /// Continues after an earlier load. Without a root or a policy, loads only the user's hooks.
    pub(crate) fn watch_installed(
        &self,
        installed: Arc<Installed>,
        root: Option<&Path>,
        policy: Option<TrustPolicy>,
    ) -> Result<HookWatcher, WatchError> {
        let (stop, stopped) = bounded(0);
        let (sender, reports) = bounded(MOST_REPORTS);
        let mut watching = Watching {
            config: self.clone(),
            installed,
            root: root.map(absolute),
            policy,
            last_good: LastGood::default(),
            reports: sender,
            stopped,
            loaded: Vec::new(),
        };
        // The hooks are loaded on the calling thread, if a thread can be started at all.
        let (begin, begins) = bounded::<Watching>(1);
        let work = move || {
            let watched = begins.recv().map(|watching| log_safely(|| watching.run()));
            if watched == Ok(None) {
                error!("the watcher of hooks files has panicked: changes are not loaded any more");
            }
        };
        let name = thread::Builder::new().name("forge-hooks-watch".to_owned());
        name.spawn(work).map_err(|source| WatchError { source })?;
        // The state of the files is read before they are loaded, so that no change is missed.
        watching.loaded = watching.look();
        let report = watching.load();
        // Sending cannot fail: the channel is empty, and the thread receives from it.
        let _ = begin.try_send(watching);
        Ok(HookWatcher {
            report,
            reports,
            _stop: stop,
        })
    }
}

/// A file and its text, with its warning; none if it does not exist. A file that cannot be used has the reason and the
/// time of its last change.
type Look = (PathBuf, Result<Option<(String, Option<String>)>, String>);

struct Watching {
    config: HookConfig,
    installed: Arc<Installed>,
    root: Option<PathBuf>,
    policy: Option<TrustPolicy>,
    last_good: LastGood,
    reports: Sender<LoadReport>,
    /// The channel carries nothing. It is disconnected when the watcher is dropped.
    stopped: Receiver<()>,
    /// The files as they were before the last load.
    loaded: Vec<Look>,
}

impl Watching {
    fn run(mut self) {
        let mut seen = Vec::new();
        let mut quiet = 0;
        let mut changed = None;
        while self.sleep(if changed.is_some() {
            QUIET
        } else {
            LOOK_INTERVAL
        }) {
            let now = self.look();
            quiet = if now == seen { quiet + 1 } else { 0 };
            seen = now;
            if seen == self.loaded {
                changed = None;
                continue;
            }
            let since = *changed.get_or_insert_with(Instant::now);
            // A file that ends in the middle waits twice as long.
            let is_quiet = quiet > 1 || (quiet == 1 && is_whole(&seen));
            if is_quiet || since.elapsed() >= LONGEST_UNREST {
                self.loaded = std::mem::take(&mut seen);
                changed = None;
                let report = self.load();
                info!("hooks were loaded again: {} are in use", report.in_use);
                // The queue is full if the host does not read the reports.
                let _ = self.reports.try_send(LoadReport::clone(&report));
            }
        }
    }

    /// Waits for the next look at the files. Returns false when the watcher is dropped.
    fn sleep(&self, time: Duration) -> bool {
        self.stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    fn load(&mut self) -> Arc<LoadReport> {
        let (root, policy) = (self.root.as_deref(), self.policy.as_ref());
        let change = |files: &mut [_]| self.last_good.apply(files);
        self.config
            .install_changed(&self.installed, root, policy, change)
    }

    /// Reads the files that decide which hooks there are and may run.
    fn look(&self) -> Vec<Look> {
        let files = self.config.files(self.root.as_deref()).into_iter();
        let mut paths: Vec<_> = files.map(|file| file.path).collect();
        if let Some(TrustPolicy::Approved(store)) = &self.policy {
            paths.push(store.path().to_owned());
        }
        paths.into_iter().map(look_at).collect()
    }
}

fn look_at(path: PathBuf) -> Look {
    let text = file::read(&path).map_err(|error| {
        let changed = path
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok();
        format!("{error} {changed:?}")
    });
    let text = text.map(|text| text.map(|file| (file.text, file.warning)));
    (path, text)
}

/// Returns whether each file is one complete object, of this crate or of another agent.
fn is_whole(files: &[Look]) -> bool {
    files.iter().all(|(_, text)| match text {
        Ok(Some((text, _))) => json::parse_object(&json::readable(text)).is_ok(),
        Ok(None) => true,
        Err(_) => false,
    })
}
