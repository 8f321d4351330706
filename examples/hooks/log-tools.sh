#!/bin/sh
# Logging: appends one line for each event to a file.
#
# What it does: writes the time, the event, the tool and the session, for example
#   2026-01-31T12:00:00Z tool:pre_execute tool=bash session=s1
# to the file $FORGE_HOOK_LOG, else to forge/hooks.log below $XDG_STATE_HOME (~/.local/state). It creates the
# file with mode 0600 (only you can read it), and does not change the mode of an existing file. In a value, all
# characters except visible ASCII become `?`, and a value is cut after 100 characters. So no value can forge a
# line or a field, and a line is written in one piece, even if several hooks write at once. Arguments and
# results are not logged, since they may contain secrets. It never blocks.
#
# Copy it to .src/forge/hooks/, add this entry to .src/forge/hooks.json (use `*` for all events), and approve it with
# `forge-hooks trust`:
#   {"event": "tool:*", "command": "sh .src/forge/hooks/log-tools.sh", "stdin": "none", "on_failure": "continue"}
# For another file: "env": {"FORGE_HOOK_LOG": "/path/to/file"}
#
# Needs: only sh, date, mkdir and tr. The file grows: rotate it, for example with logrotate.
set -u
umask 077

give_up() {
    printf 'not logged: %s\n' "$1" >&2
    exit 0
}

visible() {
    printf '%.100s' "$1" | LC_ALL=C tr -c '[:graph:]' '?'
}

log=${FORGE_HOOK_LOG:-}
if [ -z "$log" ]; then
    state=${XDG_STATE_HOME:-${HOME:+$HOME/.local/state}}
    [ -n "$state" ] || give_up 'neither FORGE_HOOK_LOG nor HOME is set'
    log=$state/forge/hooks.log
fi
case $log in
    */*) mkdir -p -- "${log%/*}/" || give_up "cannot create a directory for $log" ;;
esac

event=$(visible "${FORGE_EVENT:--}")
tool=$(visible "${FORGE_TOOL_NAME:--}")
session=$(visible "${FORGE_SESSION_ID:--}")
line="$(date -u +%Y-%m-%dT%H:%M:%SZ) $event tool=$tool session=$session"
{ printf '%s\n' "$line" >>"$log"; } || give_up "cannot write to $log"
exit 0
