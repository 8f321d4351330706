//! Loads hooks again when their files change.
//!
//! The system reports changes where the files are, or could be. The files are also checked every two seconds,
//! since some file systems report nothing.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::last_good::LastGood;
use super::places::absolute;
use super::report::{LoadReport, TrustPolicy};
use super::tree;
use super::{HookConfig, Installed, file};
use crate::logging::{error, info, log_safely, warn};
use crate::registry::HookRegistry;

/// An editor that saves a file makes several changes: a load waits until there was no change for this time.
const QUIET: Duration = Duration::from_millis(100);
const LONGEST_UNREST: Duration = Duration::from_secs(1);

/// How often the files are checked if no change is reported.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// The most reports that wait for a host to read them; more are dropped.
const MOST_REPORTS: usize = 64;

/// Keeps hooks up to date until it is dropped, see [`HookConfig::watch`]. The registered hooks then stay.
#[must_use = "dropping it stops watching"]
pub struct HookWatcher {
    report: Arc<LoadReport>,
    reports: Receiver<LoadReport>,
    /// Dropped with the watcher, which ends its thread.
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

impl fmt::Debug for HookWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookWatcher")
            .field("report", &self.report)
            .finish_non_exhaustive()
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
    /// that are loaded again come after them. A
    /// change is loaded when the files have not changed for 100 ms. For a file with incomplete JSON (an
    /// editor may be writing it), the time is 200 ms. Every change is loaded after one second at most. On a
    /// file system that does not report changes (a network's, for example), a change is noticed after up to
    /// two seconds.
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
            watcher: None,
            watched: HashSet::new(),
            files: Vec::new(),
            loaded: 0,
        };
        let name = thread::Builder::new().name("forge-hooks-watch".to_owned());
        // The thread begins when it has a state to compare with. The hooks are loaded on the calling thread,
        // which does not wait for the system to begin watching.
        let (begin, begins) = bounded::<Watching>(1);
        let work = move || {
            if let Ok(watching) = begins.recv()
                && log_safely(|| watching.run(&stopped)).is_none()
            {
                error!("the watcher of hooks files has panicked: changes are not loaded any more");
            }
        };
        name.spawn(work).map_err(|source| WatchError { source })?;
        let report = watching.load_first();
        // Cannot fail: the channel is empty, and the thread receives from it.
        let _ = begin.try_send(watching);
        Ok(HookWatcher {
            report,
            reports,
            _stop: stop,
        })
    }
}

/// The most reports of the system that wait while the files are being read.
const MOST_EVENTS: usize = 1024;

/// A report of the system.
type FileEvent = notify::Result<notify::Event>;

struct Watching {
    config: HookConfig,
    installed: Arc<Installed>,
    root: Option<PathBuf>,
    policy: Option<TrustPolicy>,
    last_good: LastGood,
    reports: Sender<LoadReport>,
    /// None if the system cannot report changes.
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    /// The files that are read, whether they exist or not.
    files: Vec<PathBuf>,
    /// The digest of the loaded files.
    loaded: u64,
}

impl Watching {
    fn load_first(&mut self) -> Arc<LoadReport> {
        self.files = self.find_files();
        // Before the files are loaded, so that no change is missed.
        self.loaded = self.digest();
        self.load()
    }

    fn run(mut self, stopped: &Receiver<()>) {
        let (sender, events) = bounded(MOST_EVENTS);
        // Keeps the channel open. Without a watcher, its end would be received at once.
        let _kept = sender.clone();
        let forward = move |event| {
            if !is_reading(&event) {
                // If the channel is full, the reports in it suffice to check the files.
                let _ = sender.try_send(event);
            }
        };
        self.watcher = match log_safely(|| notify::recommended_watcher(forward)) {
            Some(Ok(watcher)) => Some(watcher),
            Some(Err(error)) => {
                warn!("the system does not report changes of hooks files: {error}");
                None
            }
            None => None,
        };
        let mut is_notified = false;
        loop {
            self.follow();
            if is_notified || self.digest() != self.loaded {
                let Some(digest) = self.digest_when_quiet(&events, stopped) else {
                    return;
                };
                if std::mem::replace(&mut self.loaded, digest) != digest {
                    self.load_anew();
                }
            }
            let next_look = Instant::now() + LOOK_INTERVAL;
            let Some(is_change) = self.await_change(&events, stopped, next_look) else {
                return;
            };
            is_notified = is_change;
        }
    }

    /// Returns the digest when nothing has changed for a while. A file that ends in the middle is read once
    /// more. None when the watcher is dropped.
    fn digest_when_quiet(
        &self,
        events: &Receiver<FileEvent>,
        stopped: &Receiver<()>,
    ) -> Option<u64> {
        let end = Instant::now() + LONGEST_UNREST;
        let mut before = None;
        loop {
            let mut until = Instant::now() + QUIET;
            while self.await_change(events, stopped, until.min(end))? {
                until = Instant::now() + QUIET;
            }
            let digest = self.digest();
            if before == Some(digest) || Instant::now() >= end || self.is_whole() {
                return Some(digest);
            }
            before = Some(digest);
        }
    }

