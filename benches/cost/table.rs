//! A table of figures with their targets, and whether each is met.
//!
//! Does not know what is measured.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::ending::Ending;

/// The part by which a count may be above its limit, or above its number in the repository.
const TOLERANCE: f64 = 0.05;

type Measure = fn(Effort) -> Measured;

/// One question, the function that answers it, and the target.
pub(crate) struct Row {
    question: &'static str,
    unit: Unit,
    most: f64,
    /// The number in the repository, if the figure is a count and not a time.
    counted: Option<f64>,
    /// True if another program counts: what else runs does not change the figure then.
    is_counted_apart: bool,
    measure: Measure,
}

enum Unit {
    Ratio,
    Count,
    Nanoseconds,
}

pub(crate) fn ratio(question: &'static str, most: f64, measure: Measure) -> Row {
    Row {
        question,
        unit: Unit::Ratio,
        most,
        counted: None,
        is_counted_apart: false,
        measure,
    }
}

pub(crate) fn time(question: &'static str, most: f64, measure: Measure) -> Row {
    Row {
        unit: Unit::Nanoseconds,
        ..ratio(question, most, measure)
    }
}

pub(crate) fn count(question: &'static str, most: f64, counted: f64, measure: Measure) -> Row {
    Row {
        unit: Unit::Count,
        counted: Some(counted),
        is_counted_apart: true,
        ..ratio(question, most, measure)
    }
}

/// What this process counts of itself.
pub(crate) fn own_count(question: &'static str, most: f64, counted: f64, measure: Measure) -> Row {
    Row {
        is_counted_apart: false,
        ..count(question, most, counted, measure)
    }
}

/// A ratio of two counts.
pub(crate) fn counted_ratio(
    question: &'static str,
    most: f64,
    counted: f64,
    measure: Measure,
) -> Row {
    Row {
        unit: Unit::Ratio,
        ..count(question, most, counted, measure)
    }
}

const BLOCKS: usize = 7;

/// The width of the column of questions.
const QUESTION: usize = 62;

/// The number of times that a measurement is repeated.
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

fn is_within_tolerance(figure: f64, most: f64) -> bool {
    figure <= most * (1.0 + TOLERANCE)
}

impl Row {
    /// Returns whether the question contains all of these texts.
    pub(crate) fn is_asked(&self, texts: &[&String]) -> bool {
        texts.iter().all(|text| self.question.contains(*text))
    }

    /// Measures briefly, except a count, which always takes long: `--count` measures it.
    pub(crate) fn try_once(&self) {
        if self.counted.is_none()
            && let Err(reason) = (self.measure)(Effort::Once)
        {
            println!("{}: not measured: {reason}", self.question);
        }
    }

    /// Prints the figure next to its target.
    pub(crate) fn print(&self, ending: &mut Ending) {
        let figure = match (self.measure)(Effort::Full) {
            Ok(figure) => figure,
            Err(reason) => {
                println!("{:<QUESTION$} not measured: {reason}", self.question);
                return;
            }
        };
        let spread = figure.spread.map_or_else(String::new, |(lowest, highest)| {
            format!("{} to {}", self.formatted(lowest), self.formatted(highest))
        });
        let verdict = match self.counted {
            Some(_) => ending.limit(self.question, is_within_tolerance(figure.value, self.most)),
            None => ending.target(figure.value <= self.most),
        };
        println!(
            "{:<QUESTION$} {:>10} {spread:>22}   <= {:<9} {verdict}",
            self.question,
            self.formatted(figure.value),
            self.formatted(self.most),
        );
    }

    /// Prints a count next to its number in the repository.
    fn print_count(&self, counted: f64, figure: Measured, ending: &mut Ending) {
        let figure = match figure {
            Ok(figure) => figure.value,
            Err(reason) => {
                ending.limit(self.question, false);
                println!("{:<QUESTION$} not counted: {reason}", self.question);
                return;
            }
        };
        let is_kept = is_within_tolerance(figure, counted);
        ending.limit(self.question, is_kept);
        let advice = if !is_kept {
            "grown by more than 5 %"
        } else if figure < counted * (1.0 - TOLERANCE) {
            "lower the number in targets.rs"
        } else {
            ""
        };
        println!(
            "{:<QUESTION$} {:>10}   in the repository {:>10}   {advice}",
            self.question,
            self.formatted(figure),
            self.formatted(counted),
        );
    }

    fn formatted(&self, value: f64) -> String {
        match self.unit {
            Unit::Ratio if value < 0.1 => format!("{value:.4}"),
            Unit::Ratio => format!("{value:.3}"),
            Unit::Count if value >= 1000.0 => format!("{value:.0}"),
            Unit::Count => format!("{value:.1}"),
            Unit::Nanoseconds => format!("{:.1?}", Duration::from_secs_f64(value / 1e9)),
        }
    }
}

/// Prints the counts next to their numbers in the repository, and no times.
pub(crate) fn print_counts<'a>(rows: impl Iterator<Item = &'a Row>, ending: &mut Ending) {
    let rows: Vec<_> = rows.filter_map(|row| Some((row, row.counted?))).collect();
    let apart = rows.iter().filter(|(row, _)| row.is_counted_apart);
    let mut apart = count_side_by_side(apart.map(|(row, _)| row.measure).collect()).into_iter();
    for (row, counted) in rows {
        let figure = if row.is_counted_apart {
            apart.next().expect("a figure for each row")
        } else {
            (row.measure)(Effort::Full)
        };
        row.print_count(counted, figure, ending);
    }
}

/// Measures on each processor at the same time.
fn count_side_by_side(measures: Vec<Measure>) -> Vec<Measured> {
    let waiting = Mutex::new(measures.iter().enumerate());
    let next = || waiting.lock().expect("no panic").next();
    let measured = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((place, measure)) = next() {
                    let figure = measure(Effort::Full);
                    measured.lock().expect("no panic").push((place, figure));
                }
            });
        }
    });
    let mut measured = measured.into_inner().expect("no panic");
    measured.sort_unstable_by_key(|(place, _)| *place);
    measured.into_iter().map(|(_, figure)| figure).collect()
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

    /// Returns the median of several blocks, and their spread.
    pub(crate) fn of_blocks(block: impl FnMut() -> f64) -> Self {
        let mut blocks: Vec<_> = std::iter::repeat_with(block).take(BLOCKS).collect();
        blocks.sort_unstable_by(f64::total_cmp);
        Self {
            value: blocks[blocks.len() / 2],
            spread: Some((blocks[0], blocks[blocks.len() - 1])),
        }
    }
}
