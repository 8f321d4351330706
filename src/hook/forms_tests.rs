//! Spellings of paths and the forms that they have, by the rules of each system and with the links of this one.

use std::path::Path;

use proptest::prelude::*;

use super::forms::{Places, System, composed};
use super::links::Steps;
use crate::growth::assert_linear;

use System::{Mac, Unix, Windows};

/// Returns the forms of a text with this root and base.
fn forms(
    text: &str,
    root: Option<&Path>,
    base: Option<&Path>,
    system: System,
) -> Option<Vec<String>> {
    let steps = Steps::default();
    let places = Places::new(root, base, system, &steps)?;
    Some(super::forms::forms(text, &places, system, &steps)?.list)
}

/// Returns a root that does not exist, by the rules of a system.
fn root_of(system: System) -> &'static Path {
    match system {
        Windows => Path::new(r"C:\forge-hooks\proj"),
        _ => Path::new("/forge-hooks/proj"),
    }
}

/// Compares the forms of spellings of files that do not exist. In `expected`, forms are the text and then these.
fn assert_forms(system: System, rows: &[(&str, Option<&[&str]>)]) {
    for (text, others) in rows {
        let paths = forms(text, Some(root_of(system)), None, system);
        let expected = others.map(|others| {
            let mut expected = vec![*text];
            expected.extend(others);
            expected
        });
        let paths = paths.as_ref();
        let paths = paths.map(|forms| Vec::from_iter(forms.iter().map(String::as_str)));
        assert_eq!(paths, expected, "{system:?} {text:?}");
    }
}

#[test]
fn a_spelling_on_unix_has_these_forms() {
    assert_forms(
        Unix,
        &[
            ("", Some(&[])),
            ("a", Some(&[])),
            ("A/b.RS", Some(&[])),
            ("src/x", Some(&[])),
            ("./src/x", Some(&["src/x"])),
            ("././src/./x", Some(&["src/x"])),
            ("src//x", Some(&["src/x"])),
            ("src///./x", Some(&["src/x"])),
            ("src/", Some(&["src"])),
            ("src//", Some(&["src"])),
            ("src/.", Some(&["src"])),
            ("src/./", Some(&["src"])),
            ("..", None),
            ("../x", None),
            ("src/../x", None),
            ("src/..", None),
            ("/..", None),
            ("src/.././x", None),
            ("...", Some(&[])),
            ("src/.../x", Some(&[])),
            ("..a/b..", Some(&[])),
            (".hidden/.x", Some(&[])),
            ("x/. ./y", Some(&[])),
            ("x/.. /y", Some(&[])),
            (r"src\..\x", Some(&[])),
            (r"src\x", Some(&[])),
            ("a:b", Some(&[])),
            ("a. ", Some(&[])),
            (" ", Some(&[])),
            ("~/x", Some(&[])),
            ("$HOME/x", Some(&[])),
            ("/", Some(&[])),
            ("//", Some(&["/"])),
            ("/.", Some(&["/"])),
            ("/forge-hooks/other/x", Some(&[])),
            ("//forge-hooks/./other/x/", Some(&["/forge-hooks/other/x"])),
            ("/forge-hooks/proj/src/x", Some(&["src/x"])),
            (
                "/forge-hooks//proj/src/x/",
                Some(&["/forge-hooks/proj/src/x", "src/x"]),
            ),
            ("/forge-hooks/proj", Some(&[])),
            ("/forge-hooks/proj/", Some(&["/forge-hooks/proj"])),
            ("/forge-hooks/project/x", Some(&[])),
            ("/FORGE-HOOKS/proj/x", Some(&[])),
            ("git push origin", Some(&[])),
            ("git log a..b", Some(&[])),
            ("go test ./...", Some(&[])),
            ("cd ../x && make", Some(&[])),
            ("cat src/../x", None),
            (
                "curl https://a.example/b",
                Some(&["curl https:/a.example/b"]),
            ),
            ("printf 'a\nb/c'", Some(&[])),
            ("e\u{301}", Some(&[])),
            ("\u{e9}", Some(&[])),
            ("a\0b", None),
            (".env\0", None),
        ],
    );
}

