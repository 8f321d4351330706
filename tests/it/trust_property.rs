//! For any command of the kinds that people write: once it is approved, whatever a file that is not
//! covered becomes, the command does not run it, or the approval printed that it is partial; and a
//! covered file that changes blocks.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use forge_hooks::Approved;
use proptest::prelude::*;
use serde_json::json;

use crate::trust::{PROJECT, Project};

/// In each, `F` is the name of a file.
const COMMANDS: &[&str] = &[
    "./F",
    "sh F",
    ". ./F",
    "bash -e F",
    "sh -x -- F a b",
    "sh -c './F'",
    "sh -ec 'exec sh F' x",
    "bash -c \"./F\"",
    "python3 -I F.py",
    "python3 F.py",
    "awk -f F.awk",
    "awk -fF.awk",
    "awk 'BEGIN {system(\"./F\")}'",
    "env X=1 ./F",
    "env -C sub ./F",
    "env -i sh F",
    "/usr/bin/env -S sh F",
    "exec ./F",
    "command sh F",
    "nohup ./F",
    "sh < F",
    "cat F | sh",
    "eval './F'",
    "eval \"sh F\"",
    "trap './F' EXIT",
    "X=F; sh $X",
    "PATH=.:$PATH F",
    "PATH=.:$PATH; F",
    "export PATH=\".:$PATH\"; F",
    "cd sub && ./F",
    "timeout 5 ./F",
    "find . -name F -exec sh {} \\;",
    "echo F | xargs sh",
    "cp F new; sh new",
    "cat F > new; sh ./new",
    "ln -sf F new; ./new",
    "f() { ./F; }; f",
    "case x in (a|x) ./F;; esac",
    "case a in b) ;; *) sh F\nesac",
    "for i in 1; do sh F; done",
    "for i in F*; do sh $i; done",
    "if ! ./F; then :; fi",
    "while ./F && false; do :; done",
    "echo $(sh F)",
    "echo \"`./F`\"",
    "X=\"$(./F)\" true",
    "echo ${X:-$(./F)}",
    "echo \"${X:-'}\"; ./F; echo \"'}\"",
    "cat <<E\n$(./F)\nE",
    "cat <<'E'\nF\nE\n./F",
    "sh <<E\n./F\nE",
    "{ ./F; }",
    "(./F)",
    "true & ./F",
    "true &>out ./F",
    "[[ x || ./F ]]",
    "sh -c '[[ x || ./F ]]'",
    "[ x ] && ./F",
    "echo a # '\n./F # '",
    "A=1 B=\"2 3\" ./F >out 2>&1",
    ">out ./F",
    "$'\\' ; ./F ; echo '",
    "echo F; cat F; grep -q x F",
    "sed -n 1p F; sed '1e ./F' F",
    "jq -n 1; jq -nf F.jq",
    "git status F; date; printf '%s' F",
    "echo ${x:-{a} ; sh F; echo }",
    ": \"$(true # '\n) echo \"; sh F; : \\''\" # '\n)\"",
    "echo \"$\\\n(sh F)\"",
    "cat <\\\n<E\necho '\nE\nsh F\n: '' # '",
    "echo \"`: \\\" # \\\"; sh F`\"",
    "echo $((true '$(sh F)'))",
    "echo $((true # $(sh F)\n))",
    "echo $((true)&&(sh F))",
    "cat <<$'E'\n$E\nsh F\n$'E'",
    "cat <<EF\nE\\\nF\nsh F\nEF",
    "sh 3<F 4<data.txt <F",
    "sh <data.txt <<E\nsh F\nE",
    "exec 3<F; sh <data.txt <&3",
    "exec <F; sh",
    "{ sh; } <F",
    "echo ${x:-<(sh F)}",
    "shopt -s extglob; ./@(F)",
    ">/dev/null case a in\nsh F\n(:)\nesac",
    "time case a in\nsh F\n(:)\nesac",
    ">/dev/null [[ x || sh F ]]",
    ". -- ./F",
    "sh - F",
    "A''=./F true",
    "A+=d/x sh F",
    "env -C sub -C . sh F",
    "cp F new && sh new; rm -f new",
    "cat F >sub/../new; sh new; rm -f new",
    "ln -sf . l; cat F >l/new; sh new; rm -f new l",
    "uniq F new; sh new; rm -f new",
    "sort -onew F; sh new; rm -f new",
    "cat F 1<>new; sh new; rm -f new",
    "python3 -WI F.py",
    "awk -f - <F.awk",
    "cat F.awk | awk -f -",
    "X=BASH_ENV; env \"$X=./F\" bash -c true",
    "X=BASH_ENV; export \"$X=./F\"; bash -c true",
    "set -a; : ${BASH_ENV:=./F}; bash -c :",
    "set -k; bash -c true BASH_ENV=./F",
    "bash -k -c 'bash -c true BASH_ENV=./F'",
    "X='--compress-program=./F'; sort $X -S1k F",
    "test -v 'a[$(sh F)]'",
    "declare -n r='a[$(sh F)]'; echo $r",
    "x='a[$(sh F)]'; echo ${!x}",
    "a='b[$(sh F)]'; echo $((a))",
    "x='$(sh F)'; echo \"${x@P}\"",
    "[[ 'a[$(sh F)]' -eq 0 ]]",
    "printf -v 'a[$(sh F)]' 1",
];

