//! Replaces `confined` on systems where no process can be confined: a process that must be confined is not started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::path::Path;
use std::process::Command;

use super::child::Started;
use crate::process::temporary::Temporary;
use crate::process::{Confinement, Place, Refused};

/// Returns the error that no process can be confined.
pub(crate) fn support() -> Result<(), Refused> {
    Err(Refused::on_this_system())
}

/// Returns the error that no place can be opened.
pub(crate) fn check_place(_place: &Place) -> Result<(), Refused> {
    support()
}

pub(super) struct Start;

impl Start {
    pub(super) fn new(
        _command: &Command,
        _environment: &BTreeMap<OsString, OsString>,
        _working_dir: &Path,
    ) -> io::Result<Self> {
        support().map_err(io::Error::other)?;
        Ok(Self)
    }

    pub(super) fn within(self, _to: &Confinement, _temporary: &Temporary) -> io::Result<Self> {
        Ok(self)
    }

    pub(super) fn spawn(&self, _stdin: Option<&PipeReader>) -> io::Result<Started> {
        support().map_err(io::Error::other)?;
        Err(io::ErrorKind::Unsupported.into())
    }
}
