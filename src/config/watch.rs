//! Hooks that are loaded anew when their files change.
//!
//! The system says when something happens where the files are, or could be; every few seconds they
//! are looked at all the same, for some file systems say nothing.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, Sender, bounded};
use log::{info, warn};
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::outline::Outline;
use super::places::absolute;
use super::report::{LoadReport, TrustPolicy, in_use};
use super::{Found, HookConfig, Installed, admission, file};
use crate::registry::HookRegistry;

/// An editor that saves a file makes several changes: a load waits until there was none for so long.
const QUIET: Duration = Duration::from_millis(100);
const LONGEST_UNREST: Duration = Duration::from_secs(1);

/// How often the files are looked at where nothing is heard.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// So many reports wait for a host that does not read them; more are dropped.
const MOST_REPORTS: usize = 64;

/// Keeps hooks up to date until it is dropped, see [`HookConfig::watch`]. What is registered then
/// stays.
#[must_use = "nothing is watched any more when it is dropped"]
pub struct HookWatcher {
    report: Arc<LoadReport>,
    reports: Receiver<LoadReport>,
    /// Dropped with the watcher: its thread ends.
    _stop: Sender<()>,
}

impl HookWatcher {
    /// What was found when the files were loaded first.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// What was found each time that they were loaded anew, one report for each change, for a host
    /// that shows it. [`LoadReport::in_use`] counts the hooks before the change where those behind it
    /// cannot be used. Holds 64 at most.
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

/// Why hooks cannot be kept up to date. They have not been loaded either.
#[derive(Debug, thiserror::Error)]
#[error("could not watch hooks files")]
#[non_exhaustive]
pub struct WatchError {
    /// Why: no threads left, say.
    pub source: std::io::Error,
}

impl HookConfig {
    /// Loads the user's and the project's hooks as [`load_into`](HookConfig::load_into) does, and
    /// again whenever one of their files changes, appears or vanishes, or an approval does. An event
    /// sees the old hooks or the new ones, never some of each.
    ///
    /// While something in a file cannot be used, the last good hooks stay, and a warning is logged.
    /// What the host has registered itself is not touched; hooks that were loaded anew come behind
    /// it. A change is loaded when the files have not changed for 100 ms, a file that is not whole JSON
    /// (an editor may be writing it) when they have not for 200 ms, any after one second at most. On a
    /// file system that does not report changes (a network's, say), it is noticed after up to two
    /// seconds.
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

    /// Goes on from what was loaded before. Without a root or a policy, with the user's hooks alone.
    pub(crate) fn watch_installed(
        &self,
        installed: Arc<Installed>,
        root: Option<&Path>,
        policy: Option<TrustPolicy>,
    ) -> Result<HookWatcher, WatchError> {
        let root = root.map(absolute);
        let (stop, stopped) = bounded(0);
        let (sender, reports) = bounded(MOST_REPORTS);
        let mut watching = Watching::new(self.clone(), installed, root, policy, sender);
        let name = thread::Builder::new().name("forge-hooks-watch".to_owned());
        // It begins when there is something to compare with: the hooks are loaded on this thread,
        // which waits for nobody, least of all for the system to begin to watch.
        let (begin, begins) = bounded::<Watching>(1);
        let work = move || {
            begins
                .into_iter()
                .for_each(|watching| watching.run(&stopped))
        };
        name.spawn(work).map_err(|source| WatchError { source })?;
        let report = watching.load_first();
        // There is room, and the thread waits for it.
        let _ = begin.try_send(watching);
        Ok(HookWatcher {
            report,
            reports,
            _stop: stop,
        })
    }
}

/// So many events wait while the files are being read.
const MOST_EVENTS: usize = 1024;

/// What the system reports.
type FileEvent = notify::Result<notify::Event>;

struct Watching {
    config: HookConfig,
    installed: Arc<Installed>,
    root: Option<PathBuf>,
    policy: Option<TrustPolicy>,
    reports: Sender<LoadReport>,
    /// None where the system cannot tell of changes.
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    seen: Vec<Stamp>,
    /// The digest of what was loaded.
    loaded: u64,
}

/// Shows a change of a file that is not reported.
type Stamp = Option<(SystemTime, u64)>;

/// The files as they are, with their stamps from before they were read.
struct Reading {
    stamps: Vec<Stamp>,
    digest: u64,
    /// None ends in the middle.
    is_whole: bool,
}

impl Watching {
    fn new(
        config: HookConfig,
        installed: Arc<Installed>,
        root: Option<PathBuf>,
        policy: Option<TrustPolicy>,
        reports: Sender<LoadReport>,
    ) -> Self {
        Self {
            config,
            installed,
            root,
            policy,
            reports,
            watcher: None,
            watched: HashSet::new(),
            seen: Vec::new(),
            loaded: 0,
        }
    }

    fn load_first(&mut self) -> Arc<LoadReport> {
        // Before they are loaded, so that no change is missed.
        self.note(self.reading());
        let (root, policy) = (self.root.as_deref(), self.policy.as_ref());
        self.config.install(&self.installed, root, policy)
    }

