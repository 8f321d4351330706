//! The path of an event as hooks see it, and back.
//!
//! - A path is joined with the event's `cwd`. Each `..` is resolved by name, as some programs do. If it follows a link
//!   and the link would lead other programs elsewhere, the path has two meanings, which is an error.
//! - A path in the project is relative to its root, also if it goes there through a link outside of the project or
//!   the root is spelled otherwise, as in other case. Links in the project keep their names, and so does the last part. The root is `.`.
//! - Any other path is absolute; an empty one stays empty. One that begins with `~/` or `file:` or has blanks around it is an
//!   error, since some programs read another one. So is one below `/proc/self`, `/proc/PID` or `/dev/fd`, also through links: what is
//!   there depends on the process.
//! - On Windows, hooks see `/` between names. Names keep their case and their dots at the end, which globs see through.
//!
//! Looks at files, and at no more than 256 parts of a path. Does not know which argument of a tool has a path.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::files::is_missing;
use crate::globs::with_slashes;
use crate::paths::{is_of_process, is_too_long};

/// The most parts of a path: some are looked up, each from the first part on.
const MOST_PARTS: usize = 256;

/// The directories that the paths of an event depend on.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// The directory in which relative paths of the event begin.
    pub(super) cwd: &'a Path,
    /// The project's root, without links.
    pub(super) root: &'a Path,
}

impl Places<'_> {
    /// Returns the path as hooks see it.
    ///
    /// # Errors
    /// If the path means different files to different programs, or is not known to name any: it has `..` after a link, `~` or
    /// `file:` at its beginning, blanks around it, a NUL, more than 4,096 bytes or 256 parts, a part that depends on the process, or
    /// the `cwd` is not absolute.
    pub(super) fn ours(&self, path: &str) -> Result<String, String> {
        if path.contains('\0') {
            return Err("the path has a NUL byte, at which some programs end it".to_owned());
        }
        // Some programs replace `~`, read a URI, or leave blanks out.
        let is_home = path.starts_with('~') && (path == "~" || path.contains(['/', '\\']));
        if is_home || is_uri(path) || path.trim_matches(is_blank) != path {
            return Err(format!(
                "{path:?} begins with `~` or `file:`, or has blanks around it: write the full path alone"
            ));
        }
        let joined = self.cwd.join(path);
        if is_too_long(&joined) || joined.components().count() > MOST_PARTS {
            return Err("the path has more than 4,096 bytes or 256 parts".to_owned());
        }
        if !joined.is_absolute() {
            return Err(format!("{joined:?} is not an absolute path"));
        }
        if path.is_empty() {
            return Ok(String::new());
        }
        let plain = by_name(&joined)?;
        if is_of_process(&plain) {
            return Err(format!(
                "{path:?} leads to what each process has of its own, such as `/proc/self` or `/dev/fd`: write the path of the file itself"
            ));
        }
        let place = self.in_project(&plain).unwrap_or(plain);
        match place.to_str() {
            None => Err(format!("{place:?} is not UTF-8")),
            Some("") => Ok(".".to_owned()),
            Some(text) if cfg!(windows) => Ok(with_slashes(text).into_owned()),
            Some(text) => Ok(text.to_owned()),
        }
    }

    /// Returns the agent's form of a path that a hook has set: the absolute path, as the agent's `cwd` need not be the root.
    pub(super) fn theirs(&self, path: &str) -> String {
        if path.is_empty() {
            return path.to_owned();
        }
        // `components` leaves out `.`, and gives the system's separators on Windows.
        let place: PathBuf = self.root.join(path).components().collect();
        place.to_string_lossy().into_owned()
    }

    /// Returns the part of an absolute path without `..` that follows the root, if the path is in the project.
    fn in_project(&self, plain: &Path) -> Option<PathBuf> {
        if let Ok(rest) = plain.strip_prefix(self.root) {
            return Some(rest.to_owned());
        }
        let root = fs::canonicalize(self.root).ok()?;
        let mut start = PathBuf::new();
        let mut parts = plain.components();
        while let Some(part) = parts.next() {
            start.push(part);
            // A hook may know the last part's own name, but the `cwd` is no file.
            if parts.clone().next().is_none() && !self.cwd.starts_with(plain) {
                return None;
            }
            let real = fs::canonicalize(&start).ok()?;
            if let Ok(rest) = real.strip_prefix(&root) {
                return Some(rest.components().chain(parts).collect());
            }
        }
        None
    }
}

