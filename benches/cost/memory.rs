//! Counts the allocations of a thread, and the bytes that it holds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// An allocator that counts for each thread separately, since the threads of a pool allocate too.
struct Counting;

thread_local! {
    // Neither lazily initialized nor dropped, so that the allocator can use them at any time.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static GIVEN_BACK: Cell<usize> = const { Cell::new(0) };
}

/// Returns how often this thread has allocated.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Returns the bytes that this thread has allocated and not freed since `before`, an earlier result
/// of [`taken_and_given_back`].
pub(crate) fn bytes_held_since(before: (usize, usize)) -> usize {
    let (taken, given_back) = taken_and_given_back();
    (taken - before.0).saturating_sub(given_back - before.1)
}

pub(crate) fn taken_and_given_back() -> (usize, usize) {
    (TAKEN.get(), GIVEN_BACK.get())
}

fn count(taken: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    TAKEN.set(TAKEN.get() + taken);
}

fn count_back(bytes: usize) {
    GIVEN_BACK.set(GIVEN_BACK.get() + bytes);
}

// SAFETY: each method passes its arguments to the system's allocator, whose contract is the same,
// and returns its result. Counting neither allocates nor panics.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: see above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        count_back(layout.size());
        // SAFETY: see above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_back(layout.size());
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
