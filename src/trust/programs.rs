//! Programs that run no files of a project, variables that decide what runs, and the endings of scripts.
//!
//! A closed world: what is in no table may run anything. Knows no file system.

use crate::hook::Word;

/// Programs, and the shell's own commands, that run no file whatever their arguments are.
const RUN_NOTHING: &str = "[ test true false : echo printf cat head tail wc sort uniq cut tr grep egrep fgrep \
     basename dirname date mkdir touch rm cp mv ln ls stat sleep tee kill logger curl git \
     chmod cmp diff du id mktemp printenv realpath rmdir seq sha256sum uname which \
     break continue exit return shift times umask ulimit wait export readonly declare typeset local set \
     unset read getopts pwd type let jobs for select";

/// What may take a file for code, or run another program, by options that come from an expansion.
const CAREFUL: &str = "sort curl git";

/// The shell's own commands that evaluate their arguments in bash: `test -v 'a[$(x)]'` runs `x`.
const EVALUATE: &str =
    "[ test let declare typeset local export readonly read printf unset for select getopts";

/// Programs that may write what their arguments name.
const WRITE: &str = "cp mv ln tee curl";

/// Variables by which a shell, a loader or an interpreter finds what it runs, whole or by their
/// beginning.
const DECIDING: &str = "PATH HOME ENV CDPATH SHELLOPTS PS4 ZDOTDIR FPATH fpath path PHPRC PHP_INI_SCAN_DIR AWKPATH \
     AWKLIBPATH CURL_HOME XDG_CONFIG_HOME XDG_DATA_DIRS PSModulePath SHELL EDITOR VISUAL PAGER SSH_ASKPASS LESSOPEN \
     KRB5_CONFIG";
const DECIDING_PREFIXES: &str = "BASH LD_ DYLD_ GIT_ PYTHON NODE_ NPM_ npm_ RUBY GEM_ PERL LUA_ BUN_ DENO_ GLIBC_ \
     GCONV_ OPENSSL_ PYENV DOTNET_";
/// These only look as if they did.
const HARMLESS: &str = "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED NODE_ENV \
     GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS";

/// The endings of scripts of the interpreters above.
const ENDINGS: &str =
    "sh bash dash zsh ksh fish py js mjs cjs ts mts cts tsx jsx rb pl php lua awk sed jq ps1";

fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// Why a program that usually runs nothing may run something with these arguments; none where it
/// does not. `Err` for a program that is not in the table.
pub(super) fn runs_nothing(name: &str, args: &[Word]) -> Result<Option<&'static str>, ()> {
    if !has(RUN_NOTHING, name) {
        return Err(());
    }
    let any = |is_it: fn(&str) -> bool| args.iter().any(|arg| is_it(&arg.text));
    let is_option = |arg: &Word| arg.expands && arg.plain == 0 && arg.text.starts_with(['$', '`']);
    let why = match name {
        _ if has(CAREFUL, name) && args.iter().any(is_option) => "may have any option",
        _ if has(EVALUATE, name) && args.iter().any(|arg| arg.quotes_code) => {
            "may run code that is quoted"
        }
        "sort" if any(|arg| arg.starts_with("--co")) => "may run a program to compress",
        "curl" if any(reads_options) => "reads its options from a file",
        "git" if !args.first().is_some_and(|arg| has(GIT, &arg.text)) => {
            "may run programs with this subcommand"
        }
        "set" if any(|arg| arg.starts_with(['-', '+']) && arg.contains('k')) => {
            "makes variables of arguments"
        }
        _ => return Ok(None),
    };
    Ok(Some(why))
}

/// `curl -K`, also among other letters, and `--config`.
fn reads_options(arg: &str) -> bool {
    arg.starts_with("--conf") || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('K')
}

/// Without those that run hooks of a repository or programs on the other side (`commit`, `push`): where
/// `core.hooksPath` names a directory of the project, its files are run.
const GIT: &str = "add diff log rev-parse status";

/// Whether a program may write files that its arguments name.
pub(super) fn may_write(name: &str, args: &[Word]) -> bool {
    let any = |start: &str| args.iter().any(|arg| arg.text.starts_with(start));
    match name {
        "sort" => any("-o") || any("--o"),
        "uniq" => args.len() > 1,
        "git" => any("--output"),
        _ => has(WRITE, name),
    }
}

/// Whether a variable of this name decides what runs.
pub(super) fn decides(variable: &str) -> bool {
    let mut prefixes = DECIDING_PREFIXES.split(' ');
    has(DECIDING, variable)
        || prefixes.any(|prefix| variable.starts_with(prefix)) && !has(HARMLESS, variable)
}

pub(super) fn is_script_ending(ending: &str) -> bool {
    has(ENDINGS, &ending.to_ascii_lowercase())
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
