//! `fire --record`: cases that several programs add at once.

use serde_json::Value;

use super::{LS, User, with};

#[test]
fn cases_recorded_at_once_all_arrive() {
    let user = User::new();
    for round in 1..=3 {
        let args = with(&LS, &["--record", "cases.json"]);
        for printed in user.run_at_once(&[&args[..]; 6]) {
            assert_eq!(printed.status, 0, "{printed:?}");
        }
        let cases: Vec<Value> = serde_json::from_str(&user.read("project/cases.json")).unwrap();
        assert_eq!(cases.len(), 6 * round);
    }
}
