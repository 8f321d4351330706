//! Hooks that are loaded anew when their files change.
//!
//! The system says when something happens where the files are, or could be; every few seconds they
//! are looked at all the same, for some file systems say nothing.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use log::{info, warn};
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::report::{LoadReport, TrustPolicy};
use super::{Found, HookConfig, Installed, admission};
use crate::hook::Hook;
use crate::registry::HookRegistry;

/// Whoever saves a file does several things to it: they are waited for, so long.
const QUIET: Duration = Duration::from_millis(50);
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

    /// What was found each time that they were loaded anew, for a host that shows it: whether the
    /// hooks of it are used, [`LoadReport::is_ok`] says but for approvals. Holds 64 at most.
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
    /// it. A change is seen within a fraction of a second, on a file system that does not tell of
    /// changes (a network's, say) within a few.
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
        let absolute = |root: &Path| std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
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

fn await_quiet<T>(events: &Receiver<T>) {
    let end = Instant::now() + LONGEST_UNREST;
    while Instant::now() < end
        && !matches!(events.recv_timeout(QUIET), Err(RecvTimeoutError::Timeout))
    {}
}

struct Watching {
    config: HookConfig,
    installed: Arc<Installed>,
    root: Option<PathBuf>,
    policy: Option<TrustPolicy>,
    hooks: Vec<Arc<Hook>>,
    reports: Sender<LoadReport>,
    /// None where the system cannot tell of changes.
    watcher: Option<RecommendedWatcher>,
    watched: HashSet<PathBuf>,
    seen: Vec<Stamp>,
}

/// By which a change of a file is seen without being told.
type Stamp = Option<(SystemTime, u64)>;

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
            hooks: Vec::new(),
            reports,
            watcher: None,
            watched: HashSet::new(),
            seen: Vec::new(),
        }
    }

    fn load_first(&mut self) -> Arc<LoadReport> {
        // Before they are read, so that no change is missed.
        self.seen = self.stamps();
        let Found { report, hooks, .. } =
            self.config.find(self.root.as_deref(), self.policy.as_ref());
        self.register(hooks);
        self.installed.set_report(report)
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
                self.load_anew();
            }
            told = crossbeam_channel::select! {
                recv(stopped) -> _ => return,
                recv(events) -> event => event.is_ok_and(|event| self.concerns(&event)),
                default(LOOK_INTERVAL) => false,
            };
            if told {
                await_quiet(&events);
            }
        }
    }

    fn load_anew(&mut self) {
        self.seen = self.stamps();
        let Found {
            report,
            hooks,
            is_broken,
        } = self.config.find(self.root.as_deref(), self.policy.as_ref());
        if is_broken {
            warn!("hooks files cannot be used as they are: the hooks before the change stay");
            // But not what has been revoked meanwhile.
            if let (Some(root), Some(policy)) = (&self.root, &self.policy) {
                self.register(admission::judge_again(&self.hooks, root, policy));
            }
        } else {
            info!("{} hooks were loaded anew", hooks.len());
            self.register(hooks);
        }
        self.installed.set_report(report.clone());
        // Full: nobody reads them.
        let _ = self.reports.try_send(report);
    }

    fn register(&mut self, hooks: Vec<Arc<Hook>>) {
        self.hooks.clone_from(&hooks);
        self.installed.replace(hooks);
    }

    /// The files, whether they are there or not.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = self.config.global_candidates();
        if let Some(root) = &self.root {
            files.extend(self.config.project_candidates(root));
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

    fn stamps(&self) -> Vec<Stamp> {
        let stamp = |file: PathBuf| {
            let metadata = file.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        self.files().into_iter().map(stamp).collect()
    }

    /// To read is no change, and this is who reads.
    fn concerns(&self, event: &notify::Result<notify::Event>) -> bool {
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
