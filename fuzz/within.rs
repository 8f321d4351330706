//! The assertions of each target that checks a file about the problems.

use forge_hooks::LoadReport;

/// Asserts that each problem has words, and is within the text.
pub fn assert_within(report: &LoadReport, text: &str) {
    for problem in &report.problems {
        if let Some(range) = &problem.range {
            assert!(
                range.start.offset <= range.end.offset && range.end.offset <= text.len(),
                "{problem}"
            );
        }
        assert!(!problem.to_string().is_empty());
    }
}
