//! Spellings of paths and the names that they have, by the rules of each system and with the links of this one.

use std::path::Path;

use proptest::prelude::*;

use super::{Base, Lookups, System, Unknown, composed};
use crate::growth::assert_linear;

use System::{Mac, Unix, Windows};

/// Returns the names of a text with this root and base: relative to the root, or absolute. Without the name that still has its
/// `..`.
fn names(
    text: &str,
    root: &Path,
    base: Option<&Path>,
    system: System,
) -> Result<Vec<String>, Unknown> {
    let lookups = Lookups::default();
    let base = Base::new(root, base, system, &lookups)?;
    let names = base.names_of(text, &lookups)?.list;
    let names = names
        .into_iter()
        .map(|name| name.relative.unwrap_or(name.absolute))
        .filter(|name| !name.split('/').any(|part| part == ".."));
    let mut names: Vec<_> = names.collect();
    names.dedup();
    Ok(names)
}

/// Returns a root that does not exist, by the rules of a system.
fn root_of(system: System) -> &'static Path {
    match system {
        Windows => Path::new(r"C:\forge-hooks\proj"),
        _ => Path::new("/forge-hooks/proj"),
    }
}

/// Compares the names of spellings of files that do not exist; none for those that cannot be known.
fn assert_names(system: System, rows: &[(&str, Option<&[&str]>)]) {
    for (text, expected) in rows {
        let names = names(text, root_of(system), None, system).ok();
        let names = names.as_ref();
        let names = names.map(|names| Vec::from_iter(names.iter().map(String::as_str)));
        assert_eq!(names.as_deref(), *expected, "{system:?} {text:?}");
    }
}

#[test]
fn a_spelling_on_unix_has_these_names() {
    assert_names(
        Unix,
        &[
            ("", Some(&["."])),
            (".", Some(&["."])),
            ("a", Some(&["a"])),
            ("A/b.RS", Some(&["A/b.RS"])),
            ("src/x", Some(&["src/x"])),
            ("./src/x", Some(&["src/x"])),
            ("././src/./x", Some(&["src/x"])),
            ("src//x", Some(&["src/x"])),
            ("src///./x", Some(&["src/x"])),
            ("src/", Some(&["src"])),
            ("src//", Some(&["src"])),
            ("src/.", Some(&["src"])),
            ("src/./", Some(&["src"])),
            ("..", Some(&["/forge-hooks"])),
            ("../x", Some(&["/forge-hooks/x"])),
            ("../../../x", Some(&["/x"])),
            ("src/../x", Some(&["x"])),
            ("src/..", Some(&["."])),
            ("/..", Some(&["/"])),
            ("src/.././x", Some(&["x"])),
            ("src/../../proj/x", Some(&["x"])),
            ("...", Some(&["..."])),
            ("src/.../x", Some(&["src/.../x"])),
            ("..a/b..", Some(&["..a/b.."])),
            (".hidden/.x", Some(&[".hidden/.x"])),
            ("x/. ./y", Some(&["x/. ./y"])),
            ("x/.. /y", Some(&["x/.. /y"])),
            // A program may read `\\` as a separator.
            (r"src\..\x", Some(&[r"src\..\x", "x"])),
            (r"src\x", Some(&[r"src\x", "src/x"])),
            ("a:b", Some(&["a:b"])),
            ("a. ", Some(&["a. "])),
            (" ", Some(&[" "])),
            ("$HOME/x", Some(&["$HOME/x"])),
            ("/", Some(&["/"])),
            ("//", Some(&["/"])),
            ("/.", Some(&["/"])),
            ("/forge-hooks/other/x", Some(&["/forge-hooks/other/x"])),
            ("//forge-hooks/./other/x/", Some(&["/forge-hooks/other/x"])),
            ("/forge-hooks/proj/src/x", Some(&["src/x"])),
            ("/forge-hooks//proj/src/x/", Some(&["src/x"])),
            ("/forge-hooks/other/../proj/src/x", Some(&["src/x"])),
            ("/forge-hooks/proj", Some(&["."])),
            ("/forge-hooks/proj/", Some(&["."])),
            ("/forge-hooks/project/x", Some(&["/forge-hooks/project/x"])),
            ("/FORGE-HOOKS/proj/x", Some(&["/FORGE-HOOKS/proj/x"])),
            ("git push origin", Some(&["git push origin"])),
            ("git log a..b", Some(&["git log a..b"])),
            ("go test ./...", Some(&["go test ./..."])),
            ("cd ../x && make", Some(&["cd ../x && make"])),
            ("cat src/../x", Some(&["x"])),
            (
                "curl https://a.example/b",
                Some(&["curl https:/a.example/b"]),
            ),
            ("printf 'a\nb/c'", Some(&["printf 'a\nb/c'"])),
            ("e\u{301}", Some(&["e\u{301}"])),
            ("\u{e9}", Some(&["\u{e9}"])),
            ("a\0b", None),
            (".env\0", None),
        ],
    );
}

