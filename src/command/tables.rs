//! Facts about programs: those that run their arguments, those whose words are data, and options that take a value.
//!
//! A row is a program, or several for one reason. A program without a row has no options with values. In its words a pattern of
//! two words or more counts; a name alone may be any argument.

use super::expand::Arg;

/// Returns the name of a program without its directory, the extension of Windows, and the registry and version of a package:
/// `npx rimraf@5`, `deno run npm:rimraf`.
pub(super) fn base_name(program: &str) -> &str {
    // Most programs, of which each pattern asks, and the searches below cost more.
    if program.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return program;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.strip_prefix("npm:").unwrap_or(name);
    let name = match name.split_once('@') {
        Some((package, _)) if !package.is_empty() => package,
        _ => name,
    };
    let stem = match name.rsplit_once('.') {
        Some((stem, extension)) if is_executable(extension) => stem,
        _ => name,
    };
    // `C:\bin\git.exe`, quoted.
    stem.rsplit('\\').next().unwrap_or(stem)
}

fn is_executable(extension: &str) -> bool {
    ["exe", "cmd", "bat"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

pub(crate) fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "mksh" | "rbash"
    )
}

/// Where the command stands in the words of a program that only runs it.
pub(super) enum Runs {
    /// Behind the options, and so many words.
    Behind(usize),
    /// Its options are not in these tables: each word may be the command, up to the first program of these tables. A word
    /// behind an option may be its value.
    Anywhere,
}

/// Returns where the command stands, for a program that only runs its arguments.
pub(super) fn runs(program: &str) -> Option<Runs> {
    Some(match program {
        // With another environment, user, priority, terminal or buffer.
        "env" | "sudo" | "doas" | "nice" | "ionice" | "nohup" | "setsid" | "stdbuf" => {
            Runs::Behind(0)
        }
        // Builtins that run a program of this name.
        "command" | "builtin" | "exec" | "time" => Runs::Behind(0),
        // Once for each line, or again and again.
        "xargs" | "parallel" | "watch" | "entr" | "retry" => Runs::Behind(0),
        // The first word is the time, the file of a lock, the user, the group, what to show.
        "timeout" | "flock" | "gosu" | "su-exec" | "sg" | "perf" => Runs::Behind(1),
        // A program with several programs in it.
        "busybox" | "toybox" => Runs::Behind(0),
        // It finds the program in a package.
        "npx" | "bunx" | "pnpx" | "uvx" | "pipx" => Runs::Behind(0),
        // They run it as another user, or with other rights.
        "run0" | "pkexec" | "fakeroot" | "setpriv" | "runcon" | "aa-exec" | "chpst"
        | "envuidgid" | "setuidgid" | "s6-setuidgid" => Runs::Anywhere,
        // In another namespace, root, directory or session.
        "unshare" | "nsenter" | "chroot" | "proot" | "bwrap" | "firejail" | "wsl" | "screen"
        | "script" | "dbus-run-session" | "xvfb-run" | "systemd-run" | "tini" | "dumb-init" => {
            Runs::Anywhere
        }
        // With other limits, priorities or processors.
        "prlimit" | "softlimit" | "cpulimit" | "timelimit" | "chrt" | "choom" | "uclampset"
        | "taskset" | "numactl" | "cgexec" | "setarch" | "linux32" | "linux64" => Runs::Anywhere,
        // With other libraries, input, output or time.
        "unbuffer" | "chronic" | "caffeinate" | "systemd-inhibit" | "rlwrap" | "torsocks"
        | "torify" | "proxychains" | "proxychains4" | "sshpass" | "eatmydata" | "faketime"
        | "envdir" => Runs::Anywhere,
        // They show what the program does.
        "strace" | "ltrace" | "gdb" | "valgrind" => Runs::Anywhere,
        _ => return None,
    })
}

/// Returns whether these tables say what the words of a program are.
pub(super) fn is_known(program: &str) -> bool {
    let valued = valued(program);
    has_data(program)
        || is_shell(program)
        || starts_elsewhere(program)
        || runs(program).is_some()
        || !(valued.letters.is_empty() && valued.long.is_empty())
}

