//! When a process is kept, and when another takes its place.
