//! A permit: a value which proves that hooks have allowed one call of a tool.
//!
//! The function that runs tools takes a permit, so the compiler finds a call of a tool that hooks have not seen. Knows
//! neither hooks nor events.

use std::fmt;

use serde_json::Value;

/// Proves that hooks, and the user if they ask, have allowed one call of a tool with these arguments.
///
/// Only [`Lifecycle::tool`](crate::Lifecycle::tool) gives a permit, and only after every guard has seen the arguments in it.
/// It cannot be copied or stored as text. The function of a host that runs tools takes a permit, in place of a name and
/// arguments, and consumes it: then no part of the host can run a tool that no hook has seen, run it with other arguments,
/// or run it twice for one yes.
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle, Permit};
/// use serde_json::json;
///
/// /// The only function that runs tools.
/// fn use_tool(permit: Permit) -> Result<String, String> {
///     match permit.tool() {
///         "ls" => Ok(format!("what is in {}", permit.args()["path"])),
///         other => Err(format!("there is no tool {other}")),
///     }
/// }
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let run = hooks.tool("ls", json!({"path": "."})).run(use_tool)?;
/// assert_eq!(run.output(), Ok(r#"what is in ".""#.to_owned()));
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
///
/// Each of these does not compile, since a permit is consumed:
///
/// ```compile_fail,E0382
/// # use forge_hooks::{HookBlockedError, HookExecutor, Lifecycle, Permit};
/// # fn use_tool(permit: Permit) -> Result<String, String> { Ok(permit.tool().to_owned()) }
/// # let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let run = hooks.tool("ls", ".").run(|permit| {
///     use_tool(permit)?;
///     use_tool(permit) // one yes is for one call
/// })?;
/// # Ok::<(), HookBlockedError>(())
/// ```
///
/// ```compile_fail,E0599
/// # use forge_hooks::{HookBlockedError, HookExecutor, Lifecycle, Permit};
/// # fn use_tool(permit: Permit) -> Result<String, String> { Ok(permit.tool().to_owned()) }
/// # let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let run = hooks.tool("ls", ".").run(|permit| {
///     use_tool(permit.clone())?;
///     use_tool(permit)
/// })?;
/// # Ok::<(), HookBlockedError>(())
/// ```
///
/// The tests of a host get one from a lifecycle without hooks, as here.
#[must_use = "hooks have allowed a call, and it is not made"]
pub struct Permit {
    tool: String,
    args: Value,
}

impl Permit {
    pub(super) fn new(tool: String, args: Value) -> Self {
        Self { tool, args }
    }

    /// Returns the host's name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments, with the changes of hooks.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.args
    }

    /// Returns the host's name of the tool, and the arguments, by value.
    #[must_use]
    pub fn into_parts(self) -> (String, Value) {
        (self.tool, self.args)
    }

    /// Returns the arguments by value.
    #[must_use]
    pub fn into_args(self) -> Value {
        self.args
    }
}

/// Hides the arguments, which may contain secrets.
impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
