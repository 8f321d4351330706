//! The packs: hooks files of guards for one subject, which `add` writes. Each is a JSON file in this directory.
//!
//! Compares a file with a pack. Does not know where the files are. `tests/it/packs` tries the guards of each.

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

use crate::hook::canonical;
use crate::json::{Node, parse_object, readable};
use crate::named::of_text;
use crate::printable::printable;

pub(crate) struct Pack {
    pub(crate) name: &'static str,
    /// The text of its file.
    pub(crate) text: &'static str,
}

/// Lists packs by their names, which are those of their files.
macro_rules! packs {
    ($($name:literal),*) => {
        [$(Pack { name: $name, text: include_str!(concat!($name, ".json")) }),*]
    };
}

pub(crate) static PACKS: [Pack; 12] = packs![
    "agents",
    "docker",
    "git",
    "kubernetes",
    "network",
    "notify",
    "publish",
    "rm",
    "secrets",
    "sql",
    "sudo",
    "terraform"
];

/// The key of a file that is a pack.
const PACK: &str = "pack";
/// The key of the digest in `pack`: without it, a changed file could not be told from another version.
const DIGEST: &str = "sha256";

impl Pack {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PACKS.iter().find(|pack| pack.name == name)
    }

    pub(crate) fn content(&self) -> Content {
        // A test reads each pack.
        Content::read(self.text).unwrap_or_default()
    }

    /// Compares a file with this pack.
    ///
    /// # Errors
    /// If the text is not a JSON object: the reason.
    pub(crate) fn compare(&self, text: &str) -> Result<Standing, String> {
        let (file, own) = (Content::read(text)?, self.content());
        if file.name() != Some(self.name) {
            return Ok(Standing::Own);
        }
        let version = file.version();
        Ok(match file.is_unedited(text) {
            true if digest(text) == digest(self.text) => Standing::Current,
            true => Standing::Other {
                version,
                differences: own.differences(&file),
            },
            false => Standing::Edited(own.differences(&file)),
        })
    }
}

/// The relation of a file to a pack of the same name.
#[derive(Debug, PartialEq)]
pub(crate) enum Standing {
    /// The pack as this program has it.
    Current,
    /// Another version of the pack, as a program wrote it.
    Other {
        version: u64,
        differences: Vec<Difference>,
    },
    /// The pack, changed by a person: also a comment, or the form of its text.
    Edited(Vec<Difference>),
    /// A file that says nothing of this pack.
    Own,
}

/// A difference between a file and the pack.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    /// The name of the guard, or the key of the file.
    pub(crate) name: String,
    /// The key in which the guard differs; none if the guard is missing on one side.
    pub(crate) key: Option<String>,
    /// Its value in the file.
    pub(crate) file: Option<Value>,
    /// Its value in the pack.
    pub(crate) pack: Option<Value>,
}

/// Names what differs, as seen from the file.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = printable(&self.name);
        match (&self.key, &self.file, &self.pack) {
            (Some(key), ..) => write!(f, "`{}` of `{name}`", printable(key)),
            (None, Some(_), Some(_)) => write!(f, "`{name}`"),
            (None, Some(_), None) => write!(f, "`{name}`, which the pack does not have"),
            (None, None, _) => write!(f, "`{name}`, which the file does not have"),
        }
    }
}

/// Names what differs.
pub(crate) fn summary(differences: &[Difference]) -> String {
    match differences {
        [] => "the form of its text".to_owned(),
        _ => {
            let names: Vec<_> = differences.iter().map(Difference::to_string).collect();
            names.join(", ")
        }
    }
}

/// The content of a hooks file.
#[derive(Default)]
pub(crate) struct Content {
    members: Map<String, Value>,
}