/// Returns whether the words of a program are data, in which no command begins.
pub(super) fn has_data(program: &str) -> bool {
    match program {
        // They print their words.
        "echo" | "printf" | "print" | "say" | "notify-send" | "figlet" => true,
        // A pattern to search, and files.
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "sed" | "awk" | "jq"
        | "yq" => true,
        // Names of programs to describe.
        "man" | "which" | "whereis" | "type" | "whatis" | "apropos" | "hash" | "tldr" | "info" => {
            true
        }
        // Comparisons.
        "[" | "[[" | "test" | "expr" | "case" | "diff" | "cmp" => true,
        // Names of packages.
        "apt" | "apt-get" | "apt-cache" | "dpkg" | "brew" | "dnf" | "yum" | "apk" | "pacman"
        | "snap" | "pip" | "pip3" | "gem" | "nix-env" | "cargo" | "go" => true,
        // Their scripts have names as programs have: `npm run publish`.
        "npm" | "pnpm" | "make" | "just" | "task" => true,
        // Messages, branches and paths.
        "git" | "gh" | "glab" | "hg" | "svn" => true,
        // Names of files.
        "ls" | "cat" | "bat" | "less" | "more" | "head" | "tail" | "wc" | "sort" | "uniq"
        | "stat" | "file" | "rm" | "cp" | "mv" | "ln" | "mkdir" | "rmdir" | "touch" | "chmod"
        | "chown" | "tar" | "zip" | "unzip" | "tee" | "find" | "fd" | "basename" | "dirname"
        | "realpath" | "readlink" | "rsync" | "scp" => true,
        // Values of variables and of the shell.
        "set" | "export" | "local" | "alias" | "declare" | "readonly" | "typeset" | "unset"
        | "read" | "return" | "exit" | "cd" | "pushd" => true,
        // Names of processes, users and services.
        "kill" | "pkill" | "killall" | "pgrep" | "ps" | "systemctl" | "service" | "usermod"
        | "adduser" | "useradd" => true,
        // They send text.
        "curl" | "wget" | "mail" | "http" => true,
        _ => false,
    }
}

/// Returns whether a program runs what it starts on another machine or in a container.
pub(super) fn starts_elsewhere(program: &str) -> bool {
    matches!(
        program,
        "ssh" | "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc"
    )
}

/// Returns whether a program prints a word that is no option and no path, such as the name of a branch.
pub(super) fn prints_a_name(program: &str, words: &[Arg]) -> bool {
    let is_first = |names: &[&str]| {
        words
            .first()
            .is_some_and(|word| names.contains(&word.text()))
    };
    let prints_path =
        |word: &Arg| word.text().contains("git-") || word.text().starts_with("--show-");
    match program {
        "date" | "whoami" | "hostname" | "uname" | "nproc" | "id" | "wc" | "seq" => true,
        "git"
            if is_first(&[
                "branch",
                "describe",
                "merge-base",
                "symbolic-ref",
                "rev-list",
            ]) =>
        {
            true
        }
        "git" if is_first(&["rev-parse"]) => !words.iter().any(prints_path),
        _ => false,
    }
}

/// Returns the options that name the directory in which a program works.
pub(super) fn directory_options(program: &str) -> &'static [&'static str] {
    match program {
        "env" => &["-C", "--chdir"],
        "sudo" | "run0" => &["-D", "--chdir"],
        "git" => &["-C"],
        _ => &[],
    }
}

/// Returns the words behind which a command begins, in the arguments of a program that is not a wrapper.
pub(super) fn marks(program: &str) -> &'static [&'static str] {
    match program {
        // `npm run x` runs a script of this name, not a program.
        "npm" | "pnpm" => &["exec", "x", "dlx"],
        "yarn" => &["exec", "run", "dlx", "--"],
        "git" => &["foreach"],
        "find" => &["-exec", "-execdir", "-ok", "-okdir"],
        "fd" => &["-x", "-X", "--exec", "--exec-batch"],
        "adb" | "limactl" => &["shell"],
        _ if has_data(program) => &[],
        _ => &["exec", "run", "--"],
    }
}

/// Returns whether a program runs another one that its first word names, if it has no command of this name.
pub(super) fn runs_first_word(program: &str) -> bool {
    matches!(program, "pnpm" | "yarn" | "bun")
}

