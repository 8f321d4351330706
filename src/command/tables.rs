//! What is known of programs: those that run their arguments, those whose words are data, and options that take a value.
//!
//! A row is a program, or several for one reason. A program without a row has no options with values, and a whole pattern
//! in its words counts.

/// Returns the name of a program without its directory and the extension of Windows.
pub(super) fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
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

pub(super) fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" | "mksh" | "rbash"
    )
}

/// Returns the number of words before the command, for a program that only runs its arguments.
pub(super) fn words_before_command(program: &str) -> Option<usize> {
    Some(match program {
        // With another environment, user, group, limit, terminal or priority.
        "env" | "sudo" | "doas" | "nice" | "ionice" | "nohup" | "setsid" | "stdbuf" => 0,
        "unbuffer" | "chronic" | "caffeinate" | "systemd-run" | "pkexec" | "fakeroot" => 0,
        "unshare" | "nsenter" | "setpriv" | "prlimit" | "xvfb-run" | "dbus-run-session" => 0,
        "bwrap" | "firejail" | "screen" | "tini" | "dumb-init" => 0,
        // Builtins that run a program of this name.
        "command" | "builtin" | "exec" | "time" => 0,
        // Once for each line, or again and again.
        "xargs" | "parallel" | "watch" | "entr" | "retry" => 0,
        // The first word is the time, the directory, the file of a lock, the user.
        "timeout" | "chroot" | "flock" | "taskset" | "gosu" | "su-exec" | "faketime" => 1,
        // A program with several programs in it.
        "busybox" | "toybox" => 0,
        // It shows what the program does.
        "strace" | "ltrace" | "gdb" | "valgrind" | "perf" => 0,
        // It finds the program in a package.
        "npx" | "bunx" | "pnpx" | "uvx" | "pipx" => 0,
        _ => return None,
    })
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

/// Returns the words behind which a command begins, in the arguments of a program that is not a wrapper.
pub(super) fn marks(program: &str) -> &'static [&'static str] {
    match program {
        // `npm run x` runs a script of this name, not a program.
        "npm" | "pnpm" => &["exec", "x", "dlx"],
        "git" => &["foreach"],
        "find" => &["-exec", "-execdir", "-ok", "-okdir"],
        "fd" => &["-x", "-X", "--exec", "--exec-batch"],
        _ if has_data(program) => &[],
        _ => &["exec", "run", "--"],
    }
}

/// Returns the letters of the short options that take a value.
pub(super) fn letters_with_value(program: &str) -> &'static str {
    match program {
        "git" => "cCmFo",
        "curl" => "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        "wget" => "aABDeiIloOPQRtTUwX",
        "psql" => "cdfFhLopPRTUv",
        "kubectl" | "oc" | "helm" => "cflno",
        "docker" | "podman" => "H",
        "ssh" | "scp" => "bcDEeFIiJLlmOopQRSWw",
        "rsync" => "efBMT",
        "sed" => "efl",
        "perl" | "ruby" => "eEIM",
        "sort" => "koStT",
        "cp" | "mv" | "ln" => "tS",
        "install" => "gmotS",
        "cargo" => "pFjZ",
        "make" => "CfjIo",
        "sudo" => "ugphCDRTUrt",
        "doas" => "uC",
        "env" => "uCS",
        "timeout" => "ks",
        "nice" => "n",
        "ionice" => "cnpP",
        "time" => "fo",
        "exec" => "a",
        "xargs" => "IEdaLnPs",
        "parallel" => "jNnPIS",
        "stdbuf" => "ioe",
        "strace" => "efopsu",
        "watch" => "nq",
        "npx" => "pc",
        "nsenter" => "tSG",
        "screen" => "Sst",
        "truncate" | "shred" => "srn",
        "touch" => "drt",
        _ => "",
    }
}

/// Returns whether a long option of a program that runs its arguments takes the next word as its value.
pub(super) fn has_long_value(option: &str) -> bool {
    matches!(
        option,
        "--user"
            | "--group"
            | "--signal"
            | "--kill-after"
            | "--unset"
            | "--chdir"
            | "--max-args"
            | "--max-procs"
            | "--max-lines"
            | "--replace"
            | "--delimiter"
            | "--arg-file"
            | "--adjustment"
            | "--host"
            | "--prompt"
            | "--class"
            | "--classdata"
            | "--interval"
            | "--package"
    )
}
