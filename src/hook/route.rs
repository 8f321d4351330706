//! The places that a path passes through, by the system's rules for names, to compare it with other files.
//!
//! Looks at files, as `links` does. Does not know the purpose of the files.

use std::path::{Component, Path, PathBuf};

use super::forms::{LONGEST_PATH, System, below, is_same, normal};
use super::links::{Steps, followed};

/// The places of one path: as it is written, without its `..`, and before and after each of its links. The last link leads
/// to the file itself, or to the place where it would be created.
#[derive(Debug)]
pub(crate) struct Route {
    places: Vec<String>,
}

impl Route {
    /// Follows an absolute path. Returns None if its target is not known.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if is_too_long(path) {
            return None;
        }
        let mut route = Self::without_links(path)?;
        for place in followed(path, &Steps::default())? {
            route.add(&place);
        }
        Some(route)
    }

    /// Creates the places without looking at files. Returns None if the path names a device.
    pub(crate) fn without_links(path: &Path) -> Option<Self> {
        let place = normal(&without_parents(path).to_string_lossy(), System::NATIVE)?;
        let places = vec![place];
        Some(Self { places })
    }

    fn add(&mut self, place: &Path) {
        // If a `..` is left in a place, the path has another place after its next link.
        if let Some(place) = normal(&place.to_string_lossy(), System::NATIVE)
            && !self.places.contains(&place)
        {
            self.places.push(place);
        }
    }

    /// Returns whether the path has these parts one after the other, in any case, at some of its places.
    #[cfg(feature = "cli")]
    pub(crate) fn has_parts(&self, parts: &Path) -> bool {
        let parts: Vec<_> = parts
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        let is_one = |(own, part): (&&str, &std::borrow::Cow<'_, str>)| {
            own.to_lowercase() == part.to_lowercase()
        };
        self.places.iter().any(|place| {
            let own: Vec<_> = place.split('/').collect();
            let mut all = own.windows(parts.len().max(1));
            all.any(|own| own.iter().zip(&parts).all(is_one))
        })
    }

    /// Returns whether the two paths lead to the same file, or this one to a directory that contains the other file.
    pub(crate) fn leads_to(&self, other: &Self) -> bool {
        let system = System::NATIVE;
        let holds = |directory: &str, path: &str| {
            is_same(directory, path, system) || below(path, directory, system).is_some()
        };
        let mut places = self.places.iter();
        places.any(|place| other.places.iter().any(|path| holds(place, path)))
    }
}

/// Returns whether no file can be opened by this path.
pub(crate) fn is_too_long(path: &Path) -> bool {
    path.as_os_str().len() > LONGEST_PATH
}

/// Returns a path with each `..` resolved by its text, as some programs do before they open a file.
pub(crate) fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
