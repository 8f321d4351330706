//! The commands of docs/guards.md and docs/troubleshooting.md print what the pages show.

use std::path::Path;

use super::User;

/// Returns the output of the page's commands, each after its command.
fn said_now(user: &User, root: &Path, page: &str) -> String {
    let mut all = String::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = user.shell(line);
        let output = shell
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(root)
            .output();
        let printed = user.printed(output.unwrap());
        all += &format!("$ {line}\n{}", printed.out);
        if printed.status != 0 {
            all += &format!("[exit status {}]\n", printed.status);
        }
        all += "\n";
    }
    all
}

/// The file is written, then the commands run.
#[test]
fn the_first_guard_works_as_its_page_says() {
    let user = User::new();
    let home = user.normal(user.path("home").to_str().unwrap());
    let blocks = crate::pages::blocks_of("docs/guards.md").into_iter();
    let blocks = blocks.filter(|block| block.heading == "Your own guard");
    for block in blocks {
        match &*block.language {
            "json" => drop(user.write("home/.config/forge-hooks/hooks.json", &block.code)),
            "console" => {
                let session = user.normal(&block.code).replace("/home/ann", &home);
                assert_eq!(said_now(&user, &user.project(), &session), session);
            }
            other => panic!("a block of {other} is not run"),
        }
    }
}

/// Each command of the page runs, and finds nothing wrong.
#[test]
fn the_commands_of_troubleshooting_run() {
    let user = User::new();
    user.write("home/.config/src/forge/hooks.json", super::GUARDED);
    let mut count = 0;
    for block in crate::pages::blocks_of("docs/troubleshooting.md") {
        let commands = block.code.replace("forge-hooks ", "$ forge-hooks ");
        let output = said_now(&user, &user.project(), &commands);
        assert!(!output.contains("exit status"), "{output}");
        assert!(output.contains("guard"), "{output}");
        count += 1;
    }
    assert_eq!(count, 1);
}
