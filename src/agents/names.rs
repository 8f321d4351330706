//! Lists of names, and of names with values.

pub(crate) type Words = &'static [&'static str];

/// Keys with their values.
pub(crate) type Pairs = &'static [(&'static str, &'static str)];

/// Returns the value of a key.
pub(crate) fn value_of<T: Copy>(pairs: &[(&'static str, T)], key: &str) -> Option<T> {
    let (_, value) = pairs.iter().find(|(name, _)| *name == key)?;
    Some(*value)
}
