//! The canonical text of a JSON value, independent of the order of its keys and the form of its numbers, and its short hash.
//! Digests and fingerprints are made from it.
//!
//! `serde_json`'s own text depends on its features, which any crate of a host's program can switch on.

use serde_json::{Number, Value};

/// Returns the text: keys sorted by their bytes, no white space, and numbers in their shortest form.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
        Value::Number(number) => write_number(number, text),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, member) in members {
                write(&Value::from(key.as_str()), text);
                text.push(':');
                write(member, text);
                text.push(',');
            }
            text.push('}');
        }
    }
}

/// Writes `5`, `5.0` and `5e0` as the same number.
fn write_number(number: &Number, text: &mut String) {
    let integer = number
        .as_i64()
        .map(i128::from)
        .or(number.as_u64().map(i128::from));
    // Below this number, each integer has its own float.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    match (integer, number.as_f64()) {
        (Some(integer), _) => text.push_str(&integer.to_string()),
        (None, Some(float)) if float.fract() == 0.0 && float.abs() < WHOLE => {
            text.push_str(&(float as i64).to_string());
        }
        (None, Some(float)) => text.push_str(&format!("{float:e}")),
        (None, None) => text.push_str(&number.to_string()),
    }
}

/// Computes FNV-1a: the result is the same in every build of every program. The standard library's hashes do
/// not guarantee this.
pub(super) fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_one_text() {
        let parse = |text: &str| canonical(&serde_json::from_str(text).unwrap());
        let expected = r#"{"a":[1,-2,1e-7,null,true,],"b":{"":"\n\"","ä":0,},}"#;
        for text in [
            r#"{"b": {"ä": 0, "": "\n\""}, "a": [1, -2, 1e-7, null, true]}"#,
            r#"{"a": [1.0, -2e0, 0.0000001, null, true], "b": {"": "\u000a\u0022", "ä": 0.0}}"#,
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        let others = [
            "[1,[2]]",
            "[[1],2]",
            "[1,2]",
            "[12]",
            "[\"1\",2]",
            "[1.5,2]",
            "{\"1\":2}",
        ];
        let mut texts: Vec<String> = others.map(parse).to_vec();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), others.len());
        assert_eq!(parse("18446744073709551615"), "18446744073709551615");
    }

    /// The values are from draft-eastlake-fnv.
    #[test]
    fn the_published_figures_come_out() {
        for (text, number) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(text.bytes()), number, "{text}");
        }
    }
}
