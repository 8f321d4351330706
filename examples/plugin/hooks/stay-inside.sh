#!/bin/sh
# A hook of Claude Code: denies paths that lead out of the project.
path=$(jq -r '.tool_input | .file_path // .path // empty') || {
  echo "cannot read the event: is jq installed?" >&2
  exit 2
}
case $path in
"$CLAUDE_PROJECT_DIR"/*) ;;
/* | ../* | */../*)
  echo "$path is not in the project" >&2
  exit 2
  ;;
esac
