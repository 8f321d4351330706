//! Tests of the digests of packs, and of files that differ from a pack.

use std::path::Path;

use serde_json::{Value, json};

use super::{Content, DIGEST, Difference, PACK, PACKS, Pack, Standing, digest};

/// The digest in each file is that of its content; `FORGE_HOOKS_BLESS=1` writes it again.
#[test]
fn each_pack_is_as_its_digest_says() {
    for pack in &PACKS {
        let content = Content::read(pack.text).unwrap();
        assert_eq!(content.name(), Some(pack.name));
        assert!(content.version() > 0 && !content.about().is_empty());
        let digest = digest(pack.text);
        let written = content.of_pack(DIGEST).and_then(Value::as_str).unwrap();
        if std::env::var_os("FORGE_HOOKS_BLESS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs");
            let member = |digest: &str| format!("\"{DIGEST}\": \"{digest}\"");
            let text = pack.text.replacen(&member(written), &member(&digest), 1);
            std::fs::write(path.join(format!("{}.json", pack.name)), text).unwrap();
        } else {
            let name = pack.name;
            assert_eq!(
                written, digest,
                "{name}: if its guards have changed, raise the version, and FORGE_HOOKS_BLESS=1 writes the digest"
            );
        }
    }
}

/// The pack `git`, changed, and with a digest of what it has then or not.
fn changed(is_signed: bool, change: impl Fn(&mut Value)) -> String {
    let mut file: Value = serde_json::from_str(Pack::named("git").unwrap().text).unwrap();
    change(&mut file);
    if is_signed {
        let text = serde_json::to_string_pretty(&file).unwrap();
        file[PACK][DIGEST] = digest(&text).into();
    }
    serde_json::to_string_pretty(&file).unwrap()
}

fn standing(text: &str) -> Standing {
    Pack::named("git").unwrap().compare(text).unwrap()
}

#[test]
fn a_file_is_the_pack_or_edited() {
    assert_eq!(
        standing(Pack::named("git").unwrap().text),
        Standing::Current
    );
    let text = Pack::named("git").unwrap().text;
    assert_eq!(standing(&text.replace('\n', "\r\n")), Standing::Current);
    for edited in [
        format!("// mine\n{text}"),
        text.replacen("\n", "\n\n", 1),
        text.replacen(
            "\"decision\": \"block\"",
            "\"decision\": \"allow\", \"decision\": \"block\"",
            1,
        ),
    ] {
        assert_eq!(standing(&edited), Standing::Edited(Vec::new()));
    }
}

#[test]
fn a_file_may_be_another_version_or_a_persons_own() {
    for text in [
        "{}",
        r#"{"hooks": []}"#,
        r#"{"pack": {"name": "rm"}}"#,
        r#"{"pack": 1}"#,
    ] {
        assert_eq!(standing(text), Standing::Own, "{text}");
    }
    for text in ["", "[]", "{", "x"] {
        assert!(Pack::named("git").unwrap().compare(text).is_err(), "{text}");
    }
    let older = |file: &mut Value| {
        file[PACK]["version"] = 0.into();
        file["hooks"][0]["answer"]["reason"] = "no".into();
    };
    let Standing::Other {
        version: 0,
        differences,
    } = standing(&changed(true, older))
    else {
        panic!("no other version");
    };
    assert_eq!(names(&differences), ["`answer` of `no_force_push`"]);
    let Standing::Edited(differences) = standing(&changed(false, older)) else {
        panic!("not edited");
    };
    assert_eq!(names(&differences), ["`answer` of `no_force_push`"]);
}

fn names(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(Difference::to_string).collect()
}

/// A person or a model can compute a digest: the differences are found without it.
#[test]
fn each_difference_is_named_whatever_the_digest_says() {
    type Change = fn(&mut Value);
    let rows: [(Change, &[&str]); 10] = [
        (
            |file| file["hooks"][0]["enabled"] = false.into(),
            &["`enabled` of `no_force_push`"],
        ),
        (
            |file| drop(file["hooks"].as_array_mut().unwrap().remove(0)),
            &["`no_force_push`, which the file does not have"],
        ),
        (
            |file| {
                file["hooks"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"name": "mine", "event": "*"}))
            },
            &["`mine`, which the pack does not have"],
        ),
        // A second entry of the same name.
        (
            |file| {
                file["hooks"]
                    .as_array_mut()
                    .unwrap()
                    .insert(0, json!({"name": "no_force_push", "event": "*"}))
            },
            &[
                "`event` of `no_force_push`",
                "`description` of `no_force_push`",
                "`when` of `no_force_push`",
                "`answer` of `no_force_push`",
                "`cases` of `no_force_push`",
                "`hooks[1]`, which the pack does not have",
            ],
        ),
        (
            |file| file["hooks"].as_array_mut().unwrap().swap(0, 1),
            &["`order` of `hooks`"],
        ),
        (
            |file| file["disable"] = json!(["no_sudo"]),
            &["`disable`, which the pack does not have"],
        ),
        (|file| file["hooks"] = json!({}), &[]),
        (
            |file| file[PACK]["about"] = "mine".into(),
            &["`pack.about`"],
        ),
        (
            |file| file["hooks"][0] = json!(1),
            &[
                "`no_force_push`, which the file does not have",
                "`hooks[0]`, which the pack does not have",
            ],
        ),
        (
            |file| file["hooks"][0]["when"]["/tool_args/command"]["runs"][0] = "git push".into(),
            &["`when` of `no_force_push`"],
        ),
    ];
    for (change, expected) in rows {
        for is_signed in [true, false] {
            let differences = match standing(&changed(is_signed, change)) {
                Standing::Other { differences, .. } | Standing::Edited(differences) => differences,
                other => panic!("{expected:?}: {other:?}"),
            };
            let mut found = names(&differences);
            let mut expected = Vec::from_iter(expected.iter().map(|name| (*name).to_owned()));
            if expected.is_empty() {
                let guards = Pack::named("git").unwrap().content();
                let guards = guards.guards().into_iter();
                expected.extend(
                    guards.map(|(name, _)| format!("`{name}`, which the file does not have")),
                );
            }
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{is_signed}");
        }
    }
}
