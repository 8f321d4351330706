//! An object of a settings file: access by key, and problems with unexpected values.
//!
//! Does not know any particular tool.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;

use crate::config::Severity;
use crate::config::reading::{Finding, last, properties};

impl Finding {
    pub(super) fn error(at: &Node<'_, '_>, message: impl Into<String>) -> Self {
        Self::new(at.key, message).at(Severity::Error, &at.range())
    }

    pub(super) fn warning(at: &Node<'_, '_>, message: impl Into<String>) -> Self {
        Self::new(at.key, message).at(Severity::Warning, &at.range())
    }
}

/// A value with its key.
#[derive(Clone, Copy)]
pub(super) struct Node<'t, 'a> {
    pub(super) key: &'t str,
    pub(super) value: &'t ast::Value<'a>,
}

impl<'t, 'a> Node<'t, 'a> {
    pub(super) fn new(value: &'t ast::Value<'a>) -> Self {
        Self { key: "", value }
    }

    /// Returns the range of the value; for an object, its first byte.
    pub(super) fn range(&self) -> Range<usize> {
        let range = self.value.range();
        match self.value {
            ast::Value::Object(_) | ast::Value::Array(_) => range.start..range.start + 1,
            _ => range.start..range.end,
        }
    }

    /// Returns a member; `null` counts as missing.
    pub(super) fn get(&self, key: &'t str) -> Option<Self> {
        let value = last(properties(self.value), key)?;
        let is_null = matches!(value, ast::Value::NullKeyword(_));
        (!is_null).then_some(Self { key, value })
    }

    pub(super) fn text(&self) -> Option<&'t str> {
        match self.value {
            ast::Value::StringLit(literal) => Some(&literal.value),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.value {
            ast::Value::NumberLit(literal) => literal.value.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Option<&'t [ast::Value<'a>]> {
        self.value.as_array().map(|array| &*array.elements)
    }

    pub(super) fn is_object(&self) -> bool {
        self.value.as_object().is_some()
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            ast::Value::NullKeyword(_) => "null",
            ast::Value::BooleanLit(_) => "true or false",
            ast::Value::NumberLit(_) => "a number",
            ast::Value::StringLit(_) => "a string",
            ast::Value::Array(_) => "a list",
            ast::Value::Object(_) => "an object",
        }
    }

    /// Returns a message about an unexpected value.
    pub(super) fn unexpected(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.kind())
    }
}