fn is_uri(path: &str) -> bool {
    let scheme = path.get(..5);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Returns whether some program treats a character at the end of a path as a blank. JavaScript does so with the byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Returns an absolute path with each `..` resolved by name.
fn by_name(path: &Path) -> Result<PathBuf, String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part != Component::ParentDir {
            plain.push(part);
        } else if leads_elsewhere(&plain) {
            return Err(format!(
                "{path:?} has `..` behind {plain:?}, which is a link or cannot be read: programs resolve it differently; use a path without `..`"
            ));
        } else {
            plain.pop();
        }
    }
    Ok(plain)
}

/// Returns whether the parent of a path by name may differ from the parent of the target, since the path is a link.
fn leads_elsewhere(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) if is_missing(&error) => false,
        _ => {
            let target = fs::canonicalize(path).ok();
            let target = target.as_deref().and_then(Path::parent);
            let parent = path
                .parent()
                .and_then(|parent| fs::canonicalize(parent).ok());
            // The root is its own parent.
            path.parent().is_some() && (target.is_none() || target != parent.as_deref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with directories, and a link to its root beside it.
    struct Site {
        #[allow(dead_code)]
        directory: tempfile::TempDir,
        above: PathBuf,
    }

    impl Site {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let above = fs::canonicalize(directory.path()).unwrap();
            // On Windows, `/` is no separator after this prefix.
            let above = above.to_str().unwrap().trim_start_matches(r"\\?\");
            let above = PathBuf::from(above);
            fs::create_dir_all(above.join("project/src/deep")).unwrap();
            fs::create_dir(above.join("other")).unwrap();
            fs::write(above.join("project/file"), "").unwrap();
            Self { directory, above }
        }

        /// Returns a path as hooks see it. `@` is the directory above the project, in the argument and in the result.
        fn ours(&self, cwd: &str, path: &str) -> String {
            let places = Places {
                cwd: &self.at(cwd),
                root: &self.above.join("project"),
            };
            let above = with_slashes(self.above.to_str().unwrap()).into_owned();
            match places.ours(&path.replace('@', self.above.to_str().unwrap())) {
                Ok(path) => path.replace(&above, "@"),
                Err(error) => {
                    let kinds = [
                        "is a link",
                        "begins with",
                        "NUL",
                        "4,096",
                        "absolute",
                        "each process",
                    ];
                    let kind = kinds.iter().find(|kind| error.contains(**kind));
                    format!("error: {}", kind.unwrap_or(&error.as_str()))
                }
            }
        }

        fn at(&self, path: &str) -> PathBuf {
            match path.strip_prefix("@/") {
                Some(rest) => self.above.join(rest),
                None => path.into(),
            }
        }

        #[track_caller]
        fn check(&self, cwd: &str, rows: &[(&str, &str)]) {
            for (path, expected) in rows {
                assert_eq!(self.ours(cwd, path), *expected, "{path:?} in {cwd}");
            }
        }
    }

    #[test]
    fn each_form_of_a_path() {
        let site = Site::new();
        site.check(
            "@/project/src",
            &[
                ("a", "src/a"),
                ("./a//b/./c", "src/a/b/c"),
                ("a/", "src/a"),
                ("deep/..", "src"),
                ("../file", "file"),
                ("missing/../a", "src/a"),
                ("..", "."),
                ("../", "."),
                (".", "src"),
                ("@/project", "."),
                ("@/project/", "."),
                ("@/project/a/../b", "b"),
                ("../../other/a", "@/other/a"),
                ("../../project/a", "a"),
                ("@/other/../project/a", "a"),
                ("@/projects/a", "@/projects/a"),
                ("@/other", "@/other"),
                ("", ""),
                ("~", "error: begins with"),
                ("~/a", "error: begins with"),
                ("~me/a", "error: begins with"),
                ("~a", "src/~a"),
                ("./~/a", "src/~/a"),
                ("file:///a", "error: begins with"),
                (" a", "error: begins with"),
                ("a\n", "error: begins with"),
                ("a\0b", "error: NUL"),
                ("ä ö", "src/ä ö"),
                ("...", "src/..."),
            ],
        );
        site.check(
            "@/other",
            &[("a", "@/other/a"), (".", "@/other"), ("../project", ".")],
        );
        site.check(
            "relative",
            &[("a", "error: absolute"), ("", "error: absolute")],
        );
        let long = |length: usize| "a/".repeat(length);
        assert_eq!(site.ours("@/project", &"a".repeat(4096)), "error: 4,096");
        assert_eq!(site.ours("@/project", &long(256)), "error: 4,096");
        assert_eq!(
            site.ours("@/project", &long(200)),
            long(200).trim_end_matches('/')
        );
    }

    #[cfg(windows)]
    #[test]
    fn windows_has_separators_and_drives() {
        Site::new().check(
            "@/project/src",
            &[
                ("a\\b", "src/a/b"),
                ("..\\file", "file"),
                ("C:a", "error: absolute"),
                ("Z:\\a", "Z:/a"),
            ],
        );
    }

    #[cfg(not(windows))]
    #[test]
    fn a_backslash_is_a_letter() {
        Site::new().check(
            "@/project",
            &[
                ("a\\..\\b", "a\\..\\b"),
                ("C:\\a", "C:\\a"),
                ("/../../..", "/"),
            ],
        );
    }

    #[test]
    fn paths_are_mapped_back() {
        let root = fs::canonicalize(std::env::temp_dir()).unwrap();
        let places = Places {
            cwd: &root.join("sub"),
            root: &root,
        };
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        let elsewhere = fs::canonicalize(".").unwrap().to_str().unwrap().to_owned();
        assert_eq!(places.theirs("a"), at("a"));
        assert_eq!(places.theirs("./a/"), at("a"));
        assert_eq!(
            places.theirs("a/b"),
            root.join("a").join("b").to_str().unwrap()
        );
        assert_eq!(places.theirs("."), root.to_str().unwrap());
        assert_eq!(places.theirs(&elsewhere), elsewhere);
        assert_eq!(places.theirs(""), "");
        assert_eq!(places.ours(&places.theirs("a/b")), Ok("a/b".to_owned()));
    }

    #[cfg(unix)]
    mod links {
        use std::os::unix::fs::symlink;

        use proptest::collection::vec;
        use proptest::prelude::*;

        use super::*;
        use crate::paths::without_parents;

        impl Site {
            fn link(&self, target: &str, link: &str) {
                symlink(
                    target.replace('@', self.above.to_str().unwrap()),
                    self.at(link),
                )
                .unwrap();
            }
        }

        fn site_with_links() -> Site {
            let site = Site::new();
            site.link("@/project", "@/to_project");
            site.link("@/project/src", "@/to_src");
            site.link("@", "@/other/up");
            site.link("@/other", "@/project/out");
            site.link("src", "@/project/near");
            site.link("src/deep", "@/project/far");
            site.link("nothing", "@/project/dangling");
            site.link("circle", "@/project/circle");
            site.link("@/project/file", "@/other/to_file");
            site
        }

        #[test]
        fn a_parent_behind_a_link_has_two_meanings() {
            let rows = [
                ("out/../a", "error: is a link"),
                ("far/../a", "error: is a link"),
                ("dangling/../a", "error: is a link"),
                ("circle/../a", "error: is a link"),
                ("far/x/../../a", "error: is a link"),
                // Both lead to the same directory.
                ("near/../a", "a"),
                ("out/x/../a", "out/a"),
                ("src/deep/../a", "src/a"),
            ];
            let site = site_with_links();
            site.check("@/project", &rows);
            // It is unknown whether a link is there, since no name may be so long.
            let path = format!("{}/b/../a", "a".repeat(300));
            assert_eq!(site.ours("@/project", &path), "error: is a link");
            let rows = [("../a", "error: is a link"), ("a", "src/a")];
            site.check("@/to_src", &rows);
        }

        #[test]
        fn a_project_behind_a_link_is_found() {
            let site = site_with_links();
            let rows = [
                ("a", "a"),
                (".", "."),
                ("file/", "file"),
                ("@/project/a", "a"),
                // Links in the project keep their names.
                ("out/a", "out/a"),
                ("near", "near"),
                ("@/to_src/a", "src/a"),
                ("@/other/up/project/out/a", "out/a"),
                ("@/other/up/other/a", "@/other/up/other/a"),
                // The last part keeps its name too.
                ("@/other/to_file", "@/other/to_file"),
                ("@/to_src", "@/to_src"),
            ];
            site.check("@/to_project", &rows);
            site.check("@/other/up/project", &[("a", "a"), ("..", "@/other/up")]);
        }

        #[test]
        fn what_depends_on_the_process_has_no_path() {
            let site = site_with_links();
            site.link("/proc/self/cwd", "@/to_cwd");
            site.link("/proc", "@/project/processes");
            site.link("@/project/file", "@/project/plain");
            let own = "error: each process";
            let rows = [
                ("/proc/self/cwd/secrets/key", own),
                ("/proc/self", own),
                ("/proc/./thread-self//cwd/secrets", own),
                ("/proc/1/root/a", own),
                ("/dev/fd/3", own),
                ("/dev/fd", own),
                ("@/to_cwd/secrets", own),
                ("processes/self/cwd", own),
                ("/proc/version", "/proc/version"),
                ("/dev/null", "/dev/null"),
                ("proc/self", "proc/self"),
                ("plain", "plain"),
            ];
            site.check("@/project", &rows);
        }

        #[test]
        fn a_directory_that_is_not_readable_has_two_meanings() {
            use std::os::unix::fs::PermissionsExt;
            let site = site_with_links();
            let deep = site.at("@/project/src");
            fs::set_permissions(&deep, fs::Permissions::from_mode(0o000)).unwrap();
            // Root may read it in spite of its mode.
            let expected = match deep.join("deep").symlink_metadata() {
                Ok(_) => "src/a",
                Err(_) => "error: is a link",
            };
            assert_eq!(site.ours("@/project", "src/deep/../a"), expected);
            fs::set_permissions(&deep, fs::Permissions::from_mode(0o700)).unwrap();
        }

        proptest! {
            #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

            /// Hooks see a path of the same file, whether a program resolves `..` by name or by links.
            #[test]
            fn the_path_leads_to_the_same_file(paths in vec(
                vec("(\\.\\.|src|deep|file|out|near|far|up|other|project|to_project|to_src|new)", 0..6),
                32,
            )) {
                let site = site_with_links();
                let root = site.at("@/project");
                for (index, parts) in paths.into_iter().enumerate() {
                    let cwds = ["@/project", "@/project/src", "@/to_project", "@/other/up"];
                    let cwd = site.at(cwds[index % cwds.len()]);
                    let start = ["", "", "@/project/", "@/"][index / 4 % 4];
                    let start = start.replace('@', site.above.to_str().unwrap());
                    let path = format!("{start}{}", parts.join("/"));
                    let places = Places { cwd: &cwd, root: &root };
                    let Ok(ours) = places.ours(&path) else {
                        continue;
                    };
                    let intended = match path.as_str() {
                        "" => continue,
                        path => cwd.join(path),
                    };
                    let seen = fs::canonicalize(root.join(&ours)).ok();
                    prop_assert_eq!(&seen, &fs::canonicalize(without_parents(&intended)).ok(), "{} {}", path, ours);
                    if let Ok(followed) = fs::canonicalize(&intended) {
                        prop_assert_eq!(seen, Some(followed), "{} {}", path, ours);
                    }
                    prop_assert!(!ours.split('/').any(|part| part == ".."));
                    // A second conversion changes nothing.
                    let again = Places { cwd: &root, root: &root }.ours(&ours);
                    prop_assert_eq!(again, Ok(ours.clone()));
                    prop_assert_eq!(places.ours(&places.theirs(&ours)), Ok(ours));
                }
            }
        }
    }
}