#[cfg(unix)]
#[test]
fn a_spelling_at_home_has_two_names() {
    let home = home::home_dir().unwrap();
    let at_home = home.join("x").to_str().unwrap().to_owned();
    let names = names("~/x", root_of(Unix), None, Unix).unwrap();
    assert_eq!(names[..2], ["~/x".to_owned(), at_home]);
}

#[test]
fn a_spelling_on_windows_has_these_names() {
    assert_names(
        Windows,
        &[
            ("", Some(&["."])),
            ("src/x", Some(&["src/x"])),
            (r"src\x", Some(&["src/x"])),
            (r".\src\\x\", Some(&["src/x"])),
            ("SRC/X", Some(&["SRC/X"])),
            (r"src\..\x", Some(&["x"])),
            (r"src/..\x", Some(&["x"])),
            (r"src\.. \x", Some(&["x"])),
            ("..:a", Some(&["C:/forge-hooks"])),
            ("src/x.", Some(&["src/x"])),
            ("src/x. . ", Some(&["src/x"])),
            ("src./x ", Some(&["src/x"])),
            ("src/.../x", Some(&["src/.../x"])),
            ("a.txt::$DATA", Some(&["a.txt"])),
            ("a.txt.:b", Some(&["a.txt"])),
            ("src/a:b", Some(&["src/a"])),
            ("dir::$INDEX_ALLOCATION/x", Some(&["dir/x"])),
            ("dir/:b", Some(&["dir"])),
            ("ab:c", Some(&["ab"])),
            ("a:b", None),
            ("C:", None),
            ("C:src", None),
            (r"C:\", Some(&["C:/"])),
            ("C:/", Some(&["C:/"])),
            (r"C:\forge-hooks\other", Some(&["C:/forge-hooks/other"])),
            (r"C:\forge-hooks\proj\src\x", Some(&["src/x"])),
            (r"c:/Forge-Hooks/PROJ/Src/x", Some(&["Src/x"])),
            (r"\forge-hooks\proj\x", Some(&["x"])),
            (r"\\?\C:\forge-hooks\proj\x", Some(&["x"])),
            (r"\\.\C:\forge-hooks\proj\x", Some(&["x"])),
            (r"\??\C:\forge-hooks\proj\x", Some(&["x"])),
            (r"\\?\C:", None),
            (r"\\?\GLOBALROOT\Device\x", None),
            (r"\\.\pipe\x", None),
            (r"\\?\UNC\localhost\C$\x", None),
            (r"\\localhost\C$\forge-hooks\proj\x", None),
            ("//", None),
            ("git push origin", Some(&["git push origin"])),
        ],
    );
}

#[test]
fn a_share_may_be_the_root() {
    if cfg!(windows) {
        return;
    }
    let root = Path::new(r"\\server\share\proj");
    for text in [
        r"\\server\share\proj\src\x",
        r"\\?\UNC\SERVER\share\proj\src\x",
        "src/x",
    ] {
        assert_eq!(
            names(text, root, None, Windows).unwrap(),
            ["src/x"],
            "{text}"
        );
    }
    assert!(names(r"\\server\share\x", root, None, Windows).is_err());
}

#[test]
fn names_on_macos_are_composed() {
    for (text, expected) in [
        ("e\u{301}", "\u{e9}"),
        ("\u{e9}", "\u{e9}"),
        ("./e\u{301}/", "\u{e9}"),
        ("/FORGE-hooks/Proj/e\u{301}", "\u{e9}"),
        ("src/X", "src/X"),
        ("a. ", "a. "),
        ("a/../b", "b"),
    ] {
        let names = names(text, root_of(Mac), None, Mac);
        assert_eq!(names.unwrap(), [expected], "{text:?}");
    }
    let root = Path::new("/forge-hooks/e\u{301}");
    let below = names("/forge-hooks/\u{c9}/x", root, None, Mac).unwrap();
    assert_eq!(below, ["x"]);
    for (text, system, expected) in [
        ("e\u{301}", Mac, "\u{e9}"),
        ("e\u{301}", Unix, "e\u{301}"),
        ("e\u{301}", Windows, "e\u{301}"),
        ("src", Mac, "src"),
    ] {
        assert_eq!(composed(text, system), expected);
    }
}

#[test]
fn temporary_directories_are_the_systems() {
    for (system, path, expected) in [
        (Unix, "/tmp/x", true),
        (Unix, "/tmp", false),
        (Unix, "/tmpx/y", false),
        (Unix, "/var/tmp/a/b", true),
        (Unix, "/private/tmp/x", false),
        (Mac, "/private/tmp/x", true),
        (Mac, "/private/var/folders/a/b/T/x", true),
        (Mac, "/TMP/x", true),
        (Windows, r"C:\Windows\Temp\x", true),
        (Windows, r"C:\Users\x", false),
    ] {
        let lookups = Lookups::default();
        let base = Base::new(root_of(system), None, system, &lookups).unwrap();
        let names = base.names_of(path, &lookups).unwrap();
        assert_eq!(
            base.is_temporary(&names.list[0]),
            expected,
            "{system:?} {path}"
        );
    }
}

/// A text that is no path must not lose what stands before its `..`.
#[test]
fn a_text_stays_as_it_is() {
    for (text, expected) in [
        ("a secret/../x", ["a secret/../x", "x"]),
        ("../../x", ["../../x", "/x"]),
        ("/a/../x", ["/a/../x", "/x"]),
    ] {
        let lookups = Lookups::default();
        let base = Base::new(root_of(Unix), None, Unix, &lookups).unwrap();
        let names = base.names_of(text, &lookups).unwrap().list;
        let own = names
            .iter()
            .map(|name| name.relative.as_ref().unwrap_or(&name.absolute));
        assert_eq!(Vec::from_iter(own), expected, "{text}");
    }
}

#[test]
fn a_relative_root_is_not_known() {
    for root in ["", "forge-hooks/none"] {
        assert!(names("x", Path::new(root), None, Unix).is_err(), "{root}");
    }
}

#[test]
fn long_texts_take_linear_time() {
    for system in [Unix, Mac, Windows] {
        let names = |text: &String| names(text, root_of(system), None, system);
        for unit in [
            "x",
            "x/",
            "/",
            "./",
            "../",
            "x/../",
            "x. ",
            "x:",
            r"\\?\",
            "\u{301}\u{315}",
        ] {
            // The size is small enough to need no new pages, which would be counted too.
            let input = |size| unit.repeat(size / unit.len());
            assert_linear(unit, 100_000, input, |text| drop(names(text)));
        }
    }
    // All of these directories are looked up, and none of them exists.
    let many = "a/b".repeat(1000);
    assert_eq!(names(&many, root_of(Unix), None, Unix), Ok(vec![many]));
}

#[test]
fn a_system_is_native() {
    let expected = match std::env::consts::OS {
        "windows" => Windows,
        "macos" => Mac,
        _ => Unix,
    };
    assert_eq!(System::NATIVE, expected);
}

proptest! {
    #[test]
    fn any_text_has_plain_names(
        text in r"([a-cA-C./\\: ~?]|\.\.?/|é|e\u{301}|\x00|\PC){0,12}",
        absolute in any::<bool>(),
        system in prop::sample::select(&[Unix, Mac, Windows][..]),
    ) {
        let directory = std::env::temp_dir();
        let text = if absolute { format!("{}/{text}", directory.display()) } else { text };
        for base in [None, Some(&*directory)] {
            let Ok(names) = names(&text, root_of(system), base, system) else {
                continue;
            };
            for (index, name) in names.iter().enumerate() {
                prop_assert!(!names[..index].contains(name));
                // The first segment of an absolute path is empty, and the second one of `/`.
                let relative = name.strip_prefix('/').unwrap_or(name);
                let relative = relative.strip_prefix("C:/").unwrap_or(relative);
                let mut segments = relative.split('/');
                let is_plain = segments.all(|segment| !["", ".", ".."].contains(&segment));
                prop_assert!(["", "."].contains(&relative) || is_plain, "{:?}", names);
            }
        }
    }
}

#[cfg(unix)]
mod links {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;

    /// A project at `real/proj` and the targets of its links, in a directory whose own path has no links.
    struct World {
        _owner: tempfile::TempDir,
        top: PathBuf,
    }

    impl World {
        fn new() -> Self {
            let owner = tempfile::tempdir().unwrap();
            let top = owner.path().canonicalize().unwrap();
            let world = Self { _owner: owner, top };
            for directory in ["real/proj/src/deep", "real/proj/safe", "vault/keys"] {
                fs::create_dir_all(world.path(directory)).unwrap();
            }
            for file in [
                "real/proj/src/x",
                "real/proj/.env",
                "vault/key",
                "vault/keys/k",
            ] {
                fs::write(world.path(file), "").unwrap();
            }
            for (link, target) in [
                ("linked", "real"),
                ("direct", "real/proj"),
                ("real/proj/file", "src/x"),
                ("real/proj/safe/env", "../.env"),
                ("real/proj/dir", "src"),
                ("real/proj/abs", "/TOP/real/proj/src"),
                ("real/proj/loop", "."),
                ("real/proj/out", "../../vault"),
                ("real/proj/key", "/TOP/vault/key"),
                ("real/proj/chain", "chain2"),
                ("real/proj/chain2", "safe/chain3"),
                ("real/proj/safe/chain3", "../src/x"),
                ("real/proj/dangling", "src/new"),
                ("real/proj/dangling-out", "../../vault/new"),
                ("real/proj/dangling-deep", "out/none/new"),
                ("real/proj/dangling-chain", "dangling-out"),
                ("real/proj/dangling-up", "none/../.env"),
                ("real/proj/self", "self"),
                ("real/proj/secrets", "../../vault/keys"),
            ] {
                let target = target.replace("/TOP", world.top.to_str().unwrap());
                symlink(target, world.path(link)).unwrap();
            }
            world
        }

        fn path(&self, path: &str) -> PathBuf {
            self.top.join(path)
        }

        /// Returns the names, with the directory of this world as `/TOP`.
        fn names(&self, text: &str, root: &str, base: Option<&str>) -> Option<Vec<String>> {
            let top = self.top.to_str().unwrap();
            let text = text.replace("/TOP", top);
            let base = base.map(|base| self.path(base));
            let names = names(&text, &self.path(root), base.as_deref(), Unix).ok()?;
            Some(Vec::from_iter(
                names.iter().map(|name| name.replace(top, "/TOP")),
            ))
        }
    }

    #[test]
    fn links_are_followed() {
        let world = World::new();
        for (text, expected) in [
            ("src/x", Some(&["src/x"][..])),
            ("src/new", Some(&["src/new"])),
            ("src/none/new", Some(&["src/none/new"])),
            ("src/x/y", Some(&["src/x/y"])),
            ("src/x/", Some(&["src/x"])),
            (".", Some(&["."])),
            ("./", Some(&["."])),
            ("file", Some(&["file", "src/x"])),
            ("./file/", Some(&["file", "src/x"])),
            ("safe/env", Some(&["safe/env", ".env"])),
            ("dir", Some(&["dir", "src"])),
            ("dir/x", Some(&["dir/x", "src/x"])),
            ("dir/new/y", Some(&["dir/new/y", "src/new/y"])),
            ("abs/x", Some(&["abs/x", "src/x"])),
            (
                "loop/loop/src/x",
                Some(&["loop/loop/src/x", "loop/src/x", "src/x"]),
            ),
            ("out", Some(&["out", "/TOP/vault"])),
            ("out/key", Some(&["out/key", "/TOP/vault/key"])),
            ("out/a/b", Some(&["out/a/b", "/TOP/vault/a/b"])),
            ("key", Some(&["key", "/TOP/vault/key"])),
            ("chain", Some(&["chain", "chain2", "safe/chain3", "src/x"])),
            ("dangling", Some(&["dangling", "src/new"])),
            ("dangling/y", Some(&["dangling/y", "src/new/y"])),
            ("dangling-out", Some(&["dangling-out", "/TOP/vault/new"])),
            (
                "dangling-deep",
                Some(&["dangling-deep", "out/none/new", "/TOP/vault/none/new"]),
            ),
            (
                "dangling-chain",
                Some(&["dangling-chain", "dangling-out", "/TOP/vault/new"]),
            ),
            ("dangling-up", None),
            ("self", None),
            ("self/x", None),
            // Behind a link, `..` leads the system elsewhere than a program that resolves it by name.
            ("dir/../x", None),
            ("out/../x", None),
            ("loop/../x", None),
            ("src/dir/../x", Some(&["src/x"])),
            ("src/../file", Some(&["file", "src/x"])),
            ("none/../file", Some(&["file", "src/x"])),
            ("out/a/../key", Some(&["out/key", "/TOP/vault/key"])),
            ("dir/deep/../x", Some(&["dir/x", "src/x"])),
            ("../../vault/key", Some(&["/TOP/vault/key"])),
            ("/TOP/linked/../x", None),
            (
                "/TOP/linked/proj/../proj/src/x",
                Some(&["/TOP/linked/proj/src/x", "src/x"]),
            ),
            (
                "loop/secrets/k",
                Some(&["loop/secrets/k", "secrets/k", "/TOP/vault/keys/k"]),
            ),
            ("/TOP/real/proj/src/x", Some(&["src/x"])),
            ("/TOP/real/proj/file", Some(&["file", "src/x"])),
            ("/TOP/vault/key", Some(&["/TOP/vault/key"])),
            (
                "/TOP/linked/proj/src/x",
                Some(&["/TOP/linked/proj/src/x", "src/x"]),
            ),
            (
                "/TOP/linked/proj/src/new",
                Some(&["/TOP/linked/proj/src/new", "src/new"]),
            ),
            ("/TOP/direct/.env", Some(&["/TOP/direct/.env", ".env"])),
            (
                "/TOP/direct/secrets/k",
                Some(&["/TOP/direct/secrets/k", "secrets/k", "/TOP/vault/keys/k"]),
            ),
            (
                "/TOP/linked/none",
                Some(&["/TOP/linked/none", "/TOP/real/none"]),
            ),
            ("git push origin", Some(&["git push origin"])),
            ("cat dir/x", Some(&["cat dir/x"])),
        ] {
            let names = world.names(text, "real/proj", None);
            let names = names.as_ref();
            let names = names.map(|names| Vec::from_iter(names.iter().map(String::as_str)));
            assert_eq!(names.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_root_may_be_given_by_a_link() {
        let world = World::new();
        for root in ["linked/proj", "direct", "real/proj"] {
            for (text, expected) in [
                ("src/x", &["src/x"][..]),
                ("src/new", &["src/new"]),
                ("file", &["file", "src/x"]),
                ("/TOP/real/proj/src/x", &["src/x"]),
            ] {
                let paths = world.names(text, root, None).unwrap();
                assert_eq!(paths, expected, "{root} {text}");
            }
            for text in ["/TOP/linked/proj/src/x", "/TOP/direct/src/x"] {
                let paths = world.names(text, root, None).unwrap();
                assert_eq!(paths.last().unwrap(), "src/x", "{root} {text}");
            }
        }
    }

    #[test]
    fn a_relative_path_is_meant_in_the_base() {
        let world = World::new();
        for (text, base, expected) in [
            ("x", "real/proj/src", Some(&["src/x"][..])),
            ("new", "real/proj/src", Some(&["src/new"])),
            ("x", "real/proj/dir", Some(&["dir/x", "src/x"])),
            (
                "x",
                "linked/proj/src",
                Some(&["/TOP/linked/proj/src/x", "src/x"]),
            ),
            ("env", "real/proj/safe", Some(&["safe/env", ".env"])),
            ("key", "vault", Some(&["/TOP/vault/key"])),
            (".", "real/proj/src", Some(&["src"])),
            ("", "real/proj/src", Some(&["src"])),
            ("../x", "real/proj/src", Some(&["x"])),
            ("../x", "real/proj/dir", None),
            ("x", "real/proj/safe/../src", Some(&["src/x"])),
            ("/TOP/vault/key", "real/proj/src", Some(&["/TOP/vault/key"])),
        ] {
            let paths = world.names(text, "real/proj", Some(base));
            let paths = paths.as_ref();
            let paths = paths.map(|names| Vec::from_iter(names.iter().map(String::as_str)));
            assert_eq!(paths.as_deref(), expected, "{base} {text}");
        }
    }

    #[test]
    fn what_cannot_exist_has_no_real_name() {
        let world = World::new();
        let name = format!("out/{}", "x".repeat(300));
        let paths = world.names(&name, "real/proj", None).unwrap();
        assert_eq!(paths[1], name.replacen("out", "/TOP/vault", 1));
        let long = "out/".to_owned() + &"x/".repeat(2100) + "x";
        assert_eq!(world.names(&long, "real/proj", None).unwrap(), [long]);
        // A path with very many names that do not exist is short enough.
        let many = "out/".to_owned() + &"x/".repeat(200) + "x";
        let paths = world.names(&many, "real/proj", None).unwrap();
        assert_eq!(paths[1], many.replacen("out", "/TOP/vault", 1));
        // So is one that a program may shorten.
        let shortened = "x/../".repeat(1000) + "file";
        assert_eq!(
            world.names(&shortened, "real/proj", None).unwrap(),
            ["file", "src/x"]
        );
    }

    #[test]
    fn too_many_links_cannot_be_tested() {
        let world = World::new();
        for number in 0..50 {
            let link = world.path(&format!("real/proj/link{number}"));
            symlink(format!("link{}", number + 1), link).unwrap();
        }
        let all = (10..=50).map(|number| format!("link{number}")).collect();
        assert_eq!(world.names("link10", "real/proj", None), Some(all));
        assert_eq!(world.names("link9", "real/proj", None), None);
    }

    /// A path is short, and the one that its links lead to is longer than any that the system opens at once.
    #[test]
    fn a_long_way_cannot_be_tested() {
        let world = World::new();
        let deep = format!("{}/", "d".repeat(200)).repeat(15);
        fs::create_dir_all(world.path(&format!("real/proj/{deep}"))).unwrap();
        symlink(&deep, world.path("real/proj/s")).unwrap();
        fs::create_dir_all(world.path(&format!("real/proj/s/{deep}"))).unwrap();
        symlink(format!("s/{deep}e"), world.path("real/proj/e1")).unwrap();
        assert_eq!(world.names("e1", "real/proj", None), None);
        assert!(world.names("s/x", "real/proj", None).is_some());
    }

    /// The steps of a chain are names of the file too.
    #[test]
    fn each_link_of_a_chain_is_a_name() {
        let world = World::new();
        for (link, target) in [("e2", "key"), ("e3", "secrets/k")] {
            symlink(target, world.path(&format!("real/proj/{link}"))).unwrap();
        }
        let paths = world.names("e2", "real/proj", None).unwrap();
        assert!(paths.contains(&"key".to_owned()), "{paths:?}");
        let paths = world.names("e3", "real/proj", None).unwrap();
        assert!(paths.contains(&"secrets/k".to_owned()), "{paths:?}");
    }

    /// The links of `/proc` are those of the process that asks. They differ for another process, and at another time.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_links_of_a_process_cannot_be_tested() {
        let world = World::new();
        symlink("/proc/self/cwd", world.path("real/proj/src/cw")).unwrap();
        for text in [
            "/proc/self/cwd/.env",
            "/proc/thread-self/cwd/.env",
            "/proc/1/cwd/x",
            "/proc/self/root/x",
            "src/cw/.env",
            "/proc/self/fd/3",
            "/dev/fd/3",
            "/proc/../proc/self/cwd/x",
            "/dev/stdin",
        ] {
            assert_eq!(world.names(text, "real/proj", None), None, "{text}");
        }
    }

    /// A `..` in a link leads to a directory whose links are passed through.
    #[test]
    fn a_link_behind_a_way_back_is_a_name() {
        let world = World::new();
        for (link, target) in [
            ("real/proj/hidden/current", "../../../vault/key"),
            ("real/proj/src/up", "../hidden"),
            ("real/proj/src/thru", "../../proj/hidden/current"),
        ] {
            fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
            symlink(target, world.path(link)).unwrap();
        }
        for text in ["hidden/current", "src/up/current", "src/thru"] {
            let paths = world.names(text, "real/proj", None).unwrap();
            assert!(
                paths.contains(&"hidden/current".to_owned()),
                "{text}: {paths:?}"
            );
        }
    }

    #[test]
    fn a_root_may_be_behind_two_links() {
        let world = World::new();
        symlink("linked", world.path("l1")).unwrap();
        let paths = world.names("src/x", "l1/proj", None).unwrap();
        assert_eq!(paths, ["src/x"]);
    }

    /// The host waits during the lookup.
    #[test]
    fn many_long_links_are_not_followed_for_long() {
        let world = World::new();
        let filler = "x/".repeat(1900);
        for number in 0..40 {
            let target = format!("l{}/{filler}", number + 1);
            symlink(target, world.path(&format!("real/proj/l{number}"))).unwrap();
        }
        let lookups = Lookups::default();
        let root = world.path("real/proj");
        let base = Base::new(&root, None, Unix, &lookups).unwrap();
        for _ in 0..1000 {
            let _ = base.names_of("l0/a", &lookups);
        }
        assert!(base.names_of("src/x", &lookups).is_err());
    }

    /// The cost of an event's lookups has a limit.
    #[test]
    fn deep_paths_behind_links_are_not_followed_for_long() {
        let world = World::new();
        let deep = "a/".repeat(1900);
        fs::create_dir_all(world.path(&format!("real/proj/{deep}"))).unwrap();
        symlink("a", world.path("real/proj/la")).unwrap();
        let path = format!("l{deep}");
        assert_eq!(world.names(&path, "real/proj", None), None);
        let shorter = format!("l{}", "a/".repeat(200));
        assert!(world.names(&shorter, "real/proj", None).is_some());
    }

    #[test]
    fn a_closed_directory_cannot_be_tested() {
        let world = World::new();
        let closed = world.path("real/proj/src");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // An administrator may read the directory.
        let is_closed = fs::metadata(closed.join("x")).is_err();
        let paths = world.names("src/x", "real/proj", None);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(paths.is_none(), is_closed);
    }

    #[test]
    fn a_directory_may_have_another_encoding() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let world = World::new();
        let root = world.top.join(OsStr::from_bytes(b"r\xff"));
        // Not every file system has such names.
        if fs::create_dir(&root).is_err() {
            return;
        }
        symlink("target", root.join("link")).unwrap();
        let paths = names("link", &root, None, Unix).unwrap();
        assert_eq!(paths, ["link", "target"]);
    }

    /// Each directory knows whether letter case counts in it; here it does, but for a directory without letters.
    #[test]
    fn letter_case_counts_by_the_directory() {
        let world = World::new();
        let ignores = |path: &str| super::super::links::ignores_case(&world.path(path));
        assert_eq!(ignores("real/proj"), Some(cfg!(target_vendor = "apple")));
        assert_eq!(super::super::links::ignores_case(Path::new("/")), None);
        fs::hard_link(world.path("vault/key"), world.path("vault/KEY")).unwrap();
        // Such a file cannot be told from one that is found in any case.
        assert_eq!(ignores("vault/key"), Some(true));
    }
}
