//! The items that wait for a thread, and which of them is next.
//!
//! Guards have priority over other items; within each of the two groups, the oldest comes first. Of the items
//! with one ordering key, only one runs at a time, and the others wait behind it. Knows nothing of threads,
//! nor of the items.

use std::collections::{BTreeMap, HashMap};

/// What the position of an item in the queue depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Priority {
    /// Whether a caller waits for the item's permission to continue.
    pub(crate) guard: bool,
    /// Items with the same key run one after the other.
    pub(crate) ordering_key: Option<u64>,
}

/// Identifies an item in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    pub(crate) priority: Priority,
}

#[derive(Debug)]
pub(crate) struct Queue<T> {
    guards: BTreeMap<u64, (Ticket, T)>,
    others: BTreeMap<u64, (Ticket, T)>,
    /// For each ordering key with an item that is ready or running: the items that wait behind that one.
    waiting: HashMap<u64, BTreeMap<u64, (Ticket, T)>>,
    len: usize,
    next: u64,
}

/// An item that was taken out of its turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Removed<T> {
    pub(crate) item: T,
    /// It was the next item of its ordering key. The other items wait until [`Queue::release`] is called.
    pub(crate) holds_key: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            guards: BTreeMap::new(),
            others: BTreeMap::new(),
            waiting: HashMap::new(),
            len: 0,
            next: 0,
        }
    }

    /// The number of items that wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The numbers of guards and of other items that could run now if there were enough threads.
    pub(crate) fn ready(&self) -> (usize, usize) {
        (self.guards.len(), self.others.len())
    }

    pub(crate) fn push(&mut self, priority: Priority, item: T) -> Ticket {
        let ticket = Ticket {
            number: self.next,
            priority,
        };
        self.next += 1;
        self.len += 1;
        match ticket
            .priority
            .ordering_key
            .and_then(|key| self.waiting.get_mut(&key))
        {
            Some(behind) => {
                behind.insert(ticket.number, (ticket, item));
            }
            None => {
                if let Some(key) = ticket.priority.ordering_key {
                    self.waiting.insert(key, BTreeMap::new());
                }
                self.make_ready(ticket, item);
            }
        }
        ticket
    }

    /// Takes the next item: a guard; without a guard, another item if `others_may`.
    pub(crate) fn pop(&mut self, others_may: bool) -> Option<(Ticket, T)> {
        let next = self.guards.pop_first().or_else(|| {
            let others = others_may.then_some(&mut self.others)?;
            others.pop_first()
        });
        let (_, (ticket, item)) = next?;
        self.len -= 1;
        Some((ticket, item))
    }

    pub(crate) fn contains(&self, ticket: Ticket) -> bool {
        let side = if ticket.priority.guard {
            &self.guards
        } else {
            &self.others
        };
        let behind = || self.waiting.get(&ticket.priority.ordering_key?);
        side.contains_key(&ticket.number)
            || behind().is_some_and(|behind| behind.contains_key(&ticket.number))
    }

    /// Takes an item out of its turn, if it still waits.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Removed<T>> {
        let ready = self.side(ticket.priority.guard).remove(&ticket.number);
        let (item, holds_key) = match ready {
            Some((_, item)) => (item, ticket.priority.ordering_key.is_some()),
            None => {
                let behind = self.waiting.get_mut(&ticket.priority.ordering_key?)?;
                (behind.remove(&ticket.number)?.1, false)
            }
        };
        self.len -= 1;
        Some(Removed { item, holds_key })
    }

    /// Ends the running item of this ordering key: its next item becomes ready. Returns whether there is one.
    pub(crate) fn release(&mut self, key: u64) -> bool {
        let Some(behind) = self.waiting.get_mut(&key) else {
            return false;
        };
        match behind.pop_first() {
            Some((_, (ticket, item))) => {
                self.make_ready(ticket, item);
                true
            }
            None => {
                self.waiting.remove(&key);
                false
            }
        }
    }

    /// Takes all items, oldest first.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let behind = self.waiting.drain().flat_map(|(_, behind)| behind);
        let mut all: Vec<_> = behind
            .chain(std::mem::take(&mut self.guards))
            .chain(std::mem::take(&mut self.others))
            .collect();
        self.len = 0;
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, (_, item))| item).collect()
    }

    fn make_ready(&mut self, ticket: Ticket, item: T) {
        self.side(ticket.priority.guard)
            .insert(ticket.number, (ticket, item));
    }

    fn side(&mut self, guard: bool) -> &mut BTreeMap<u64, (Ticket, T)> {
        if guard {
            &mut self.guards
        } else {
            &mut self.others
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A simple model of the queue: a list of all pushed items, oldest first.
    #[derive(Default)]
    struct Model {
        waiting: Vec<Ticket>,
        /// Items that were taken and whose ordering keys are not released yet.
        under_way: Vec<Ticket>,
    }

    impl Model {
        fn is_ready(&self, ticket: Ticket) -> bool {
            let Some(key) = ticket.priority.ordering_key else {
                return true;
            };
            let has_key = |other: &&Ticket| other.priority.ordering_key == Some(key);
            let first = self.waiting.iter().find(has_key);
            first == Some(&ticket) && !self.under_way.iter().any(|other| has_key(&other))
        }

        fn next(&self, others_may: bool) -> Option<Ticket> {
            let ready = |guard: bool| {
                let mut waiting = self.waiting.iter().copied();
                waiting.find(|ticket| ticket.priority.guard == guard && self.is_ready(*ticket))
            };
            ready(true).or_else(|| others_may.then(|| ready(false)).flatten())
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push { guard: bool, key: Option<u64> },
        Pop { others_may: bool },
        Remove { which: usize },
        End { which: usize },
        Drain,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (any::<bool>(), proptest::option::of(0..3_u64))
                .prop_map(|(guard, key)| Step::Push { guard, key }),
            6 => any::<bool>().prop_map(|others_may| Step::Pop { others_may }),
            2 => (0..20_usize).prop_map(|which| Step::Remove { which }),
            6 => (0..20_usize).prop_map(|which| Step::End { which }),
            1 => Just(Step::Drain),
        ]
    }

    fn take(queue: &mut Queue<u64>, model: &mut Model, step: &Step) {
        match *step {
            Step::Push { guard, key } => {
                let item = queue.next;
                let ticket = queue.push(
                    Priority {
                        guard,
                        ordering_key: key,
                    },
                    item,
                );
                model.waiting.push(ticket);
            }
            Step::Pop { others_may } => {
                let expected = model.next(others_may);
                let popped = queue.pop(others_may);
                assert_eq!(popped, expected.map(|ticket| (ticket, ticket.number)));
                model.waiting.retain(|ticket| Some(*ticket) != expected);
                model.under_way.extend(expected);
            }
            Step::Remove { which } => remove(queue, model, which),
            Step::End { which } => end(queue, model, which),
            Step::Drain => {
                let waiting = model.waiting.drain(..).map(|ticket| ticket.number);
                assert_eq!(queue.drain(), waiting.collect::<Vec<_>>());
                // The keys of running items are released later, without any effect.
                model.under_way.clear();
            }
        }
    }

    fn remove(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        let Some(&ticket) = model.waiting.get(which) else {
            return;
        };
        let was_next = ticket.priority.ordering_key.is_some() && model.is_ready(ticket);
        assert!(queue.contains(ticket));
        let removed = queue.remove(ticket).unwrap();
        assert_eq!((removed.item, removed.holds_key), (ticket.number, was_next));
        assert!(!queue.contains(ticket) && queue.remove(ticket).is_none());
        model.waiting.remove(which);
        model.under_way.extend(was_next.then_some(ticket));
    }

    fn end(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        if which >= model.under_way.len() {
            return;
        }
        if let Some(key) = model.under_way.remove(which).priority.ordering_key {
            let behind = |ticket: &Ticket| ticket.priority.ordering_key == Some(key);
            assert_eq!(queue.release(key), model.waiting.iter().any(behind));
        }
    }

    proptest! {
        #[test]
        fn the_queue_behaves_like_its_model(steps in proptest::collection::vec(step(), 0..200)) {
            let (mut queue, mut model) = (Queue::new(), Model::default());
            for step in steps {
                take(&mut queue, &mut model, &step);
                assert_eq!(queue.len(), model.waiting.len());
                let ready = |guard| {
                    let waiting = model.waiting.iter().filter(|ticket| ticket.priority.guard == guard);
                    waiting.filter(|ticket| model.is_ready(**ticket)).count()
                };
                assert_eq!(queue.ready(), (ready(true), ready(false)));
                let busy = |key: &u64| {
                    let all = model.waiting.iter().chain(&model.under_way);
                    all.filter_map(|ticket| ticket.priority.ordering_key).any(|used| used == *key)
                };
                assert!(queue.waiting.keys().all(busy), "an unused key is gone");
            }
        }
    }
}
