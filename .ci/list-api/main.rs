//! Lists the public API of a crate from rustdoc's JSON, an item a line.
//!
//! An item is listed under each path that a host can write; its fields and methods only under the first one. The methods of
//! a trait are listed with the trait, not with each type that implements it. Auto traits, such as `Send`, are not listed.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

use public_api::Builder;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: list-api JSON");
        return ExitCode::from(2);
    };
    match list(&path) {
        Ok(lines) => {
            print!("{lines}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot read {path}: {error}");
            eprintln!(
                "fix: if the compiler is new, take the version of public-api for it: .ci/list-api/Cargo.toml"
            );
            ExitCode::FAILURE
        }
    }
}

fn list(path: &str) -> public_api::Result<String> {
    let builder = Builder::from_rustdoc_json(path).omit_blanket_impls(true);
    let api = builder.omit_auto_trait_impls(true).build()?;
    let texts: HashMap<_, _> = api
        .items()
        .map(|item| (item.id(), item.to_string()))
        .collect();
    let mut lines = String::new();
    let mut listed = HashSet::new();
    for item in api.items() {
        let text = item.to_string();
        let parent = item.parent_id().and_then(|parent| texts.get(&parent));
        let parent = parent.map_or("", String::as_str);
        let is_member = !parent.is_empty() && !parent.starts_with("pub mod ");
        let is_listed = !listed.insert(item.id());
        let is_of_trait = parent.starts_with("impl") && parent.contains(" for ");
        // What `match` needs of a constant; it follows from `PartialEq`.
        let is_structural = text.contains("StructuralPartialEq for ");
        if is_member && is_listed || is_of_trait && text.contains("fn ") || is_structural {
            continue;
        }
        lines += &text;
        lines.push('\n');
    }
    Ok(lines)
}
