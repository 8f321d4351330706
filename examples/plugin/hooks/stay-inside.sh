#!/bin/sh
# A hook of Claude Code: denies paths that lead out of the project. It reads the path as text: it resolves no links.
deny() {
  echo "$1" >&2
  exit 2
}

path=$(jq -r '.tool_input.file_path // empty') || deny "cannot read the event: is jq installed?"
[ -n "$CLAUDE_PROJECT_DIR" ] || deny "CLAUDE_PROJECT_DIR is not set"
case $path in
../* | */../* | */.. | .. | "~"*) ;;
"$CLAUDE_PROJECT_DIR"/*) exit 0 ;;
/*) ;;
*) exit 0 ;;
esac
deny "$path is not in the project"
