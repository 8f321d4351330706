//! The agents under which this program runs hooks. Hosts run the hooks of [`AGENTS`](super::AGENTS).

use super::agent::Agent;
use super::agents::{CLAUDE, CODEX};
use super::copilot::COPILOT;
use super::gemini::GEMINI;
use super::grok::GROK;
use super::kimi::KIMI;
use super::opencode::{KILO, OPENCODE};
use super::pi::PI;
use super::qwen::QWEN;

pub(crate) const BRIDGED: [&Agent; 10] = [
    CLAUDE, CODEX, GEMINI, COPILOT, QWEN, KIMI, OPENCODE, KILO, PI, GROK,
];