#[test]
fn a_spelling_on_windows_has_these_forms() {
    assert_forms(
        Windows,
        &[
            ("", Some(&[])),
            ("src/x", Some(&[])),
            (r"src\x", Some(&["src/x"])),
            (r".\src\\x\", Some(&["src/x"])),
            ("SRC/X", Some(&[])),
            (r"src\..\x", None),
            (r"src/..\x", None),
            (r"src\.. \x", None),
            ("..:a", None),
            ("src/x.", Some(&["src/x"])),
            ("src/x. . ", Some(&["src/x"])),
            ("src./x ", Some(&["src/x"])),
            ("src/.../x", Some(&[])),
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
            ("C:/", Some(&[])),
            (r"C:\forge-hooks\other", Some(&["C:/forge-hooks/other"])),
            (
                r"C:\forge-hooks\proj\src\x",
                Some(&["C:/forge-hooks/proj/src/x", "src/x"]),
            ),
            (r"c:/Forge-Hooks/PROJ/Src/x", Some(&["Src/x"])),
            (r"\forge-hooks\proj\x", Some(&["/forge-hooks/proj/x", "x"])),
            (
                r"\\?\C:\forge-hooks\proj\x",
                Some(&["C:/forge-hooks/proj/x", "x"]),
            ),
            (
                r"\\.\C:\forge-hooks\proj\x",
                Some(&["C:/forge-hooks/proj/x", "x"]),
            ),
            (
                r"\??\C:\forge-hooks\proj\x",
                Some(&["C:/forge-hooks/proj/x", "x"]),
            ),
            (r"\\?\C:", None),
            (r"\\?\GLOBALROOT\Device\x", None),
            (r"\\.\pipe\x", None),
            (r"\\?\UNC\localhost\C$\x", None),
            (r"\\localhost\C$\forge-hooks\proj\x", None),
            ("//", None),
            ("git push origin", Some(&[])),
        ],
    );
}

#[test]
fn a_share_may_be_the_root() {
    if cfg!(windows) {
        return;
    }
    let root = Some(Path::new(r"\\server\share\proj"));
    for text in [
        r"\\server\share\proj\src\x",
        r"\\?\UNC\SERVER\share\proj\src\x",
    ] {
        let forms = forms(text, root, None, Windows).unwrap();
        assert_eq!(forms.last().unwrap(), "src/x", "{text}");
    }
    let relative = forms("src/x", root, None, Windows);
    assert_eq!(relative, Some(vec!["src/x".to_owned()]));
    assert_eq!(forms(r"\\server\share\x", root, None, Windows), None);
}

#[test]
fn forms_on_macos_are_composed() {
    let forms_of = |text: &str| forms(text, Some(root_of(Mac)), None, Mac);
    for (text, expected) in [
        ("e\u{301}", &["\u{e9}"][..]),
        ("\u{e9}", &["\u{e9}"]),
        ("./e\u{301}/", &["./\u{e9}/", "\u{e9}"]),
        (
            "/FORGE-hooks/Proj/e\u{301}",
            &["/FORGE-hooks/Proj/\u{e9}", "\u{e9}"],
        ),
        ("src/X", &["src/X"]),
        ("a. ", &["a. "]),
        (r"a\b", &[r"a\b"]),
    ] {
        let paths = forms_of(text).unwrap();
        assert_eq!(paths[..expected.len()], *expected, "{text:?}");
    }
    assert_eq!(forms_of("a/../b"), None);
    let root = Path::new("/forge-hooks/e\u{301}");
    let below = forms("/forge-hooks/\u{c9}/x", Some(root), None, Mac).unwrap();
    assert_eq!(below[1], "x");
    for (text, system, expected) in [
        ("e\u{301}", Mac, "\u{e9}"),
        ("e\u{301}", Unix, "e\u{301}"),
        ("e\u{301}", Windows, "e\u{301}"),
        ("src", Mac, "src"),
    ] {
        assert_eq!(composed(text, system), expected);
    }
    assert!(Mac.ignores_case() && Windows.ignores_case() && !Unix.ignores_case());
}

#[test]
fn nothing_is_looked_up_without_a_directory() {
    for (text, expected) in [
        ("src//x", &["src//x", "src/x"][..]),
        (".", &["."]),
        ("/forge-hooks//x", &["/forge-hooks//x", "/forge-hooks/x"]),
    ] {
        assert_eq!(forms(text, None, None, Unix).unwrap(), expected);
    }
    // The same is true below a relative directory that does not exist.
    let relative = Some(Path::new("forge-hooks/none"));
    let paths = forms("x", relative, relative, Unix).unwrap();
    assert_eq!(paths[0], "x");
    let empty = Some(Path::new(""));
    assert_eq!(
        forms("/forge-hooks/x", empty, empty, Unix).unwrap().len(),
        1
    );
}

#[test]
fn long_texts_take_linear_time() {
    for system in [Unix, Mac, Windows] {
        let forms = |text: &String| forms(text, Some(root_of(system)), None, system);
        for unit in ["x", "x/", "/", "./", "x. ", "x:", r"\\?\", "\u{301}\u{315}"] {
            // The size is small enough to need no new pages, which would be counted too.
            let input = |size| unit.repeat(size / unit.len());
            assert_linear(unit, 100_000, input, |text| drop(forms(text)));
        }
    }
    // All of these directories are looked up, and none of them exists.
    let many = "a/b".repeat(1000);
    let paths = forms(&many, Some(root_of(Unix)), None, Unix);
    assert_eq!(paths, Some(vec![many]));
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
    fn any_text_has_forms(
        text in r"([a-cA-C./\\: ~?]|\.\.?/|é|e\u{301}|\x00|\PC){0,12}",
        absolute in any::<bool>(),
        system in prop::sample::select(&[Unix, Mac, Windows][..]),
    ) {
        let directory = std::env::temp_dir();
        let text = if absolute { format!("{}/{text}", directory.display()) } else { text };
        for (root, base) in [(None, None), (Some(&*directory), None), (None, Some(&*directory))] {
            let Some(paths) = forms(&text, root, base, system) else {
                continue;
            };
            prop_assert_eq!(&paths[0], &*composed(&text, system));
            for (index, form) in paths.iter().enumerate().skip(1) {
                prop_assert!(!paths[..index].contains(form));
                // The first segment of an absolute path is empty, and the second one of `/`.
                let relative = form.strip_prefix('/').unwrap_or(form);
                let relative = relative.strip_prefix("C:/").unwrap_or(relative);
                let mut segments = relative.split('/');
                let is_normal = segments.all(|segment| !["", ".", ".."].contains(&segment));
                prop_assert!(relative.is_empty() || is_normal, "{:?}", paths);
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

        /// Returns the forms, with the directory of this world as `/TOP`.
        fn forms(&self, text: &str, root: &str, base: Option<&str>) -> Option<Vec<String>> {
            let top = self.top.to_str().unwrap();
            let text = text.replace("/TOP", top);
            let base = base.map(|base| self.path(base));
            let forms = forms(&text, Some(&self.path(root)), base.as_deref(), Unix)?;
            Some(Vec::from_iter(
                forms.iter().map(|form| form.replace(top, "/TOP")),
            ))
        }
    }

    #[test]
    fn links_are_followed() {
        let world = World::new();
        for (text, others) in [
            ("src/x", Some(&[][..])),
            ("src/new", Some(&[])),
            ("src/none/new", Some(&[])),
            ("src/x/y", Some(&[])),
            ("src/x/", Some(&["src/x"])),
            (".", Some(&["/TOP/real/proj"])),
            ("./", Some(&["/TOP/real/proj"])),
            ("file", Some(&["src/x"])),
            ("./file/", Some(&["file", "src/x"])),
            ("safe/env", Some(&[".env"])),
            ("dir", Some(&["src"])),
            ("dir/x", Some(&["src/x"])),
            ("dir/new/y", Some(&["src/new/y"])),
            ("abs/x", Some(&["src/x"])),
            ("loop/loop/src/x", Some(&["src/x", "loop/src/x"])),
            ("out", Some(&["/TOP/vault"])),
            ("out/key", Some(&["/TOP/vault/key"])),
            ("out/a/b", Some(&["/TOP/vault/a/b"])),
            ("key", Some(&["/TOP/vault/key"])),
            ("chain", Some(&["chain2", "safe/chain3", "src/x"])),
            ("dangling", Some(&["src/new"])),
            ("dangling/y", Some(&["src/new/y"])),
            ("dangling-out", Some(&["/TOP/vault/new"])),
            (
                "dangling-deep",
                Some(&["out/none/new", "/TOP/vault/none/new"]),
            ),
            ("dangling-chain", Some(&["dangling-out", "/TOP/vault/new"])),
            ("dangling-up", None),
            ("self", None),
            ("self/x", None),
            ("loop/secrets/k", Some(&["secrets/k", "/TOP/vault/keys/k"])),
            ("/TOP/real/proj/src/x", Some(&["src/x"])),
            ("/TOP/real/proj/file", Some(&["file", "src/x"])),
            ("/TOP/vault/key", Some(&[])),
            ("/TOP/linked/proj/src/x", Some(&["src/x"])),
            ("/TOP/linked/proj/src/new", Some(&["src/new"])),
            ("/TOP/direct/.env", Some(&[".env"])),
            (
                "/TOP/direct/secrets/k",
                Some(&["secrets/k", "/TOP/vault/keys/k"]),
            ),
            ("/TOP/linked/none", Some(&["/TOP/real/none"])),
            ("git push origin", Some(&[])),
            ("cat dir/x", Some(&[])),
        ] {
            let expected = others.map(|others| [&[text], others].concat());
            let expected =
                expected.map(|texts| Vec::from_iter(texts.into_iter().map(str::to_owned)));
            // The last one is added after those by which the first links are followed.
            let sorted = |forms: Option<Vec<String>>| {
                forms.map(|mut texts| {
                    texts[1..].sort();
                    texts
                })
            };
            let paths = world.forms(text, "real/proj", None);
            assert_eq!(sorted(paths), sorted(expected), "{text}");
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
                ("/TOP/real/proj/src/x", &["/TOP/real/proj/src/x", "src/x"]),
                (
                    "/TOP/linked/proj/src/x",
                    &["/TOP/linked/proj/src/x", "src/x"],
                ),
                ("/TOP/direct/src/new", &["/TOP/direct/src/new", "src/new"]),
            ] {
                let paths = world.forms(text, root, None).unwrap();
                assert_eq!(paths, expected, "{root} {text}");
            }
        }
    }

    #[test]
    fn a_relative_path_is_meant_in_the_base() {
        let world = World::new();
        for (text, base, expected) in [
            ("x", "real/proj/src", &["x", "src/x"][..]),
            ("new", "real/proj/src", &["new", "src/new"]),
            ("x", "real/proj/dir", &["x", "dir/x", "src/x"]),
            ("x", "linked/proj/src", &["x", "src/x"]),
            ("env", "real/proj/safe", &["env", "safe/env", ".env"]),
            ("key", "vault", &["key", "/TOP/vault/key"]),
            (".", "real/proj/src", &[".", "src"]),
            ("", "real/proj/src", &[""]),
            ("x", "real/proj/safe/../src", &["x", "src/x"]),
            ("/TOP/vault/key", "real/proj/src", &["/TOP/vault/key"]),
        ] {
            let paths = world.forms(text, "real/proj", Some(base)).unwrap();
            assert_eq!(paths, expected, "{base} {text}");
        }
        let base = world.path("real/proj");
        let paths = forms("file", None, Some(&base), Unix).unwrap();
        let [file, behind] =
            ["file", "src/x"].map(|path| base.join(path).to_str().unwrap().to_owned());
        assert_eq!(paths, ["file", &file, &behind]);
        let file = base.join("file").to_str().unwrap().to_owned();
        let paths = forms(&file, None, None, Unix).unwrap();
        assert_eq!(paths, [&file, base.join("src/x").to_str().unwrap()]);
    }

    #[test]
    fn what_cannot_exist_has_no_real_form() {
        let world = World::new();
        let name = format!("out/{}", "x".repeat(300));
        let paths = world.forms(&name, "real/proj", None).unwrap();
        assert_eq!(paths[1], name.replacen("out", "/TOP/vault", 1));
        let long = "out/".to_owned() + &"x/".repeat(2100) + "x";
        assert_eq!(world.forms(&long, "real/proj", None).unwrap(), [long]);
        // A path with very many names that do not exist is short enough.
        let many = "out/".to_owned() + &"x/".repeat(200) + "x";
        let paths = world.forms(&many, "real/proj", None).unwrap();
        assert_eq!(paths[1], many.replacen("out", "/TOP/vault", 1));
    }

    #[test]
    fn too_many_links_cannot_be_tested() {
        let world = World::new();
        for number in 0..50 {
            let link = world.path(&format!("real/proj/link{number}"));
            symlink(format!("link{}", number + 1), link).unwrap();
        }
        let all = (10..=50).map(|number| format!("link{number}")).collect();
        assert_eq!(world.forms("link10", "real/proj", None), Some(all));
        assert_eq!(world.forms("link9", "real/proj", None), None);
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
        assert_eq!(world.forms("e1", "real/proj", None), None);
        assert!(world.forms("s/x", "real/proj", None).is_some());
    }

    /// The steps of a chain are names of the file too.
    #[test]
    fn each_link_of_a_chain_is_a_form() {
        let world = World::new();
        for (link, target) in [("e2", "key"), ("e3", "secrets/k")] {
            symlink(target, world.path(&format!("real/proj/{link}"))).unwrap();
        }
        let paths = world.forms("e2", "real/proj", None).unwrap();
        assert!(paths.contains(&"key".to_owned()), "{paths:?}");
        let paths = world.forms("e3", "real/proj", None).unwrap();
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
            "/dev/stdin",
        ] {
            assert_eq!(world.forms(text, "real/proj", None), None, "{text}");
        }
    }

    /// A `..` in a link leads to a directory whose links are passed through.
    #[test]
    fn a_link_behind_a_way_back_is_a_form() {
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
            let paths = world.forms(text, "real/proj", None).unwrap();
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
        let paths = world.forms("src/x", "l1/proj", None).unwrap();
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
        let steps = Steps::default();
        let root = world.path("real/proj");
        let places = Places::new(Some(&root), None, Unix, &steps).unwrap();
        for _ in 0..1000 {
            let _ = super::super::forms::forms("l0/a", &places, Unix, &steps);
        }
        assert!(steps.are_spent());
    }

    /// The cost of an event's lookups has a limit.
    #[test]
    fn deep_paths_behind_links_are_not_followed_for_long() {
        let world = World::new();
        let deep = "a/".repeat(1900);
        fs::create_dir_all(world.path(&format!("real/proj/{deep}"))).unwrap();
        symlink("a", world.path("real/proj/la")).unwrap();
        let path = format!("l{deep}");
        assert_eq!(world.forms(&path, "real/proj", None), None);
        let shorter = format!("l{}", "a/".repeat(200));
        assert!(world.forms(&shorter, "real/proj", None).is_some());
    }

    #[test]
    fn a_closed_directory_cannot_be_tested() {
        let world = World::new();
        let closed = world.path("real/proj/src");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // An administrator may read the directory.
        let is_closed = fs::metadata(closed.join("x")).is_err();
        let paths = world.forms("src/x", "real/proj", None);
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
        let paths = forms("link", Some(&root), None, Unix).unwrap();
        assert_eq!(paths, ["link", "target"]);
    }
}
