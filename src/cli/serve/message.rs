//! The messages of `serve`, each a struct, as docs/serve.md describes them; and how a line becomes a request.
//!
//! Answers nothing.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::LoadReport;
use crate::cli::error::json_words;
use crate::json::{self, Readable};
use crate::trust::Approved;

/// The identity of a request, chosen by the host. A number that would come back changed is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`id` is neither a whole number below 2^64 nor a text"
)]
pub(super) enum Id {
    Number(u64),
    Negative(i64),
    Text(String),
}

/// A value that is read from an object only. serde would also read the fields from a list, in their order.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        let value = T::deserialize(Value::Object(members));
        value.map(Self).map_err(D::Error::custom)
    }
}

/// The reason why a request has no result: the error of its response.
#[derive(Debug, Serialize)]
pub(super) struct Refusal {
    code: i32,
    message: Cow<'static, str>,
}

/// The codes of errors: those of JSON-RPC, and those of `serve`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Code {
    NotJson = -32700,
    NotARequest = -32600,
    UnknownMethod = -32601,
    Params = -32602,
    /// The system does not do what is needed.
    Failed = -32603,
    Busy = -32000,
    NotInitialized = -32002,
    Ending = -32003,
    /// Nothing was approved or withdrawn.
    NotApproved = -32004,
}

impl Code {
    pub(super) fn refuses(self, message: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            code: self as i32,
            message: message.into(),
        }
    }
}

impl Refusal {
    pub(super) fn busy() -> Self {
        Code::Busy.refuses("busy: too many requests have no response yet")
    }

    pub(super) fn ending() -> Self {
        Code::Ending.refuses("`shutdown` was called")
    }
}

/// A request, or a notification if it has no id.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming<'a> {
    #[serde(rename = "jsonrpc")]
    _version: Version,
    #[serde(default, deserialize_with = "not_null")]
    pub(super) id: Option<Id>,
    pub(super) method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Version {
    #[serde(rename = "2.0")]
    Two,
}

fn not_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Id>, D::Error> {
    Id::deserialize(deserializer).map(Some)
}

/// The most bytes of a line.
pub(super) const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Returns the text of a line.
pub(super) fn text_of(line: &[u8]) -> Result<Readable<'_>, Refusal> {
    if line.len() > LONGEST_LINE {
        let message = format!("a line has more than {} MiB", LONGEST_LINE >> 20);
        return Err(Code::NotARequest.refuses(message));
    }
    let text = str::from_utf8(line).map_err(|error| Code::NotJson.refuses(error.to_string()))?;
    Ok(json::readable(text))
}

/// Reads the text of a line. The error has the id, if there is one.
pub(super) fn parse(text: &str) -> Result<Incoming<'_>, (Option<Id>, Refusal)> {
    let message = if text.trim_start().starts_with('[') {
        Err(serde_json::Error::custom("a list"))
    } else {
        json::parse(text)
    };
    message.map_err(|why| {
        let value: Value = match json::parse(text) {
            Ok(value) => value,
            Err(error) => return (None, Code::NotJson.refuses(json_words(&error))),
        };
        let reason = match &value {
            Value::Array(_) => "batches are not supported".to_owned(),
            Value::Object(_) => format!("not a request of JSON-RPC 2.0: {}", json_words(&why)),
            _ => "expected an object".to_owned(),
        };
        let id = value.get("id").and_then(|id| Id::deserialize(id).ok());
        (id, Code::NotARequest.refuses(reason))
    })
}

impl Incoming<'_> {
    /// Reads the parameters. Missing ones are an empty object.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        match self.params.map_or("{}", RawValue::get) {
            text if !text.starts_with('{') => {
                Err(Code::Params.refuses("`params` is not an object"))
            }
            text => json::parse(text).map_err(|error| Code::Params.refuses(json_words(&error))),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Outgoing<'a, T> {
    pub(super) jsonrpc: Version,
    #[serde(flatten)]
    pub(super) body: Body<'a, T>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Body<'a, T> {
    Result { id: Option<&'a Id>, result: T },
    Error { id: Option<&'a Id>, error: Refusal },
}

/// The protocol of this program: 1 had no `changed_event`, and a host that looks for what it had instead would act on arguments that
/// hooks have changed.
pub(super) const PROTOCOL: u32 = 2;

/// The parameters of `initialize`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Initialize {
    /// The [`PROTOCOL`] that the host speaks.
    pub(super) protocol: Option<u32>,
    /// The command that messages suggest for approving the project's hooks. Default: that of this program.
    #[serde(default)]
    pub(super) approve_command: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Initialized<'a> {
    /// The version of the program.
    pub(super) version: &'static str,
    /// The text for the user, in lines: problems of hooks files, and notes if there is no such file, or no hook runs.
    pub(super) messages: Vec<String>,
    /// The output of `check --json`.
    pub(super) report: &'a LoadReport,
    /// The number of items that `approvals` returns: 1 if a person must decide on the project's hooks.
    pub(super) approvals: usize,
}

/// The result of `approve`, `revoke` and `reload`.
#[derive(Serialize)]
pub(super) struct Reloaded<'a> {
    /// The text for the user, in lines.
    pub(super) messages: Vec<String>,
    #[serde(flatten)]
    pub(super) report: &'a LoadReport,
}

/// The parameters of `fire`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fire {
    /// The event, as a hook receives it; only `type` is required.
    pub(super) event: Map<String, Value>,
    /// The agent in whose turn the event is. Default: what the event's data says.
    #[serde(default)]
    pub(super) agent: Option<Object<Agent>>,
    #[serde(default = "usual_options")]
    pub(super) options: Object<Options>,
}

/// An agent, as the data of each event in its turn names it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    /// Its `agent_type`; `main` is the session's own agent.
    #[serde(rename = "type")]
    pub(super) agent_type: String,
    /// Its `agent_id`. Default: the event has none.
    #[serde(default)]
    pub(super) id: Option<String>,
}

fn usual_options() -> Object<Options> {
    Object(Options::default())
}

/// The options with which an event is fired.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    /// True if the host asks its user when a hook answers `ask`. Default: such a hook blocks.
    pub(super) handles_ask: bool,
    /// True if the host acts on the `changed_event`. Default: a hook that changes the input blocks.
    pub(super) applies_updates: bool,
    /// True if the hooks after one that blocks or fails are skipped. Default: true.
    pub(super) stop_on_failure: Option<bool>,
    /// Events with the same key run one after the other. Default: those of a session that cannot be blocked.
    pub(super) ordered: Option<String>,
}

/// The hooks on which a person must decide: new, changed and removed ones.
#[derive(Serialize)]
pub(super) struct Block {
    /// The SHA-256 of all of it, the contents of files included, for `approve`.
    pub(super) digest: String,
    /// All of it, to be shown to the person.
    pub(super) text: String,
    pub(super) entries: Vec<Approved>,
}

/// The parameters of `approve`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approve {
    /// The digest of the block that the person has seen.
    pub(super) digest: String,
}

/// The parameters of `shutdown`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shutdown {
    /// The seconds after which running hooks are ended.
    #[serde(default = "usual_deadline")]
    pub(super) deadline: f64,
}

fn usual_deadline() -> f64 {
    5.0
}

/// The parameters of `$/cancelRequest`.
#[derive(Deserialize)]
pub(super) struct Cancel {
    /// The id of the fire.
    pub(super) id: Id,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a request", |bytes| {
            if let Ok(text) = text_of(bytes) {
                let _ = parse(&text).map(|incoming| incoming.params::<Value>());
            }
        });
    }
}
