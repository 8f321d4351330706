#!/bin/sh
# Git: commits the file that a tool has written.
#
# What it does: after a tool has written or edited, commits that one file (`file_path`, `path`, `filePath` or
# `notebook_path` of its arguments, else of its result) as `Auto-save: NAME`. What else is staged or changed stays
# as it is. Nothing is committed outside of a repository, for an ignored or unchanged file, or while a merge, a
# rebase or the like is going on. It never blocks: where it cannot commit it says so and exits with 0.
#
# It runs no hooks of git and does not sign. The hooks of a repository can lie where tools write, so that the
# write would run code that nobody has looked at; and nobody is there to type a passphrase.
#
# In hooks.json:
#   {"event": "tool:post_execute:write|edit", "command": "sh .src/forge/hooks/git-commit.sh", "reads": "stdin",
#    "timeout": 30, "on_failure": "continue"}
#
# Needs: git with user.name and user.email set, and jq.
set -u

give_up() {
    printf 'not committed: %s\n' "$1" >&2
    exit 0
}

command -v jq >/dev/null 2>&1 || give_up 'jq is not there'
command -v git >/dev/null 2>&1 || give_up 'git is not there'
# The full stop keeps the line breaks that a name may end with.
file=$(jq -j '
    [.data.tool_args, .data.tool_result | objects | .file_path, .path, .filePath, .notebook_path | strings]
    | (first // "") | select(explode | index(0) | not) | . + "."') || give_up 'the event cannot be read'
file=${file%.}
[ -n "$file" ] || give_up 'no file is named'
# Of a folder, everything below would be committed.
[ -L "$file" ] || [ -f "$file" ] || give_up 'it is no file'

# A program that git itself has started would say which repository and index to use.
# shellcheck disable=SC2046 # They are names of variables.
unset $(git rev-parse --local-env-vars 2>/dev/null)
[ "$(git rev-parse --is-inside-work-tree 2>/dev/null)" = true ] || exit 0

for state in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG rebase-merge rebase-apply; do
    [ ! -e "$(git rev-parse --git-path "$state")" ] || give_up 'a merge, rebase or the like is going on'
done
git -c user.useConfigOnly=true var GIT_COMMITTER_IDENT >/dev/null 2>&1 ||
    give_up 'git does not know who you are: set user.name and user.email'

# A name is a name, whatever it begins with and whatever globs it has.
quietly() {
    git --literal-pathspecs -c core.hooksPath=/dev/null -c user.useConfigOnly=true "$@"
}

# `check-ignore` takes no literal names.
[ -z "$(quietly ls-files --others --ignored --exclude-standard -- "$file" 2>/dev/null)" ] || exit 0
said=$(quietly add -- "$file" 2>&1) || give_up "$said"
! quietly diff --cached --quiet -- "$file" || exit 0
name=$(printf '%s' "${file##*/}" | LC_ALL=C tr '[:cntrl:]' '?')
said=$(quietly commit --quiet --no-gpg-sign --only -m "Auto-save: $name" -- "$file" 2>&1) || give_up "$said"
exit 0
