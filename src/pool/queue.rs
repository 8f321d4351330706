//! What waits for a thread, and which of it is next.
//!
//! Guards go ahead of the others; within each of the two, the oldest is first. Of a lane, one is
//! under way at a time and the rest waits behind it. Knows neither threads nor what it holds.

use std::collections::{BTreeMap, HashMap};

/// Where something stands in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether somebody waits for leave to go on.
    pub(crate) guard: bool,
    /// What is in the same lane comes one after the other.
    pub(crate) lane: Option<u64>,
}

/// By which something in the queue is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) struct Queue<T> {
    guards: BTreeMap<u64, (Ticket, T)>,
    others: BTreeMap<u64, (Ticket, T)>,
    /// Of each lane that has something under way, or next, what waits behind that.
    lanes: HashMap<u64, BTreeMap<u64, (Ticket, T)>>,
    len: usize,
    next: u64,
}

/// Something that was taken out of its turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Removed<T> {
    pub(crate) item: T,
    /// It was its lane's next: the lane waits until [`Queue::leave`] is told of its end.
    pub(crate) holds_lane: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            guards: BTreeMap::new(),
            others: BTreeMap::new(),
            lanes: HashMap::new(),
            len: 0,
            next: 0,
        }
    }

    /// How much waits.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many could be under way at once, were there threads for so many guards and others.
    pub(crate) fn ready(&self) -> (usize, usize) {
        (self.guards.len(), self.others.len())
    }

    pub(crate) fn push(&mut self, place: Place, item: T) -> Ticket {
        let ticket = Ticket {
            number: self.next,
            place,
        };
        self.next += 1;
        self.len += 1;
        match ticket.place.lane.and_then(|lane| self.lanes.get_mut(&lane)) {
            Some(behind) => {
                behind.insert(ticket.number, (ticket, item));
            }
            None => {
                if let Some(lane) = ticket.place.lane {
                    self.lanes.insert(lane, BTreeMap::new());
                }
                self.make_ready(ticket, item);
            }
        }
        ticket
    }

    /// The next: a guard, else, if they may, another.
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
        let side = if ticket.place.guard {
            &self.guards
        } else {
            &self.others
        };
        let behind = || self.lanes.get(&ticket.place.lane?);
        side.contains_key(&ticket.number)
            || behind().is_some_and(|behind| behind.contains_key(&ticket.number))
    }

    /// Takes something out of its turn, if it still waits.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Removed<T>> {
        let ready = self.side(ticket.place.guard).remove(&ticket.number);
        let (item, holds_lane) = match ready {
            Some((_, item)) => (item, ticket.place.lane.is_some()),
            None => {
                let behind = self.lanes.get_mut(&ticket.place.lane?)?;
                (behind.remove(&ticket.number)?.1, false)
            }
        };
        self.len -= 1;
        Some(Removed { item, holds_lane })
    }

    /// What was under way in the lane has ended: the next of it is ready, if there is one.
    pub(crate) fn leave(&mut self, lane: u64) -> bool {
        let Some(behind) = self.lanes.get_mut(&lane) else {
            return false;
        };
        match behind.pop_first() {
            Some((_, (ticket, item))) => {
                self.make_ready(ticket, item);
                true
            }
            None => {
                self.lanes.remove(&lane);
                false
            }
        }
    }

    /// Everything, oldest first.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let behind = self.lanes.drain().flat_map(|(_, behind)| behind);
        let mut all: Vec<_> = behind
            .chain(std::mem::take(&mut self.guards))
            .chain(std::mem::take(&mut self.others))
            .collect();
        self.len = 0;
        all.sort_unstable_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, (_, item))| item).collect()
    }

    fn make_ready(&mut self, ticket: Ticket, item: T) {
        self.side(ticket.place.guard)
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

    /// The same, said as plainly as can be: a list of all that was pushed, oldest first.
    #[derive(Default)]
    struct Model {
        waiting: Vec<Ticket>,
        /// Taken, and their lanes not left yet.
        under_way: Vec<Ticket>,
    }

    impl Model {
        fn is_ready(&self, ticket: Ticket) -> bool {
            let Some(lane) = ticket.place.lane else {
                return true;
            };
            let in_lane = |other: &&Ticket| other.place.lane == Some(lane);
            let first = self.waiting.iter().find(in_lane);
            first == Some(&ticket) && !self.under_way.iter().any(|other| in_lane(&other))
        }

        fn next(&self, others_may: bool) -> Option<Ticket> {
            let ready = |guard: bool| {
                let mut waiting = self.waiting.iter().copied();
                waiting.find(|ticket| ticket.place.guard == guard && self.is_ready(*ticket))
            };
            ready(true).or_else(|| others_may.then(|| ready(false)).flatten())
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push { guard: bool, lane: Option<u64> },
        Pop { others_may: bool },
        Remove { which: usize },
        End { which: usize },
        Drain,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (any::<bool>(), proptest::option::of(0..3_u64))
                .prop_map(|(guard, lane)| Step::Push { guard, lane }),
            6 => any::<bool>().prop_map(|others_may| Step::Pop { others_may }),
            2 => (0..20_usize).prop_map(|which| Step::Remove { which }),
            6 => (0..20_usize).prop_map(|which| Step::End { which }),
            1 => Just(Step::Drain),
        ]
    }

    fn take(queue: &mut Queue<u64>, model: &mut Model, step: &Step) {
        match *step {
            Step::Push { guard, lane } => {
                let item = queue.next;
                let ticket = queue.push(Place { guard, lane }, item);
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
                // The lanes of what is under way are left later, to no effect.
                model.under_way.clear();
            }
        }
    }

    fn remove(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        let Some(&ticket) = model.waiting.get(which) else {
            return;
        };
        let was_next = ticket.place.lane.is_some() && model.is_ready(ticket);
        assert!(queue.contains(ticket));
        let removed = queue.remove(ticket).unwrap();
        assert_eq!(
            (removed.item, removed.holds_lane),
            (ticket.number, was_next)
        );
        assert!(!queue.contains(ticket) && queue.remove(ticket).is_none());
        model.waiting.remove(which);
        model.under_way.extend(was_next.then_some(ticket));
    }

    fn end(queue: &mut Queue<u64>, model: &mut Model, which: usize) {
        if which >= model.under_way.len() {
            return;
        }
        if let Some(lane) = model.under_way.remove(which).place.lane {
            let behind = |ticket: &Ticket| ticket.place.lane == Some(lane);
            assert_eq!(queue.leave(lane), model.waiting.iter().any(behind));
        }
    }

    proptest! {
        #[test]
        fn the_queue_does_what_is_said_of_it(steps in proptest::collection::vec(step(), 0..200)) {
            let (mut queue, mut model) = (Queue::new(), Model::default());
            for step in steps {
                take(&mut queue, &mut model, &step);
                assert_eq!(queue.len(), model.waiting.len());
                let ready = |guard| {
                    let waiting = model.waiting.iter().filter(|ticket| ticket.place.guard == guard);
                    waiting.filter(|ticket| model.is_ready(**ticket)).count()
                };
                assert_eq!(queue.ready(), (ready(true), ready(false)));
                let busy = |lane: &u64| {
                    let all = model.waiting.iter().chain(&model.under_way);
                    all.filter_map(|ticket| ticket.place.lane).any(|used| used == *lane)
                };
                assert!(queue.lanes.keys().all(busy), "a lane that nobody uses is gone");
            }
        }
    }
}
