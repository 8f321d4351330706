//! The part of the long tables and of the random cases that is run. It is small, so that `cargo test` is quick;
//! `FORGE_HOOKS_TEST_ALL=1` runs everything. The unit tests of the library use this file too.

/// Returns true if each case is run.
pub(crate) fn all_cases() -> bool {
    std::env::var("FORGE_HOOKS_TEST_ALL").is_ok_and(|value| value == "1")
}

/// Returns the number of random cases to run: so many, or a tenth of them.
pub(crate) fn random_cases(all: u32) -> u32 {
    if all_cases() { all } else { all / 10 }
}