const NAMES: &[&str] = &["guard.sh", "guard", "a b.sh", "data.txt"];

/// Ways to write one name.
fn written(name: &str, way: usize) -> String {
    let middle = name.len() / 2;
    let (first, last) = name.split_at(middle);
    match way {
        0 => format!("\"{name}\""),
        1 => format!("{first}'{last}'"),
        2 => name.replace(' ', "\\ "),
        3 => format!(
            "{}\\\n{}",
            first.replace(' ', "\\ "),
            last.replace(' ', "\\ ")
        ),
        4 => format!("{}*{}", &name[..1], &name[name.len() - 1..]),
        _ => format!("\"$N\"{}", name.replace(' ', "\\ ")),
    }
}

fn command() -> impl Strategy<Value = String> {
    let name = (prop::sample::select(NAMES), 0..6usize);
    let one = (prop::sample::select(COMMANDS), name)
        .prop_map(|(command, (name, way))| command.replace('F', &written(name, way)));
    let separator = prop::sample::select(&["; ", " && ", " || ", "\n", " | "][..]);
    (one.clone(), separator, prop::option::of(one), any::<bool>()).prop_map(
        |(first, separator, second, in_shell)| {
            let both = match second {
                Some(second) => format!("{first}{separator}{second}"),
                None => first,
            };
            if in_shell {
                format!("sh -c '{}'", both.replace('\'', "'\\''"))
            } else {
                both
            }
        },
    )
}

/// Whatever runs this leaves a file behind.
fn poison(path: &Path, mark: &Path) -> String {
    let mark = mark.display();
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("py") => format!("open('{mark}', 'w')\n"),
        Some("awk") => format!("BEGIN {{ print 1 > \"{mark}\" }}\n"),
        Some("jq") => "1\n".to_owned(),
        _ => format!("echo 1 >'{mark}'\n"),
    }
}

fn write(path: &Path, text: &str, executable: bool) {
    std::fs::write(path, text).unwrap();
    if executable {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
}

/// All files that a command may name.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for name in NAMES {
        for ending in ["", ".py", ".awk", ".jq"] {
            names.push(format!("{name}{ending}"));
            names.push(format!("sub/{name}{ending}"));
        }
    }
    names
}

fn check(command: &str, shell: Option<&str>, executable: bool, present: bool) {
    let project = Project::new();
    let root = project.root();
    let mut hook = json!({"event": "tool:*", "command": command, "timeout": 5});
    if let Some(shell) = shell {
        hook["shell"] = json!(shell);
    }
    let text = json!({"hooks": [hook]}).to_string();
    project.world.write(PROJECT, &text);
    std::fs::create_dir_all(root.join("sub")).unwrap();
    for name in names().iter().filter(|_| present) {
        write(&root.join(name), "", executable);
    }
    let approval = project.look();
    project.store().approve(&approval).unwrap();
    if approval.hooks[0].partial.is_empty() {
        runs_only_what_is_covered(&project, &approval.hooks[0], executable);
        blocks_what_has_changed(&project, &approval.hooks[0]);
    }
}

fn runs_only_what_is_covered(project: &Project, approved: &Approved, executable: bool) {
    let mark = project.world.path("mark");
    for name in names() {
        if !approved.files.iter().any(|(file, _)| *file == name) {
            let path = project.root().join(&name);
            write(&path, &poison(&path, &mark), executable);
        }
    }
    let _ = project.load();
    let _ = project.guard();
    assert!(!mark.exists(), "ran what is not covered: {approved:?}");
}

fn blocks_what_has_changed(project: &Project, approved: &Approved) {
    let mark = project.world.path("mark");
    for (name, digest) in &approved.files {
        let path = project.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, &poison(&path, &mark), false);
        assert!(!project.guard().allowed(), "{name}: {approved:?}");
        assert!(!mark.exists(), "ran {name}: {approved:?}");
        match digest {
            Some(_) => std::fs::write(&path, "").unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
    }
}

#[test]
fn each_kind_of_command_is_covered_or_partial() {
    for command in COMMANDS {
        let command = command.replace('F', "guard.sh");
        check(&command, None, true, true);
        check(&command, Some("bash"), false, false);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_command_is_covered_or_partial(
        command in command(),
        shell in prop::sample::select(&[None, Some("sh"), Some("bash")][..]),
        executable in any::<bool>(),
        present in any::<bool>(),
    ) {
        check(&command, shell, executable, present);
    }
}
