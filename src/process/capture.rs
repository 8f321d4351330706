//! The output of a process: all of it up to a limit; beyond the limit, its head and its tail.

use std::collections::VecDeque;

/// Captured output, in bounded memory however long the output is.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    limit: usize,
    total: u64,
}

impl Captured {
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let head_room = (self.limit - self.limit / 2) - self.head.len();
        let (to_head, rest) = bytes.split_at(bytes.len().min(head_room));
        self.head.extend_from_slice(to_head);
        let tail_limit = self.limit / 2;
        bytes = &rest[rest.len().saturating_sub(tail_limit)..];
        let overflow = (self.tail.len() + bytes.len()).saturating_sub(tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(bytes);
    }

    /// The number of bytes that were written but not kept.
    pub(crate) fn omitted(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the place within the kept bytes where others were left out; none if all were kept.
    pub(crate) fn gap(&self) -> Option<usize> {
        (self.omitted() > 0).then_some(self.head.len())
    }

    /// Returns a copy of the bytes that were kept.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (head, tail) = self.tail.as_slices();
        [&self.head, head, tail].concat()
    }

    /// Returns the bytes that were kept.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.head.extend(self.tail);
        self.head
    }

    /// Returns the bytes that were kept, head and tail separately.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        (self.head, self.tail.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn head_and_tail_are_kept(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0_usize..100,
        ) {
            let whole = pieces.concat();
            let mut captured = Captured::with_limit(limit);
            for piece in &pieces {
                captured.push(piece);
            }
            let kept = whole.len().min(limit);
            prop_assert_eq!(captured.omitted(), (whole.len() - kept) as u64);
            let head = kept.min(limit - limit / 2);
            let expected = [&whole[..head], &whole[whole.len() - (kept - head)..]].concat();
            prop_assert_eq!(captured.into_bytes(), expected);
        }
    }
}
