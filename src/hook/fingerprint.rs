//! A short number that identifies a hook's definition. A program uses it to recognize the hooks that run
//! above it.
//!
//! Knows how the number is computed and cached, not which parts of a hook it covers.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number, once it has been computed; 0 before.
#[derive(Debug, Default)]
pub(super) struct Fingerprint(AtomicU64);

/// Clones do not copy the number, since a clone may be changed.
impl Clone for Fingerprint {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Fingerprint {
    /// Threads that compute it at the same time get the same number.
    pub(super) fn get_or_count(&self, count: impl FnOnce() -> u64) -> u64 {
        let known = self.0.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let number = count();
        self.0.store(number, Ordering::Relaxed);
        number
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
