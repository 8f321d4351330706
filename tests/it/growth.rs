//! Compares the time that calls take, on a machine of any speed. The unit tests of the library use this file too.

use std::time::Duration;

use crate::thorough::all_cases;

/// Four times the input may take this many times as long: a call in linear time takes about 4 times as long, one whose
/// time grows with the square of its input 16 times.
const MOST_FOR_FOUR: u32 = 8;

/// Other processes make a call slower (they share its processor and caches), never faster: the shortest of several times
/// counts. A long call needs more tries than a short one until nothing disturbs it; only a call that fails needs them all.
const TRIES: usize = 40;

/// Fails if the time of a call grows much faster than its input: it is compared for `size` and for a quarter of it.
/// Creating the input does not count.
#[track_caller]
pub(crate) fn assert_linear<T>(
    what: &str,
    size: usize,
    input: impl Fn(usize) -> T,
    call: impl Fn(&T),
) {
    let (quarter, whole) = (input(size / 4), input(size));
    assert_costs_at_most(MOST_FOR_FOUR, what, || call(&quarter), || call(&whole));
}

/// A number of steps, about a millisecond, that does not count as growth: a large input also costs its pages of
/// memory.
const NEGLIGIBLE: usize = 50_000;

/// Fails if one call takes more than `times` as long as another one.
#[track_caller]
pub(crate) fn assert_costs_at_most(
    times: u32,
    what: &str,
    mut other: impl FnMut(),
    mut one: impl FnMut(),
) {
    // The first call also pays for what is created only once.
    other();
    let (mut shortest, mut took) = (Duration::MAX, Duration::MAX);
    let mut negligible = Duration::MAX;
    for _ in 0..TRIES {
        negligible = negligible.min(timed(|| steps(NEGLIGIBLE)));
        for _ in 0..3 {
            shortest = shortest.min(timed(&mut other));
        }
        took = took.min(timed(&mut one));
        if took <= shortest * times + negligible {
            return;
        }
    }
    panic!("{what:.80}: it took {took:?}, and the other call {shortest:?}");
}

/// The characters that some reader treats specially.
const SPECIAL: &str = "{}[]()<>\"'`\\:=,;.-_/\n\r\t @&%$*?!|#~+\u{1b}\0\u{feff}\u{2028}“a1";

/// The texts before and after a run. Many readers treat the first line, an open string or an open object differently.
const AROUND: [(&str, &str); 4] = [("", ""), ("a\n", "x"), ("\"", "\""), ("{\"a\": ", "}")];

/// The bytes of a run, and of one where only a part of the cases is run.
const LONG_RUN: usize = 32 << 10;
const SHORT_RUN: usize = 8 << 10;

/// The time within which a reader in linear time reads such a run on most machines, and no reader in quadratic time. Growth is
/// compared only for a run that takes longer.
const SHORT: Duration = Duration::from_millis(25);

/// Fails if a reader of foreign text takes more than linear time for a run of one byte, or of two special characters.
#[track_caller]
pub(crate) fn assert_reads_in_linear_time(reader: &str, read: impl Fn(&[u8])) {
    let single = (0..=u8::MAX).map(|byte| vec![byte]);
    let pairs = SPECIAL.chars().flat_map(|first| {
        let pair = move |second| format!("{first}{second}").into_bytes();
        SPECIAL.chars().map(pair)
    });
    let (step, length) = if all_cases() {
        (5, LONG_RUN)
    } else {
        (31, SHORT_RUN)
    };
    for (index, piece) in single.chain(pairs).enumerate().step_by(step) {
        let (before, after) = AROUND[(index / step) % AROUND.len()];
        let text = |size: usize| {
            let run = piece.repeat(size / piece.len());
            [before.as_bytes(), &run, after.as_bytes()].concat()
        };
        let run = text(length);
        if timed(|| read(&run)) > SHORT {
            let piece = String::from_utf8_lossy(&piece);
            let what = format!("{reader}: a run of {piece:?} between {before:?} and {after:?}");
            assert_linear(&what, length, text, |text| read(text));
        }
    }
}

/// Returns the processor time of a call on this thread.
pub(crate) fn timed(call: impl FnOnce()) -> Duration {
    let before = processor_time();
    call();
    processor_time().saturating_sub(before)
}

// NetBSD does not count the time of a thread.
#[cfg(all(unix, not(target_os = "netbsd")))]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap();
    Duration::new(u64::try_from(time.tv_sec).unwrap(), nanoseconds)
}

/// Elsewhere, the time that the thread has waited for a processor counts too.
#[cfg(not(all(unix, not(target_os = "netbsd"))))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

fn steps(count: usize) {
    for step in 0..count {
        std::hint::black_box(step);
    }
}

#[test]
fn linear_time_passes() {
    assert_linear("steps", 400_000, |size| size, |size| steps(*size));
}

#[test]
#[should_panic(expected = "a square: it took")]
fn the_square_fails() {
    assert_linear("a square", 1000, |size| size, |size| steps(size * size));
}
