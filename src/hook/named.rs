//! The names of choices: one macro for all enums that appear in JSON.

/// Gives an enum its names in JSON: `as_str`, `ALL`, `Display`, `Serialize`, `Deserialize`.
macro_rules! named {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let given = String::deserialize(deserializer)?;
                let known = Self::ALL.iter().find(|value| value.as_str() == given);
                known.copied().ok_or_else(|| {
                    let expected = [$($name),+].join("`, `");
                    let words = format!("expected one of `{expected}`, found `{given}`");
                    serde::de::Error::custom(words)
                })
            }
        }
    };
}

pub(crate) use named;
