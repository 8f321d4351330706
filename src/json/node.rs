//! One value of a JSON text: in the tree of a file, where it has a place, or as a `serde_json::Value`, where it has none.
//!
//! Readers of entries use this form, so that they need not know where an entry comes from.

use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use serde_json::{Number, Value, json};

use super::fault::Fault;

/// The values of a text.
pub(crate) type JsonTree<'a> = ast::Value<'a>;

/// A value with its key.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t, 'a> {
    pub(crate) key: &'t str,
    form: Form<'t, 'a>,
}

#[derive(Clone, Copy)]
enum Form<'t, 'a> {
    Tree(&'t JsonTree<'a>),
    Value(&'t Value),
}

/// A key of an object, its place, and its value.
pub(crate) struct Member<'t, 'a> {
    pub(crate) key: &'t str,
    pub(crate) key_range: Range<usize>,
    pub(crate) value: Node<'t, 'a>,
}

impl Member<'_, '_> {
    /// Returns the key and the value as a part of an object in JSON.
    pub(crate) fn json(&self) -> String {
        format!("{}: {}", json!(self.key), self.value.json())
    }
}

/// Returns the type of a value, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    Node::from(value).kind()
}

fn span(part: &impl Ranged) -> Range<usize> {
    let range = part.range();
    range.start..range.end
}

impl<'t> From<&'t Value> for Node<'t, '_> {
    fn from(value: &'t Value) -> Self {
        let form = Form::Value(value);
        Self { key: "", form }
    }
}

impl<'t, 'a> Node<'t, 'a> {
    pub(crate) fn new(tree: &'t JsonTree<'a>) -> Self {
        let form = Form::Tree(tree);
        Self { key: "", form }
    }

    /// Returns the value as one that has no key: an item of a list.
    pub(crate) fn without_key(self) -> Self {
        Self { key: "", ..self }
    }

    /// Returns the bytes of the value in its text; empty if it has none.
    pub(crate) fn range(&self) -> Range<usize> {
        match self.form {
            Form::Tree(tree) => span(tree),
            Form::Value(_) => 0..0,
        }
    }

    /// Returns the place that a message shows: of an object or a list its first byte.
    pub(crate) fn place(&self) -> Range<usize> {
        let range = self.range();
        match self.form {
            Form::Tree(ast::Value::Object(_) | ast::Value::Array(_)) => self.first(),
            _ => range,
        }
    }

    /// Returns the first byte of the value: the place of a key that is missing in it.
    pub(crate) fn first(&self) -> Range<usize> {
        let Range { start, end } = self.range();
        start..end.min(start + 1)
    }

    /// Returns the value of a key, which may be `null`. If the key occurs twice, returns the last value.
    pub(crate) fn member(&self, key: &str) -> Option<Self> {
        match self.form {
            Form::Tree(_) => {
                let mut from_behind = self.properties().iter().rev();
                let property = from_behind.find(|property| property.name.as_str() == key)?;
                Some(Self::of_property(property))
            }
            Form::Value(value) => Some(Self::of_entry(value.as_object()?.get_key_value(key)?)),
        }
    }

