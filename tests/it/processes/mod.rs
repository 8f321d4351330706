//! A hook's process: how it is started and what it finds, and what it must not do to its host.

mod direct_exec;
mod execution;
#[cfg(unix)]
mod host_path;
#[cfg(unix)]
mod inherit;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(unix)]
mod trees;
