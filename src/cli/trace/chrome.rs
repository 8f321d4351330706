//! A trace in the Trace Event Format, which Perfetto, Speedscope and Chromium open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde_json::{Value, json};

use super::traced::{Entry, Traced};

/// The lanes of one host: hooks that ran at the same time are in different lanes.
#[derive(Default)]
struct Lanes {
    /// The end of each running hook, with its lane.
    running: BinaryHeap<Reverse<(u64, u32)>>,
    free: BinaryHeap<Reverse<u32>>,
    count: u32,
}

pub(super) fn of(traced: &Traced) -> Value {
    let mut entries: Vec<_> = traced
        .kept
        .iter()
        .map(|entry| (start(entry), entry))
        .collect();
    entries.sort_by_key(|(start, _)| *start);
    let mut hosts = BTreeMap::<u64, Lanes>::new();
    let mut events = Vec::new();
    for (start, entry) in entries {
        let host = entry.fields.get("host_pid").and_then(Value::as_u64);
        let host = host.unwrap_or_default();
        let took = micros(entry.number("duration"));
        let lane = hosts.entry(host).or_default().take(start, took);
        events.push(json!({
            "ph": "X", "ts": start, "dur": took, "pid": host, "tid": lane,
            "name": entry.text(&["hook", "pattern"]).unwrap_or_default(),
            "cat": entry.text(&["event"]).unwrap_or_default(),
            "args": entry,
        }));
    }
    // Speedscope expects a time in these entries, too.
    let named = |what, host: u64, lane: u32, name: String| json!({"ph": "M", "ts": 0, "pid": host, "tid": lane, "name": what, "args": {"name": name}});
    for (host, lanes) in hosts {
        events.push(named("process_name", host, 0, format!("host {host}")));
        let lanes = 1..=lanes.count;
        events.extend(lanes.map(|lane| named("thread_name", host, lane, format!("hooks {lane}"))));
    }
    let missing =
        json!({"lost": traced.lost, "broken": traced.broken, "left_out": traced.left_out});
    json!({"traceEvents": events, "otherData": missing})
}

impl Lanes {
    /// Returns the first lane in which nothing runs at this time.
    fn take(&mut self, start: u64, took: u64) -> u32 {
        // A lane whose hook ends at this very time is not free: Speedscope would show the next hook within it.
        while self
            .running
            .peek()
            .is_some_and(|Reverse((end, _))| *end < start)
        {
            let ended = self.running.pop();
            self.free
                .extend(ended.map(|Reverse((_, lane))| Reverse(lane)));
        }
        let lane = self.free.pop().map_or(self.count + 1, |Reverse(lane)| lane);
        self.count = self.count.max(lane);
        self.running
            .push(Reverse((start.saturating_add(took), lane)));
        lane
    }
}

/// Returns the start of a hook: a line has the time of its end.
fn start(entry: &Entry) -> u64 {
    micros(entry.number("time") - entry.number("duration"))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}