    fn run(mut self, stopped: &Receiver<()>) {
        let (sender, events) = bounded(MOST_EVENTS);
        // Where there is no watcher, nothing is heard; the end of the channel would be heard at once.
        let _kept = sender.clone();
        let tell = move |event| {
            // Full: there is enough to look at the files for.
            let _ = sender.try_send(event);
        };
        let watcher = notify::recommended_watcher(tell);
        let watcher =
            watcher.inspect_err(|error| warn!("changes of hooks files are not told: {error}"));
        self.watcher = watcher.ok();
        let mut told = false;
        loop {
            self.follow();
            if told || self.stamps() != self.seen {
                let Some(reading) = self.read_when_quiet(&events, stopped) else {
                    return;
                };
                if reading.digest != self.loaded {
                    self.note(reading);
                    self.load_anew();
                } else {
                    self.note(reading);
                }
            }
            told = crossbeam_channel::select! {
                recv(stopped) -> _ => return,
                recv(events) -> event => event.is_ok_and(|event| self.concerns(&event)),
                default(LOOK_INTERVAL) => false,
            };
        }
    }

    /// The files when nothing has changed for a while; a file that ends in the middle is looked at
    /// once more. None when the watcher is gone.
    fn read_when_quiet(
        &self,
        events: &Receiver<FileEvent>,
        stopped: &Receiver<()>,
    ) -> Option<Reading> {
        let end = Instant::now() + LONGEST_UNREST;
        let mut before = None;
        loop {
            if !self.await_quiet(events, stopped, end) {
                return None;
            }
            let reading = self.reading();
            let is_same = before == Some(reading.digest);
            if reading.is_whole || is_same || Instant::now() >= end {
                return Some(reading);
            }
            before = Some(reading.digest);
        }
    }

    /// False when the watcher is gone.
    fn await_quiet(
        &self,
        events: &Receiver<FileEvent>,
        stopped: &Receiver<()>,
        end: Instant,
    ) -> bool {
        let mut until = Instant::now() + QUIET;
        loop {
            let is_quiet = crossbeam_channel::at(until.min(end));
            crossbeam_channel::select! {
                recv(stopped) -> _ => return false,
                recv(is_quiet) -> _ => return true,
                recv(events) -> event => if event.is_ok_and(|event| self.concerns(&event)) {
                    until = Instant::now() + QUIET;
                },
            }
        }
    }

    fn note(&mut self, reading: Reading) {
        self.seen = reading.stamps;
        self.loaded = reading.digest;
    }

    fn load_anew(&self) {
        let report = loop {
            if let Some(report) = self.load() {
                break report;
            }
        };
        // Full: nobody reads them.
        let _ = self.reports.try_send(LoadReport::clone(&report));
    }

    /// None where the host has loaded them at the same time.
    fn load(&self) -> Option<Arc<LoadReport>> {
        let loads = self.installed.loads();
        let Found {
            mut report,
            mut hooks,
            is_broken,
        } = self.config.find(self.root.as_deref(), self.policy.as_ref());
        if is_broken {
            warn!("hooks files cannot be used as they are: the hooks before the change stay");
            hooks = self.installed.hooks();
            // But not what has been revoked meanwhile.
            if let (Some(root), Some(policy)) = (&self.root, &self.policy) {
                hooks = admission::judge_again(&hooks, root, policy);
            }
        } else {
            info!("{} hooks were loaded anew", hooks.len());
        }
        report.in_use = in_use(&hooks);
        self.installed.replace(loads, &hooks, report)
    }

    /// The files, whether they are there or not.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = self.config.global_candidates();
        if let Some(root) = &self.root {
            files.extend(self.config.project_candidates(root));
        }
        files.extend(self.config.other_tools.paths(self.root.as_deref()));
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

    fn stamps(&self) -> Vec<Stamp> {
        let stamp = |file: PathBuf| {
            let metadata = file.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        self.files().into_iter().map(stamp).collect()
    }

    fn reading(&self) -> Reading {
        let stamps = self.stamps();
        let mut hasher = DefaultHasher::new();
        stamps.hash(&mut hasher);
        let mut is_whole = true;
        for path in self.files() {
            match file::read(&path) {
                Ok(None) => {}
                Ok(Some(file::Text { text, warning })) => {
                    is_whole &= Outline::of(file::without_mark(&text).0).is_ok();
                    (text, warning).hash(&mut hasher);
                }
                Err(error) => {
                    is_whole = false;
                    error.to_string().hash(&mut hasher);
                }
            }
        }
        Reading {
            stamps,
            digest: hasher.finish(),
            is_whole,
        }
    }

    /// To read is no change, and this is who reads.
    fn concerns(&self, event: &FileEvent) -> bool {
        let Ok(event) = event else { return true };
        let is_access = matches!(event.kind, EventKind::Access(kind)
            if kind != AccessKind::Close(AccessMode::Write));
        let files = self.files();
        let concerns = |path: &PathBuf| files.iter().any(|file| file.starts_with(path));
        !is_access && (event.need_rescan() || event.paths.iter().any(concerns))
    }

    /// Has the system tell of changes in the folder of each file, or in the nearest above it that
    /// there is.
    fn follow(&mut self) {
        let existing = |file: &PathBuf| {
            let mut folders = file.ancestors().skip(1);
            folders.find(|folder| folder.is_dir()).map(Path::to_owned)
        };
        let wanted: HashSet<PathBuf> = self.files().iter().filter_map(existing).collect();
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        for folder in self.watched.difference(&wanted) {
            // An error is a folder that is gone.
            let _ = watcher.unwatch(folder);
        }
        // Those that are watched already too: one may have been taken away and made anew.
        self.watched = wanted
            .into_iter()
            .filter(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok())
            .collect();
    }
}
