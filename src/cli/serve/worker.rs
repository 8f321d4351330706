//! Handles the requests that read files, which may take long: one after the other, on a thread of its own.
//!
//! Does not know how answers are sent.

use crossbeam_channel::{Sender, bounded};
use serde::Serialize;
use serde_json::Value;

use super::message::{Approve, Block, Code, Id, Initialize, Initialized, Refusal, Reloaded};
use crate::Hooks;
use crate::cli::CommandError;
use crate::cli::confirm::refuse_below_an_agent;
use crate::cli::error::with_causes;
use crate::cli::io::start;
use crate::config::Review;
use crate::error::SetupError;

/// The most requests that wait.
const MOST_TASKS: usize = 16;

pub(super) type Answer = Result<Value, Refusal>;

pub(super) enum Task {
    Initialize(Initialize),
    Approvals,
    Approve(Approve),
    Revoke,
    Reload,
}

/// The queue of a thread that answers requests, one after the other.
pub(super) struct Worker(Sender<(Id, Task)>);

impl Worker {
    /// Starts the thread. `messages` returns the lines about these hooks to show the user.
    pub(super) fn start(
        hooks: Hooks,
        messages: impl Fn(&Hooks) -> Vec<String> + Send + 'static,
        answered: impl Fn(Id, Answer) + Send + 'static,
    ) -> Result<Self, CommandError> {
        let (sender, tasks) = bounded::<(Id, Task)>(MOST_TASKS);
        start(move || {
            for (id, task) in tasks {
                answered(id, task.answer(&hooks, &messages));
            }
        })?;
        Ok(Self(sender))
    }

    /// Queues a request.
    ///
    /// # Errors
    /// If too many requests wait.
    pub(super) fn submit(&self, id: &Id, task: Task) -> Result<(), Refusal> {
        let sent = self.0.try_send((id.clone(), task));
        sent.map_err(|_| Refusal::busy())
    }
}

impl Task {
    fn answer(self, hooks: &Hooks, messages: &dyn Fn(&Hooks) -> Vec<String>) -> Answer {
        match self {
            Self::Initialize(params) => {
                if let Some(command) = params.approve_command {
                    hooks.name_approve_command(command);
                }
                return answer_with(Initialized {
                    version: env!("CARGO_PKG_VERSION"),
                    messages: messages(hooks),
                    report: &hooks.report(),
                    // A project whose approvals cannot be read has a problem in the report.
                    approvals: waiting(hooks).unwrap_or_default().len(),
                });
            }
            Self::Approvals => return answer_with(waiting(hooks)?),
            Self::Approve(params) => approve(hooks, &params)?,
            Self::Revoke => revoke(hooks)?,
            Self::Reload => drop(hooks.reload()),
        }
        answer_with(Reloaded {
            messages: messages(hooks),
            report: &hooks.report(),
        })
    }
}

fn answer_with(result: impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|error| Code::Failed.refuses(error.to_string()))
}

/// Returns the hooks that a person must decide on; nothing while a hooks file has errors, which the report shows.
fn waiting(hooks: &Hooks) -> Result<Vec<Block>, SetupError> {
    let review = hooks.review()?;
    let waiting = review.filter(|review| review.report.is_ok() && !review.is_approved());
    let block = waiting.map(|Review { approval, .. }| Block {
        digest: approval.digest(),
        text: approval.to_string(),
        entries: approval.hooks,
    });
    Ok(block.into_iter().collect())
}

/// Approves the hooks if they have this digest now.
fn approve(hooks: &Hooks, params: &Approve) -> Result<(), Refusal> {
    refuse_below_an_agent()?;
    let mut is_asked = false;
    let is_approved = hooks.approve_with(|approval| {
        is_asked = true;
        approval.digest().eq_ignore_ascii_case(&params.digest)
    })?;
    let reason = match (is_asked, is_approved) {
        (true, true) => return Ok(()),
        (true, false) => "the hooks or their scripts are not those that were shown",
        (false, _) => "there is nothing to approve",
    };
    Err(Code::NotApproved.refuses(reason))
}

fn revoke(hooks: &Hooks) -> Result<(), Refusal> {
    refuse_below_an_agent()?;
    let project = hooks.trust().zip(hooks.project());
    let message = "no project whose hooks need an approval";
    let (store, root) = project.ok_or_else(|| Code::NotApproved.refuses(message))?;
    store.revoke(root)?;
    hooks.reload();
    Ok(())
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        Code::NotApproved.refuses(error.message)
    }
}

impl From<SetupError> for Refusal {
    fn from(error: SetupError) -> Self {
        Code::NotApproved.refuses(with_causes(&error))
    }
}
