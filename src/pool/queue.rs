//! The items that wait for a thread, and which of them is next.
//!
//! Guards have priority over other items; within each of the two groups, the oldest comes first. Of the items with one
//! ordering key, only one runs at a time, and the others wait behind it. Knows nothing of threads, and nothing of the
//! content of the items.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// The values that determine an item's position in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Priority {
    /// True if a caller waits for the item's permission to continue.
    pub(crate) guard: bool,
    /// The ordering key. Items with the same key run one after the other.
    pub(crate) ordering_key: Option<u64>,
}

/// The identity of an item. The item with the smallest ticket is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket {
    pub(super) is_other: bool,
    pub(super) number: u64,
    ordering_key: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Queue<T> {
    /// The items that could run now.
    ready: BTreeMap<Ticket, T>,
    keys: HashMap<u64, Ordered<T>>,
    len: usize,
    next: u64,
}

/// The items of one ordering key.
#[derive(Debug)]
struct Ordered<T> {
    /// The number of the item that is ready or runs.
    first: u64,
    behind: BTreeMap<u64, (Ticket, T)>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            ready: BTreeMap::new(),
            keys: HashMap::new(),
            len: 0,
            next: 0,
        }
    }
}

impl<T> Queue<T> {
    /// Returns the number of items that wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, priority: Priority, item: T) -> Ticket {
        let number = self.next;
        let ticket = Ticket {
            is_other: !priority.guard,
            number,
            ordering_key: priority.ordering_key,
        };
        self.next += 1;
        self.len += 1;
        match ticket.ordering_key.map(|key| self.keys.entry(key)) {
            Some(Entry::Occupied(mut ordered)) => {
                ordered.get_mut().behind.insert(number, (ticket, item));
                return ticket;
            }
            Some(Entry::Vacant(free)) => {
                let behind = BTreeMap::new();
                free.insert(Ordered {
                    first: number,
                    behind,
                });
            }
            None => {}
        }
        self.ready.insert(ticket, item);
        ticket
    }

    /// Returns whether `pop` would return an item.
    pub(crate) fn has_next(&self, others_may: bool) -> bool {
        let next = self.ready.first_key_value();
        next.is_some_and(|(ticket, _)| others_may || !ticket.is_other)
    }

    /// Takes the next item: a guard or, if none waits and `others_may`, another item. Its ordering key is held
    /// until [`Queue::release`].
    pub(crate) fn pop(&mut self, others_may: bool) -> Option<(Ticket, T)> {
        if !self.has_next(others_may) {
            return None;
        }
        let next = self.ready.pop_first()?;
        self.len -= 1;
        Some(next)
    }

    /// Takes an item out of its turn, if it still waits. If it was the first of its ordering key, the key is held
    /// until [`Queue::release`].
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<T> {
        let item = match self.ready.remove(&ticket) {
            Some(item) => item,
            None => {
                let ordered = self.keys.get_mut(&ticket.ordering_key?)?;
                ordered.behind.remove(&ticket.number)?.1
            }
        };
        self.len -= 1;
        Some(item)
    }

    /// Ends an item that was taken: the next item of its ordering key becomes ready. Has no effect if the item
    /// does not hold its key.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        let Some(key) = ticket.ordering_key else {
            return;
        };
        let ordered = self.keys.get_mut(&key);
        let Some(ordered) = ordered.filter(|ordered| ordered.first == ticket.number) else {
            return;
        };
        match ordered.behind.pop_first() {
            Some((number, (next, item))) => {
                ordered.first = number;
                self.ready.insert(next, item);
            }
            None => drop(self.keys.remove(&key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A simple model of the queue: a list of all pushed items, oldest first.
    #[derive(Default)]
    struct Model {
        waiting: Vec<Ticket>,
        /// Items that were taken and not released yet, and whether each holds its ordering key.
        under_way: Vec<(Ticket, bool)>,
    }

    impl Model {
        fn is_ready(&self, ticket: Ticket) -> bool {
            let Some(key) = ticket.ordering_key else {
                return true;
            };
            let has_key = |other: &&Ticket| other.ordering_key == Some(key);
            let first = self.waiting.iter().find(has_key);
            first == Some(&ticket)
                && !self
                    .under_way
                    .iter()
                    .any(|(other, holds)| *holds && has_key(&other))
        }

        fn next(&self, others_may: bool) -> Option<Ticket> {
            let ready = |guard: bool| {
                let mut waiting = self.waiting.iter().copied();
                waiting.find(|ticket| ticket.is_other != guard && self.is_ready(*ticket))
            };
            ready(true).or_else(|| others_may.then(|| ready(false)).flatten())
        }
    }

    /// A step: its kind, its key or item, and whether a guard is pushed or others may be popped.
    type Step = (u8, usize, bool);

    fn take(queue: &mut Queue<u64>, model: &mut Model, (what, which, guard): Step) {
        match what {
            0..8 => {
                // One in four items has no key.
                let ordering_key = (0..3).nth(which % 4);
                let priority = Priority {
                    guard,
                    ordering_key,
                };
                let item = queue.next;
                model.waiting.push(queue.push(priority, item));
            }
            8..14 => {
                let expected = model.next(guard);
                let popped = queue.pop(guard);
                assert_eq!(popped, expected.map(|ticket| (ticket, ticket.number)));
                model.waiting.retain(|ticket| Some(*ticket) != expected);
                let popped = expected.map(|ticket| (ticket, true));
                model.under_way.extend(popped);
            }
            14..16 => remove(queue, model, which),
            _ => end(queue, model, which),
        }
    }

    fn remove(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        let Some(&ticket) = model.waiting.get(which) else {
            return;
        };
        let holds_key = model.is_ready(ticket);
        assert_eq!(queue.take(ticket), Some(ticket.number));
        assert_eq!(queue.take(ticket), None);
        model.waiting.remove(which);
        model.under_way.push((ticket, holds_key));
    }

    fn end(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        if which < model.under_way.len() {
            let (ticket, _) = model.under_way.remove(which);
            queue.release(ticket);
            queue.release(ticket);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_queue_behaves_like_its_model(
            steps in proptest::collection::vec((0..22_u8, 0..20_usize, any::<bool>()), 0..200),
        ) {
            let (mut queue, mut model) = (Queue::default(), Model::default());
            for step in steps {
                take(&mut queue, &mut model, step);
                assert_eq!(queue.len(), model.waiting.len());
                for others_may in [false, true] {
                    assert_eq!(queue.has_next(others_may), model.next(others_may).is_some());
                }
                let ready = model.waiting.iter().filter(|ticket| model.is_ready(**ticket));
                assert_eq!(ready.collect::<BTreeSet<_>>(), queue.ready.keys().collect());
                let busy = |key: &u64| {
                    let holding = model.under_way.iter().filter(|(_, holds)| *holds);
                    let all = model.waiting.iter().chain(holding.map(|(ticket, _)| ticket));
                    all.filter_map(|ticket| ticket.ordering_key).any(|used| used == *key)
                };
                assert!(queue.keys.keys().all(busy), "an unused key is gone");
            }
        }
    }
}
