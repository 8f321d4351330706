//! Programs that run no files of a project, variables that decide what runs, and the endings of scripts.
//!
//! A closed world: what is in no table may run anything. Knows no file system.

/// Programs, and the shell's own commands, that run no file whatever their arguments are.
const RUN_NOTHING: &[&str] = &[
    "[", "test", "true", "false", ":", "echo", "printf", "cat", "head", "tail", "wc", "sort",
    "uniq", "cut", "tr", "grep", "egrep", "fgrep", "basename", "dirname", "date", "mkdir", "touch",
    "rm", "cp", "mv", "ln", "ls", "stat", "sleep", "tee", "kill", "logger", "curl", "git",
    // The shell's own.
    "break", "continue", "exit", "return", "shift", "times", "umask", "ulimit", "wait", "export",
    "readonly", "declare", "typeset", "local", "set", "unset", "read", "getopts", "pwd", "type",
    "let", "jobs", "for", "select",
];

/// Programs that may write what their arguments name.
const WRITE: &[&str] = &["cp", "mv", "ln", "tee", "curl", "sort"];

/// Variables by which a shell, a loader or an interpreter finds what it runs, whole or by their
/// beginning.
const DECIDING: &[&str] = &[
    "PATH",
    "HOME",
    "ENV",
    "IFS",
    "CDPATH",
    "SHELLOPTS",
    "PS4",
    "ZDOTDIR",
    "FPATH",
    "fpath",
    "path",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "AWKPATH",
    "AWKLIBPATH",
    "CURL_HOME",
    "XDG_CONFIG_HOME",
    "PSModulePath",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
];
const DECIDING_PREFIXES: &[&str] = &[
    "BASH", "LD_", "DYLD_", "GIT_", "PYTHON", "NODE_", "NPM_", "npm_", "RUBY", "GEM_", "PERL",
    "LUA_", "BUN_", "DENO_", "GLIBC_", "GCONV_",
];
/// These only look as if they did.
const HARMLESS: &[&str] = &[
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "NODE_ENV",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
];

/// The endings of scripts of the interpreters above.
const ENDINGS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "cts",
    "tsx", "jsx", "rb", "pl", "php", "lua", "awk", "sed", "jq", "ps1",
];

/// Why a program that usually runs nothing may run something with these arguments; none where it
/// does not. `Err` for a program that is not in the table.
pub(super) fn runs_nothing(name: &str, args: &[&str]) -> Result<Option<&'static str>, ()> {
    if !RUN_NOTHING.contains(&name) {
        return Err(());
    }
    let is_short = |arg: &str| arg.starts_with('-') && !arg.starts_with("--");
    let first = args.first().copied().unwrap_or_default();
    let why = match name {
        "sort" if args.iter().any(|arg| arg.starts_with("--co")) => "may run a program to compress",
        "curl" if args.iter().any(|arg| arg.starts_with("--conf")) => {
            "reads its options from a file"
        }
        "curl" if args.iter().any(|arg| is_short(arg) && arg.contains('K')) => {
            "reads its options from a file"
        }
        "git" if !GIT.contains(&first) => "may run programs with this subcommand",
        _ => return Ok(None),
    };
    Ok(Some(why))
}

const GIT: &[&str] = &[
    "add",
    "commit",
    "diff",
    "log",
    "push",
    "rev-parse",
    "status",
];

pub(super) fn may_write(name: &str) -> bool {
    WRITE.contains(&name)
}

/// Whether a variable of this name decides what runs.
pub(super) fn decides(variable: &str) -> bool {
    let is_prefixed = |prefix: &&str| variable.starts_with(*prefix);
    DECIDING.contains(&variable)
        || DECIDING_PREFIXES.iter().any(is_prefixed) && !HARMLESS.contains(&variable)
}

pub(super) fn is_script_ending(ending: &str) -> bool {
    ENDINGS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_decide_what_runs_are_known() {
        for name in [
            "PATH",
            "BASH_ENV",
            "PYTHONPATH",
            "LD_PRELOAD",
            "GIT_DIR",
            "NODE_OPTIONS",
        ] {
            assert!(decides(name), "{name}");
        }
        for name in [
            "FOO",
            "PATHS",
            "PYTHONUNBUFFERED",
            "MYGAME_PATH",
            "NODE_ENV",
        ] {
            assert!(!decides(name), "{name}");
        }
    }
}