/// The options of a program that take the next word as their value.
pub(super) struct Valued {
    /// The letters of the short ones.
    pub(super) letters: &'static str,
    /// The others: they are known for programs that run their arguments alone.
    pub(super) long: &'static [&'static str],
}

/// Returns the options of a program that take a value.
pub(super) fn valued(program: &str) -> Valued {
    let (letters, long): (_, &[_]) = match program {
        "git" => ("cCmFo", &[]),
        "curl" => ("AbcCdDeEFhHKmoPQrtTuUwxXyYz", &[]),
        "wget" => ("aABDeiIloOPQRtTUwX", &[]),
        "psql" => ("cdfFhLopPRTUv", &[]),
        "kubectl" | "oc" | "helm" => ("cflno", &[]),
        "docker" | "podman" => ("H", &[]),
        "ssh" | "scp" => ("bcDEeFIiJLlmOopQRSWw", &[]),
        "rsync" => ("efBMT", &[]),
        "sed" => ("efl", &[]),
        "awk" | "gawk" => ("fFvi", &[]),
        "perl" | "ruby" => ("eEIM", &[]),
        "sort" => ("koStT", &[]),
        "cp" | "mv" | "ln" => ("tS", &[]),
        "install" => ("gmotS", &[]),
        "cargo" => ("pFjZ", &[]),
        "make" => ("CfjIo", &[]),
        "tar" => ("CfTX", &[]),
        "unzip" => ("dx", &[]),
        "patch" => ("dioprY", &[]),
        "truncate" | "shred" => ("srn", &[]),
        "touch" => ("drt", &[]),
        "pnpm" => ("CF", &["--dir", "--filter"]),
        "yarn" | "bun" => ("", &["--cwd"]),
        _ if is_shell(program) => ("oO", &["--rcfile", "--init-file"]),
        _ => return valued_of_wrapper(program),
    };
    Valued { letters, long }
}

fn valued_of_wrapper(program: &str) -> Valued {
    let (letters, long): (_, &[_]) = match program {
        "sudo" => (
            "ugphCDRTUrt",
            &[
                "--user",
                "--group",
                "--host",
                "--prompt",
                "--chdir",
                "--chroot",
                "--role",
                "--type",
                "--close-from",
                "--command-timeout",
                "--other-user",
            ],
        ),
        "doas" => ("uC", &[]),
        "env" => ("auCS", &["--argv0", "--unset", "--chdir"]),
        "timeout" => ("ks", &["--signal", "--kill-after"]),
        "nice" => ("n", &["--adjustment"]),
        "ionice" => (
            "cnpPu",
            &["--class", "--classdata", "--pid", "--pgid", "--uid"],
        ),
        "time" => ("fo", &["--format", "--output"]),
        "exec" => ("a", &[]),
        "xargs" => (
            "IEdaLnPs",
            &[
                "--max-args",
                "--max-procs",
                "--max-lines",
                "--max-chars",
                "--delimiter",
                "--arg-file",
                "--process-slot-var",
            ],
        ),
        "parallel" => (
            "jNnPISaCL",
            &[
                "--jobs",
                "--max-args",
                "--delay",
                "--joblog",
                "--results",
                "--timeout",
                "--arg-file",
                "--colsep",
                "--retries",
                "--sshlogin",
                "--tmpdir",
                "--workdir",
                "--load",
                "--memfree",
                "--halt",
                "--tagstring",
                "--basefile",
                "--max-procs",
            ],
        ),
        "stdbuf" => ("ioe", &["--input", "--output", "--error"]),
        "watch" => ("nq", &["--interval", "--equexit"]),
        "flock" => ("wEc", &["--timeout", "--wait", "--conflict-exit-code"]),
        "npx" | "bunx" | "pnpx" => ("pcw", &["--package", "--workspace"]),
        "uvx" | "pipx" => (
            "p",
            &[
                "--from",
                "--with",
                "--python",
                "--spec",
                "--index-url",
                "--pip-args",
            ],
        ),
        "script" => ("cEIOBTmo", &["--command", "--log-out"]),
        "perf" => ("eo", &[]),
        _ => ("", &[]),
    };
    Valued { letters, long }
}