    /// Returns the value of a key; `null` counts as missing, since other programs write it for missing values.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        self.member(key).filter(|member| !member.is_null())
    }

    pub(crate) fn is_null(&self) -> bool {
        match self.form {
            Form::Tree(tree) => tree.as_null_keyword().is_some(),
            Form::Value(value) => value.is_null(),
        }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = Member<'t, 'a>> + use<'t, 'a> {
        let of_tree = self.properties().iter().map(|property| Member {
            key: property.name.as_str(),
            key_range: span(&property.name),
            value: Self::of_property(property),
        });
        let entries = match self.form {
            Form::Tree(_) => None,
            Form::Value(value) => value.as_object(),
        };
        let of_value = entries.into_iter().flatten().map(|entry| Member {
            key: entry.0,
            key_range: 0..0,
            value: Self::of_entry(entry),
        });
        of_tree.chain(of_value)
    }

    fn of_property(property: &'t ObjectProp<'a>) -> Self {
        Self {
            key: property.name.as_str(),
            form: Form::Tree(&property.value),
        }
    }

    fn of_entry((key, value): (&'t String, &'t Value)) -> Self {
        Self {
            key,
            form: Form::Value(value),
        }
    }

    fn properties(&self) -> &'t [ObjectProp<'a>] {
        match self.form {
            Form::Tree(ast::Value::Object(object)) => &object.properties,
            _ => &[],
        }
    }

    /// Returns the items of a list, with the list's key.
    pub(crate) fn items(&self) -> Option<impl Iterator<Item = Self> + use<'t, 'a>> {
        let key = self.key;
        let (of_tree, of_value): (&'t [JsonTree<'a>], &'t [Value]) = match self.form {
            Form::Tree(tree) => (&tree.as_array()?.elements, &[]),
            Form::Value(value) => (&[], value.as_array()?),
        };
        let of_tree = of_tree.iter().map(Form::Tree);
        let forms = of_tree.chain(of_value.iter().map(Form::Value));
        Some(forms.map(move |form| Self { key, form }))
    }

    pub(crate) fn is_object(&self) -> bool {
        match self.form {
            Form::Tree(tree) => tree.as_object().is_some(),
            Form::Value(value) => value.is_object(),
        }
    }

    pub(crate) fn text(&self) -> Option<&'t str> {
        match self.form {
            Form::Tree(tree) => Some(&tree.as_string_lit()?.value),
            Form::Value(value) => value.as_str(),
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self.form {
            Form::Tree(tree) => tree.as_number_lit()?.value.parse().ok(),
            Form::Value(value) => value.as_f64(),
        }
    }

    pub(crate) fn switch(&self) -> Option<bool> {
        match self.form {
            Form::Tree(tree) => Some(tree.as_boolean_lit()?.value),
            Form::Value(value) => value.as_bool(),
        }
    }

    /// Returns the value without its place.
    ///
    /// # Errors
    /// If a number is out of range.
    pub(crate) fn value(&self) -> Result<Value, Fault> {
        let tree = match self.form {
            Form::Tree(tree) => tree,
            Form::Value(value) => return Ok(value.clone()),
        };
        Ok(match tree {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::StringLit(literal) => Value::String(literal.value.as_ref().to_owned()),
            ast::Value::NumberLit(literal) => match literal.value.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => {
                    let fault = Fault::new("the number is out of range", self.range());
                    return Err(fault.of_key(self.key));
                }
            },
            ast::Value::Array(array) => {
                // The list has its exact capacity, since the value is kept, and an entry may consist of brackets only.
                let mut values = Vec::with_capacity(array.elements.len());
                for item in self.items().into_iter().flatten() {
                    values.push(item.value()?);
                }
                Value::Array(values)
            }
            ast::Value::Object(_) => {
                let entry = |member: Member<'_, '_>| {
                    Ok::<_, Fault>((member.key.to_owned(), member.value.value()?))
                };
                Value::Object(self.members().map(entry).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Returns the value as JSON on one line, in its own order, without comments.
    pub(crate) fn json(&self) -> String {
        let tree = match self.form {
            Form::Tree(tree) => tree,
            Form::Value(value) => return value.to_string(),
        };
        let listed = |parts: Vec<String>| parts.join(", ");
        match tree {
            ast::Value::NullKeyword(_) => "null".to_owned(),
            ast::Value::BooleanLit(literal) => literal.value.to_string(),
            ast::Value::NumberLit(literal) => literal.value.to_owned(),
            ast::Value::StringLit(literal) => json!(literal.value).to_string(),
            ast::Value::Array(_) => {
                let items = self.items().into_iter().flatten();
                format!("[{}]", listed(items.map(|item| item.json()).collect()))
            }
            ast::Value::Object(_) => {
                let members = self.members().map(|member| member.json());
                format!("{{{}}}", listed(members.collect()))
            }
        }
    }

    /// Returns the type of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.form {
            Form::Tree(ast::Value::NullKeyword(_)) | Form::Value(Value::Null) => "null",
            Form::Tree(ast::Value::BooleanLit(_)) | Form::Value(Value::Bool(_)) => "true or false",
            Form::Tree(ast::Value::NumberLit(_)) | Form::Value(Value::Number(_)) => "a number",
            Form::Tree(ast::Value::StringLit(_)) | Form::Value(Value::String(_)) => "a string",
            Form::Tree(ast::Value::Array(_)) | Form::Value(Value::Array(_)) => "a list",
            Form::Tree(ast::Value::Object(_)) | Form::Value(Value::Object(_)) => "an object",
        }
    }

    /// Returns a message about an unexpected value.
    pub(crate) fn unexpected(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_object;
    use super::*;

    /// Returns the view that a reader of an entry has of a value, without its place.
    fn seen(node: Node<'_, '_>) -> String {
        let members = node.members();
        let members: Vec<_> = members
            .map(|member| (member.key, member.value.key, seen(member.value)))
            .collect();
        let items = node
            .items()
            .map(|items| items.map(seen).collect::<Vec<_>>());
        let scalars = (node.text(), node.number(), node.switch(), node.is_object());
        let value = node.value().unwrap();
        format!("{} {scalars:?} {members:?} {items:?} {value}", node.kind())
    }

    #[test]
    fn both_forms_of_a_value_are_read_alike() {
        let text = r#"{"a": [1, -2.5, true, null, "x", {"b": {}}], "c": "", "d": null}"#;
        let tree = parse_object(text).unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        let (of_tree, of_value) = (Node::new(&tree), Node::from(&value));
        assert_eq!(seen(of_tree), seen(of_value));
        for node in [of_tree, of_value] {
            assert_eq!(node.member("a").unwrap().items().unwrap().count(), 6);
            assert!(node.get("d").is_none() && node.member("d").is_some());
            assert!(node.member("e").is_none());
        }
        assert_eq!(&text[of_tree.member("c").unwrap().range()], "\"\"");
        assert_eq!(of_value.member("c").unwrap().range(), 0..0);
    }
}
