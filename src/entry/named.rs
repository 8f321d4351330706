//! Choices with names in JSON: one macro for all such enums.

/// Declares an enum whose values have names in JSON, with `as_str`, `ALL`, `Display`, `Serialize`, `Deserialize`. The
/// declaration says whether the enum is `#[non_exhaustive]`.
macro_rules! named {
    ($(#[$about:meta])* $visibility:vis enum $type:ident {
        $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $visibility enum $type {
            $($(#[$of_variant])* $variant,)+
        }

        impl $type {
            /// Every value, in the order of the documentation.
            $visibility const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name in JSON.
            #[must_use]
            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
                    let message = format!("expected one of `{expected}`, found `{given}`");
                    serde::de::Error::custom(message)
                })
            }
        }
    };
}

pub(crate) use named;
