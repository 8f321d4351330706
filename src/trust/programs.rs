//! Programs that run no files of a project, variables that decide what runs, and the file name extensions of
//! scripts.
//!
//! A closed world: a program that is in no table may run anything. Knows nothing of the file system.

use crate::hook::Word;

/// Programs and shell builtins that run no file, whatever their arguments are.
const RUN_NOTHING: &str = "[ test true false : echo printf cat head tail wc sort uniq cut tr grep egrep fgrep \
     basename dirname date mkdir touch rm cp mv ln ls stat sleep tee kill logger curl git \
     chmod cmp diff du id mktemp printenv realpath rmdir seq sha256sum uname which \
     break continue exit return shift times umask ulimit wait export readonly declare typeset local set \
     unset read getopts pwd type let jobs for select";

/// Programs that an option from an expansion can make read a file as code, or run another program.
const CAREFUL: &str = "sort curl git";

/// Shell builtins that evaluate their arguments in bash: `test -v 'a[$(x)]'` runs `x`.
const EVALUATE: &str =
    "[ test let declare typeset local export readonly read printf unset for select getopts";

/// Programs that may write the files that their arguments name.
const WRITE: &str = "cp mv ln tee curl";

/// Variables, or their prefixes, by which a shell, a loader or an interpreter finds what it runs.
const DECIDING: &str = "PATH HOME ENV CDPATH SHELLOPTS PS4 ZDOTDIR FPATH fpath path PHPRC PHP_INI_SCAN_DIR AWKPATH \
     AWKLIBPATH CURL_HOME XDG_CONFIG_HOME XDG_DATA_DIRS PSModulePath SHELL EDITOR VISUAL PAGER SSH_ASKPASS LESSOPEN \
     KRB5_CONFIG";
const DECIDING_PREFIXES: &str = "BASH LD_ DYLD_ GIT_ PYTHON NODE_ NPM_ npm_ RUBY GEM_ PERL LUA_ BUN_ DENO_ GLIBC_ \
     GCONV_ OPENSSL_ PYENV DOTNET_";
/// Variables with such a prefix that have no such effect.
const HARMLESS: &str = "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED NODE_ENV \
     GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS";

/// The file name extensions of scripts of the known interpreters.
const ENDINGS: &str =
    "sh bash dash zsh ksh fish py js mjs cjs ts mts cts tsx jsx rb pl php lua awk sed jq ps1";

fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// What a program runs with its arguments.
pub(super) enum Effect {
    Nothing,
    /// The program usually runs nothing, but may do so with these arguments, for this reason.
    MayRun(&'static str),
    /// The program is not in the table.
    Unknown,
}

pub(super) fn effect(name: &str, args: &[Word]) -> Effect {
    if !has(RUN_NOTHING, name) {
        return Effect::Unknown;
    }
    let any = |is_it: fn(&str) -> bool| args.iter().any(|arg| is_it(&arg.text));
    let is_option = |arg: &Word| arg.expands && arg.plain == 0 && arg.text.starts_with(['$', '`']);
    let why = match name {
        _ if has(CAREFUL, name) && args.iter().any(is_option) => {
            "may get any option from an expansion"
        }
        _ if has(EVALUATE, name) && args.iter().any(|arg| arg.quotes_code) => "may run quoted code",
        "sort" if any(|arg| arg.starts_with("--co")) => "may run a compression program",
        "curl" if any(reads_options) => "reads its options from a file",
        "git" if !args.first().is_some_and(|arg| has(GIT, &arg.text)) => {
            "may run programs with this subcommand"
        }
        "set" if any(|arg| arg.starts_with(['-', '+']) && arg.contains('k')) => {
            "turns arguments into variables"
        }
        _ => return Effect::Nothing,
    };
    Effect::MayRun(why)
}

/// Whether an option is `curl -K` (also among other letters) or `--config`.
fn reads_options(arg: &str) -> bool {
    arg.starts_with("--conf") || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('K')
}

/// The subcommands of git that run nothing. Not `commit` and `push`, which run hooks of the repository or
/// programs on the remote side: if `core.hooksPath` names a directory of the project, its files run.
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
    fn variables_that_decide_are_known() {
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
