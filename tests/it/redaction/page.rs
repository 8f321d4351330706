//! Each form of a secret is masked as `shown.tsv` has it: a text, and the text after it was masked.

use forge_hooks::Redactor;

use super::corpus;

#[test]
fn each_form_is_masked_as_shown() {
    let redactor = Redactor::new();
    for row in corpus::shown() {
        assert_eq!(redactor.text(&row[0]), row[1]);
    }
}
