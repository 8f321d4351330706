//! A table of figures with their targets, and whether each is met.
//!
//! Does not know what is measured.

use std::time::Duration;

use crate::targets::{Bound, TOLERANCE};

/// One question, the function that answers it, and the target.
pub(crate) struct Row {
    pub(crate) question: &'static str,
    pub(crate) unit: Unit,
    pub(crate) target: Bound,
    /// The number in the repository, if the figure is a count and not a time.
    pub(crate) counted: Option<f64>,
    pub(crate) measure: fn(Effort) -> Measured,
}

#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Ratio,
    Count,
    Nanoseconds,
    Mebibytes,
}

/// The width of the column of questions.
const QUESTION: usize = 62;

/// How often a measurement is repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    /// Only enough to check that the bench works.
    Once,
}

pub(crate) struct Figure {
    value: f64,
    /// The lowest and the highest figure of several blocks.
    spread: Option<(f64, f64)>,
}

/// The figure, or the reason why it cannot be measured.
pub(crate) type Measured = Result<Figure, String>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Met,
    WithinTolerance,
    Missed,
}

impl Row {
    /// Prints the figure next to its target; true if it is within the tolerance.
    ///
    /// A time that is not within the tolerance is measured once more: code that is too slow is slow
    /// each time, but a delay by a busy machine is not repeated.
    pub(crate) fn is_kept(&self) -> bool {
        let first = self.print_measured("");
        if first != Verdict::Missed || self.counted.is_some() {
            return first != Verdict::Missed;
        }
        self.print_measured(", again") != Verdict::Missed
    }

    /// Does the same for a count and its number in the repository; None if the row has no count.
    pub(crate) fn count_is_kept(&self) -> Option<bool> {
        let counted = self.counted?;
        Some(match (self.measure)(Effort::Full) {
            Err(reason) => {
                println!("{:<QUESTION$} not counted: {reason}", self.question);
                false
            }
            Ok(figure) => self.print_count(figure.value, counted),
        })
    }

    fn print_measured(&self, note: &str) -> Verdict {
        let question = format!("{}{note}", self.question);
        let figure = match (self.measure)(Effort::Full) {
            Ok(figure) => figure,
            Err(reason) => {
                println!("{question:<QUESTION$} not measured: {reason}");
                return Verdict::Met;
            }
        };
        let spread = figure.spread.map_or_else(String::new, |(lowest, highest)| {
            format!("{} to {}", self.unit.show(lowest), self.unit.show(highest))
        });
        let verdict = self.target.verdict(figure.value);
        println!(
            "{question:<QUESTION$} {:>10} {spread:>22}   {:<12} {}",
            self.unit.show(figure.value),
            self.target.show(self.unit),
            verdict.as_str(),
        );
        verdict
    }

    fn print_count(&self, figure: f64, counted: f64) -> bool {
        let verdict = Bound::AtMost(counted).verdict(figure);
        let advice = match verdict {
            Verdict::Missed => "grown by more than 5 %",
            _ if figure < counted * (1.0 - TOLERANCE) => "lower the number in targets.rs",
            _ => "",
        };
        println!(
            "{:<QUESTION$} {:>10}   in the repository {:>10}   {advice}",
            self.question,
            self.unit.show(figure),
            self.unit.show(counted),
        );
        verdict != Verdict::Missed
    }
}

pub(crate) fn print_head() {
    // Only Linux has this file. The first value is the average of one minute.
    if let Ok(load) = std::fs::read_to_string("/proc/loadavg") {
        let load = load.split(' ').next().unwrap_or_default();
        println!("load of the machine: {load}; ratios are higher on a busy machine");
    }
    println!(
        "{:<QUESTION$} {:>10} {:>22}   target",
        "question", "figure", "spread of blocks"
    );
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::WithinTolerance => "missed by 5 % or less",
            Self::Missed => "MISSED",
        }
    }
}

impl Effort {
    pub(crate) fn rounds(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Once => 2,
        }
    }
}

impl Figure {
    pub(crate) fn exactly(value: f64) -> Self {
        Self {
            value,
            spread: None,
        }
    }

    /// Returns the median of the blocks, and their spread.
    pub(crate) fn of_blocks(mut blocks: Vec<f64>) -> Self {
        blocks.sort_unstable_by(f64::total_cmp);
        Self {
            value: blocks[blocks.len() / 2],
            spread: Some((blocks[0], blocks[blocks.len() - 1])),
        }
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Ratio if value < 0.1 => format!("{value:.4}"),
            Self::Ratio => format!("{value:.3}"),
            Self::Count if value >= 1000.0 => format!("{value:.0}"),
            Self::Count => format!("{value:.1}"),
            Self::Mebibytes => format!("{value:.1} MiB"),
            Self::Nanoseconds => format!("{:.1?}", Duration::from_secs_f64(value / 1e9)),
        }
    }
}

impl Bound {
    fn verdict(self, figure: f64) -> Verdict {
        let (is_met, is_near) = match self {
            Self::AtMost(most) => (figure <= most, figure <= most * (1.0 + TOLERANCE)),
            Self::AtLeast(least) => (figure >= least, figure >= least * (1.0 - TOLERANCE)),
        };
        match (is_met, is_near) {
            (true, _) => Verdict::Met,
            (false, true) => Verdict::WithinTolerance,
            (false, false) => Verdict::Missed,
        }
    }

    fn show(self, unit: Unit) -> String {
        match self {
            Self::AtMost(most) => format!("<= {}", unit.show(most)),
            Self::AtLeast(least) => format!(">= {}", unit.show(least)),
        }
    }
}