    /// Returns whether a change is reported before `until`. None when the watcher is dropped. Other reports must
    /// not end the wait: the reading after it causes some.
    fn await_change(
        &self,
        events: &Receiver<FileEvent>,
        stopped: &Receiver<()>,
        until: Instant,
    ) -> Option<bool> {
        let time_is_up = crossbeam_channel::at(until);
        loop {
            crossbeam_channel::select! {
                recv(stopped) -> _ => return None,
                recv(time_is_up) -> _ => return Some(false),
                recv(events) -> event => if event.is_ok_and(|event| self.concerns(&event)) {
                    return Some(true);
                },
            }
        }
    }

    fn load_anew(&mut self) {
        let report = self.load();
        info!("hooks were loaded again: {} are in use", report.in_use);
        // Full: the host does not read them.
        let _ = self.reports.try_send(LoadReport::clone(&report));
    }

    fn load(&mut self) -> Arc<LoadReport> {
        let last_good = &mut self.last_good;
        self.config.install_changed(
            &self.installed,
            self.root.as_deref(),
            self.policy.as_ref(),
            |files| last_good.apply(files),
        )
    }

    /// Returns the paths of the files, whether they exist or not.
    fn find_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = self.config.system_path().into_iter().collect();
        files.extend(self.config.global_candidates());
        if let Some(root) = &self.root {
            files.extend(self.config.project_candidates(root));
        }
        let with_user = self.config.has_global_files();
        for source in &self.config.sources {
            let others = source.files(self.root.as_deref(), with_user);
            files.extend(others.into_iter().map(|file| file.path));
        }
        if let Some(TrustPolicy::Approved(store)) = &self.policy {
            files.push(store.path().to_owned());
        }
        let targets: Vec<_> = files
            .iter()
            .filter_map(|file| file.canonicalize().ok())
            .collect();
        files.extend(targets);
        files
    }

    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for path in &self.files {
            match file::read(path) {
                Ok(None) => 0.hash(&mut hasher),
                Ok(Some(file::Text { text, warning })) => (text, warning).hash(&mut hasher),
                Err(error) => error.to_string().hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// Returns whether each file is one complete object, of this crate or of another tool.
    fn is_whole(&self) -> bool {
        self.files.iter().all(|path| match file::read(path) {
            Ok(Some(file)) => tree::parse_object(file::without_mark(&file.text).0).is_ok(),
            Ok(None) => true,
            Err(_) => false,
        })
    }

    /// Returns whether the event may be a change of the files.
    fn concerns(&self, event: &FileEvent) -> bool {
        let Ok(event) = event else { return true };
        let concerns = |path: &PathBuf| self.files.iter().any(|file| file.starts_with(path));
        event.need_rescan() || event.paths.iter().any(concerns)
    }

    /// Finds the files again, and makes the system report changes in the directory of each, or in the nearest
    /// existing directory above it.
    fn follow(&mut self) {
        self.files = self.find_files();
        let existing = |file: &PathBuf| {
            let mut directories = file.ancestors().skip(1);
            directories
                .find(|directory| directory.is_dir())
                .map(Path::to_owned)
        };
        let wanted: HashSet<PathBuf> = self.files.iter().filter_map(existing).collect();
        let unwanted: Vec<_> = self.watched.difference(&wanted).cloned().collect();
        for directory in unwanted {
            // An error means that the directory is gone.
            self.with_watcher(|watcher| watcher.unwatch(&directory));
        }
        // Directories that are watched already are included, since one may have been removed and created
        // again.
        self.watched = wanted
            .into_iter()
            .filter(|directory| {
                self.with_watcher(|watcher| watcher.watch(directory, RecursiveMode::NonRecursive))
            })
            .collect();
    }

    /// Returns whether the call succeeds. The watcher has a thread that writes to the log too. If a logger's panic has
    /// ended that thread, each call panics, also the drop, so the watcher is leaked.
    fn with_watcher(
        &mut self,
        call: impl FnOnce(&mut RecommendedWatcher) -> notify::Result<()>,
    ) -> bool {
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        let called = log_safely(|| call(watcher));
        if called.is_none() {
            std::mem::forget(self.watcher.take());
            warn!(
                "a logger has panicked in the watcher of files, which has stopped: changes of hooks files are now found by \
                 a check every two seconds"
            );
        }
        called.is_some_and(|result| result.is_ok())
    }
}

/// Returns whether the event is not a change. The watcher itself reads the files.
fn is_reading(event: &FileEvent) -> bool {
    let Ok(event) = event else { return false };
    matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}
