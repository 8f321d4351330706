#!/bin/sh
# Records docs/session.md: the output of the commands below, on this machine.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --features cli
PATH="${CARGO_TARGET_DIR:-$PWD/target}/debug:$PATH"
HOME=$(mktemp -d)
XDG_CONFIG_HOME=$HOME/config
export PATH HOME XDG_CONFIG_HOME
trap 'rm -r "$HOME"' EXIT

say() {
    printf '$ %s\n' "$1"
    sh -c "$1" 2>&1 || printf '[exit status %s]\n' "$?"
    echo
}

{
    echo '# A session with the program'
    echo
    echo 'This session was recorded by `docs/record.sh`, with the hooks of `examples/sudo.json`. A test compares it with the output of the'
    echo 'program.'
    echo
    echo '```console'
    say "forge-hooks check examples/sudo.json"
    say "forge-hooks fire tool:pre_execute --tool bash --args '{\"command\":\"ls\"}' --config examples/sudo.json"
    say "forge-hooks fire tool:pre_execute --tool bash --args '{\"command\":\"sudo ls\"}' --config examples/sudo.json"
    say "forge-hooks list tool:pre_execute --tool write --args '{}' --config examples/sudo.json"
    say "forge-hooks fire tool:pre_exec --config examples/sudo.json"
    say "forge-hooks list --config examples/sudo.json"
    say "forge-hooks list --config examples/sudo.json | head -1"
    say "printf '{\"hooks\": [{\"event\": \"tool:*\", \"command\": \"true\", \"timeout\": \"5\"}]}' | forge-hooks check -"
    echo '```'
} >docs/session.md