impl Content {
    /// # Errors
    /// If the text is not a JSON object: the reason.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let text = readable(text);
        let tree = parse_object(&text).map_err(|problem| problem.message)?;
        match Node::new(&tree).value() {
            Ok(Value::Object(members)) => Ok(Self { members }),
            Ok(_) => Err("expected an object".to_owned()),
            Err(fault) => Err(fault.message),
        }
    }

    /// Returns the name of the pack that the file says to be.
    pub(crate) fn name(&self) -> Option<&str> {
        self.of_pack("name")?.as_str()
    }

    pub(crate) fn version(&self) -> u64 {
        let version = self.of_pack("version").and_then(Value::as_u64);
        version.unwrap_or_default()
    }

    pub(crate) fn about(&self) -> &str {
        let about = self.of_pack("about").and_then(Value::as_str);
        about.unwrap_or_default()
    }

    fn of_pack(&self, key: &str) -> Option<&Value> {
        self.members.get(PACK)?.get(key)
    }

    /// Returns the guards by their names, each name once.
    pub(crate) fn guards(&self) -> Vec<(String, &Value)> {
        let mut guards: Vec<(String, &Value)> = Vec::new();
        let list = self.members.get("hooks").and_then(Value::as_array);
        for (index, guard) in list.into_iter().flatten().enumerate() {
            let place = format!("hooks[{index}]");
            let name = guard.get("name").and_then(Value::as_str);
            let name = name.filter(|name| guards.iter().all(|(other, _)| other != name));
            guards.push((name.map_or(place, str::to_owned), guard));
        }
        guards
    }

    /// Returns whether this text, of which the content was read, is the one of which its digest was made.
    fn is_unedited(&self, text: &str) -> bool {
        self.of_pack(DIGEST).and_then(Value::as_str) == Some(&*digest(text))
    }

    /// Returns how a file differs from this pack: its guards, their keys and order, and the other keys of the file.
    fn differences(&self, file: &Self) -> Vec<Difference> {
        let (pack_guards, file_guards) = (self.guards(), file.guards());
        let mut all = Vec::new();
        for (name, guards) in pairs(&pack_guards, &file_guards) {
            let is_whole = |guard: Option<&Value>| guard.is_none_or(|guard| !guard.is_object());
            let [pack, file] = guards;
            if is_whole(pack) || is_whole(file) {
                all.extend(difference(name, None, guards));
                continue;
            }
            let [pack, file] = guards.map(members_of);
            let keys = pairs(&pack, &file);
            all.extend(keys.filter_map(|(key, values)| difference(name, Some(key), values)));
        }
        let names = |guards: &[(String, &Value)]| {
            let names = guards.iter().map(|(name, _)| name.clone().into());
            Value::Array(names.collect())
        };
        if all.is_empty() {
            let order = [&pack_guards, &file_guards].map(|guards| names(guards));
            all.extend(difference(
                "hooks",
                Some("order"),
                order.each_ref().map(Some),
            ));
        }
        let [pack, file] = [self, file].map(|content| {
            let members = content.members.iter();
            let others = members.filter(|(key, _)| *key != "hooks" && *key != PACK);
            let others = others.map(|(key, value)| (key.clone(), value));
            // The version and the digest say themselves that they differ.
            let of_pack = members_of(content.members.get(PACK)).into_iter();
            let of_pack = of_pack.filter(|(key, _)| key != DIGEST && key != "version");
            of_pack
                .map(|(key, value)| (format!("{PACK}.{key}"), value))
                .chain(others)
                .collect::<Vec<_>>()
        });
        all.extend(pairs(&pack, &file).filter_map(|(key, values)| difference(key, None, values)));
        all
    }
}

/// Computes the digest of a text, with nothing in the place of its digest. The line ends of Windows make no difference.
fn digest(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let key = format!("\"{DIGEST}\": \"");
    let without = text.split_once(&key).map(|(before, after)| {
        let after = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        format!("{before}{key}{after}")
    });
    of_text(without.unwrap_or(text))
}

fn members_of(guard: Option<&Value>) -> Vec<(String, &Value)> {
    let members = guard.and_then(Value::as_object).into_iter().flatten();
    members.map(|(key, value)| (key.clone(), value)).collect()
}

/// Returns the values of two lists by their names, those of the first list before those that only the second has.
fn pairs<'a>(
    first: &'a [(String, &'a Value)],
    second: &'a [(String, &'a Value)],
) -> impl Iterator<Item = (&'a str, [Option<&'a Value>; 2])> {
    let value_in = |list: &[(String, &'a Value)], name: &str| {
        list.iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| *value)
    };
    let added = second
        .iter()
        .filter(move |(name, _)| value_in(first, name).is_none());
    let all = first.iter().chain(added);
    all.map(move |(name, _)| (&**name, [first, second].map(|list| value_in(list, name))))
}

/// Returns the difference of a value in the pack and one in the file, if they differ.
fn difference(name: &str, key: Option<&str>, values: [Option<&Value>; 2]) -> Option<Difference> {
    let [pack, file] = values;
    let text = |value: Option<&Value>| value.map(canonical);
    (text(pack) != text(file)).then(|| Difference {
        name: name.to_owned(),
        key: key.map(str::to_owned),
        file: file.cloned(),
        pack: pack.cloned(),
    })
}
