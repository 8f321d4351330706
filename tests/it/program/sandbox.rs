//! The program's output about hooks in a sandbox, and about hooks that cannot be in one.

use super::User;

const HOOKS: &str = r#"{"hooks": [
  {"event": "session:start", "name": "open", "command": "true"},
  {"event": "session:start", "name": "reads", "command": "exit 3", "sandbox": {"write": ["."]}},
  {"event": "session:start", "name": "lost", "command": "true", "sandbox": {"write": ["no/such"]}}
]}"#;

#[test]
fn each_command_shows_what_a_hook_may_reach() {
    if forge_hooks::Sandbox::support().is_err() {
        return;
    }
    let user = User::new();
    user.write("project/hooks.json", HOOKS);
    let config = ["--config", "hooks.json"];
    let with = |args: &[&str]| user.run(&[args, &config].concat()).out;
    let reach = "reads everything, writes `.` and its temporary directory, no network";
    let missing = "`sandbox.write`: `no/such` is not there";
    let list = with(&["list"]);
    assert!(list.contains(&format!("  sandbox  {reach}\n")), "{list}");
    assert!(
        list.contains(&format!("  state    fails: {missing}")),
        "{list}"
    );
    let dry = with(&["list", "session:start"]);
    assert!(dry.contains(&format!("runs; sandbox: {reach}")), "{dry}");
    assert!(dry.contains(&format!("fails: {missing}")), "{dry}");
    let fired = with(&["fire", "session:start"]);
    let failed = "failed, exited with code 3, in a sandbox";
    assert!(
        fired.contains(failed) && fired.contains(&format!("  its sandbox: {reach}\n")),
        "{fired}"
    );
    let json = with(&["fire", "session:start", "--json"]);
    assert!(json.contains("\"sandbox\": {"), "{json}");
}
