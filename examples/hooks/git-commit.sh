#!/bin/sh
# Git: commits the file that a tool has written.
#
# What it does: after a tool has written or edited, commits that one file (`file_path`, `path`, `filePath` or
# `notebook_path` of its arguments, else of its result) as `Auto-save: NAME`. Other staged or changed files stay
# as they are. Nothing is committed outside of a repository, for an ignored or unchanged file, or during a merge,
# a rebase or a similar operation. It never blocks: if it cannot commit, it says so and exits with 0.
#
# It runs no hooks of git and does not sign. The hooks of a repository can be in a place where tools write,
# so that a write would run code that was not reviewed. Signing may need a passphrase, which the user cannot
# enter here.
#
# Copy it to .src/forge/hooks/, add this entry to .src/forge/hooks.json, and approve it with
# `forge-hooks trust`:
#   {"event": "tool:post_execute:write|edit", "command": "sh .src/forge/hooks/git-commit.sh", "reads": "stdin",
#    "timeout": 30, "on_failure": "continue"}
#
# Needs: git with user.name and user.email set, and jq.
set -u

give_up() {
    printf 'not committed: %s\n' "$1" >&2
    exit 0
}

command -v jq >/dev/null 2>&1 || give_up 'jq is not installed'
command -v git >/dev/null 2>&1 || give_up 'git is not installed'
# The added `.` protects line breaks at the end of a name.
file=$(jq -j '
    [.data.tool_args, .data.tool_result | objects | .file_path, .path, .filePath, .notebook_path | strings]
    | (first // "") | select(explode | index(0) | not) | . + "."') || give_up 'the event cannot be read'
file=${file%.}
[ -n "$file" ] || give_up 'no file is named'
# For a directory, git would commit everything below it.
[ -L "$file" ] || [ -f "$file" ] || give_up 'it is not a regular file'

# If git has started the host, its variables would select the repository and the index.
# shellcheck disable=SC2046 # They are names of variables.
unset $(git rev-parse --local-env-vars 2>/dev/null)
[ "$(git rev-parse --is-inside-work-tree 2>/dev/null)" = true ] || exit 0

for state in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG rebase-merge rebase-apply; do
    [ ! -e "$(git rev-parse --git-path "$state")" ] || give_up 'a merge, a rebase or a similar operation is in progress'
done
git -c user.useConfigOnly=true var GIT_COMMITTER_IDENT >/dev/null 2>&1 ||
    give_up 'git does not know who you are: set user.name and user.email'

# Treats a name literally, whatever it begins with and whatever globs it contains.
quietly() {
    git --literal-pathspecs -c core.hooksPath=/dev/null -c user.useConfigOnly=true "$@"
}

# `check-ignore` does not support literal names.
[ -z "$(quietly ls-files --others --ignored --exclude-standard -- "$file" 2>/dev/null)" ] || exit 0
said=$(quietly add -- "$file" 2>&1) || give_up "$said"
! quietly diff --cached --quiet -- "$file" || exit 0
name=$(printf '%s' "${file##*/}" | LC_ALL=C tr '[:cntrl:]' '?')
said=$(quietly commit --quiet --no-gpg-sign --only -m "Auto-save: $name" -- "$file" 2>&1) || give_up "$said"
exit 0
