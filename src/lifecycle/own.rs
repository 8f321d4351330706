//! A custom action of the host, between events that it has declared.

use std::fmt;

use serde_json::Value;

use super::action::{Action, Begins, Request, Running};
use super::table::{Row, own_row};
use crate::error::SetupError;
use crate::events::{EventSpec, built_in};
use crate::outcome::{HookBlockedError, Outcome};

/// A custom action of the host: an event before it, one after it, and one if it fails.
///
/// A panic, a `?` or a cancelled future between them cannot skip the event of its end; see
/// [`Lifecycle::action`](super::Lifecycle::action).
///
/// ```
/// use forge_hooks::lifecycle::OwnAction;
/// use forge_hooks::{AppProfile, EventSpec, Hooks};
///
/// # let home = tempfile::tempdir()?;
/// # let file = home.path().join("save");
/// let before = EventSpec::named("game:will_save");
/// let after = EventSpec::named("game:saved").notify_only();
/// let failed = EventSpec::named("game:not_saved").notify_only();
/// let saving = OwnAction::new(&before, &after, &failed)?;
/// let builder = [before, after, failed].into_iter().fold(
///     Hooks::builder(AppProfile::new("mygame")),
///     |builder, event| builder.event(event),
/// );
/// # let builder = builder.config_home(home.path());
/// let hooks = builder.load();
///
/// let saved = hooks.lifecycle().action(&saving).with_field("slot", 1).run(|action| {
///     std::fs::write(&file, "level 2")?; // an error fires `game:not_saved`
///     action.set_field("bytes", 7); // for `game:saved`
///     std::io::Result::Ok(())
/// });
/// match saved {
///     Ok(written) => written?,
///     Err(blocked) => println!("{blocked}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OwnAction {
    row: Row,
}

impl OwnAction {
    /// Creates an action of these events. Hooks can block the first one, unless the host has declared that it [only
    /// notifies](EventSpec::notify_only). The last one has the message of the error as `error`.
    ///
    /// # Errors
    /// If one of the events is not a custom one, or is the first one again: guards of built-in events expect the data that
    /// [`Lifecycle`](super::Lifecycle) gives them.
    pub fn new(
        before: &EventSpec,
        after: &EventSpec,
        failed: &EventSpec,
    ) -> Result<Self, SetupError> {
        let events = [before, after, failed].map(EventSpec::event_type);
        if let Some(known) = events.iter().find(|event| event.is_known()) {
            return Err(built_in(known.as_str()));
        }
        if events[1..].contains(&events[0]) {
            let name = events[0];
            return Err(SetupError::new(format_args!(
                "`{name}` is both before and after an action: declare an event for each"
            )));
        }
        Ok(Self {
            row: own_row(events),
        })
    }

    pub(super) fn row(&self) -> Row {
        self.row.clone()
    }
}

impl Action for OwnAction {}
impl Begins for OwnAction {}

impl Request<'_, OwnAction> {
    /// Fires the event before the action, calls the function, and fires the event after it, or that of its failure with the
    /// message of the error. Hooks that fail at the last event are in [`take_failures`](crate::Hooks::take_failures).
    ///
    /// # Errors
    /// The errors of [`begin`](Request::begin). The function has not been called then.
    pub fn run<T, E: fmt::Display>(
        self,
        work: impl FnOnce(&mut Running<OwnAction>) -> Result<T, E>,
    ) -> Result<Result<T, E>, HookBlockedError> {
        let mut running = self.begin()?;
        let done = work(&mut running);
        running.open.end_unseen(done.as_ref().map(|_| Value::Null));
        Ok(done)
    }
}

impl Running<OwnAction> {
    /// Sets a field of the data of the end's event, if its value is known only now.
    pub fn set_field(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.open.set_field(name.into(), value.into());
    }

    /// Fires the event after the action, or that of its failure with the message of the error. Returns the outcome; none if
    /// it was not waited for.
    pub fn finish<E: fmt::Display>(mut self, result: Result<(), E>) -> Option<Outcome> {
        self.open.end(result.map(|()| Value::Null))
    }
}
