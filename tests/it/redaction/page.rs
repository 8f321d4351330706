//! What is masked and what is not, form by form: `shown.tsv` has a text, and what becomes of it.

use forge_hooks::Redactor;

use super::corpus;

#[test]
fn each_form_is_masked_as_shown() {
    let redactor = Redactor::new();
    for row in corpus::shown() {
        assert_eq!(redactor.text(&row[0]), row[1]);
    }
}
