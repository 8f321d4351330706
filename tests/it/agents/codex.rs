//! A stand-in for Codex's `app-server`, which says what Codex would run, and takes approvals.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::program::User;

/// Lists each command of the user's file. Beside it is what it has seen, and how it is to behave.
const SCRIPT: &str = r#"#!/bin/sh
here=${0%/*}
mode=$(cat "$here/codex-mode" 2>/dev/null)
say() { printf '%s\n' "$1"; }
list() {
    grep -Eo '"command": ?"(\\.|[^"\\])*"' "$HOME/.codex/hooks.json" | while read -r command; do
        status=untrusted enabled=true
        number=$(printf %s "$command" | cksum | cut -d ' ' -f 1)
        grep -q "hash-$number\"" "$here/codex-approved" 2>/dev/null && status=trusted
        [ "$mode" = disabled ] && enabled=false
        printf '%s{%s,"key":"key-%s","currentHash":"hash-%s","sourcePath":"%s","enabled":%s,"trustStatus":"%s"}' \
            "$comma" "$command" "$number" "$number" "$HOME/.codex/hooks.json" $enabled $status
        comma=,
        [ "$mode" = some ] && break
    done
}
[ "$1" = app-server ] || exit 9
while read -r line; do
    case $mode,$line in
        silent,*) exit 0 ;;
        *,*'"initialize"'*) say '{"method":"configWarning","id":2}'; say '{"id":1,"result":{}}' ;;
        off,*'"hooks/list"'*) say '{"id":2,"result":{"data":[{"hooks":[],"errors":[]}]}}' ;;
        broken,*'"hooks/list"'*) say '{"id":2,"result":{"data":[{"hooks":[],"errors":[{"message":"config.toml:1:6: unclosed"}]}]}}' ;;
        project,*'"hooks/list"'*'/project"'*) say "{\"id\":2,\"result\":{\"data\":[{\"hooks\":[$(list)],\"errors\":[]},{\"hooks\":[],\"errors\":[]}]}}" ;;
        *,*'"hooks/list"'*) say "{\"id\":2,\"result\":{\"data\":[{\"hooks\":[$(list)],\"errors\":[]}]}}" ;;
        refuses,*'"config/batchWrite"'*) say '{"id":2,"error":{"message":"no"}}' ;;
        *,*'"config/batchWrite"'*) say "$line" >> "$here/codex-approved"; say '{"id":2,"result":{}}' ;;
    esac
done
"#;

impl User {
    /// Installs the stand-in for this user.
    pub(crate) fn has_codex(&self) {
        let program = self.write("bin/codex", SCRIPT);
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn codex_is(&self, mode: &str) {
        self.write("bin/codex-mode", mode);
    }

    /// The approvals that it has taken, as it was asked for them.
    pub(super) fn approvals(&self) -> PathBuf {
        self.path("bin/codex-approved")
    }
}
