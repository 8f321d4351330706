#!/bin/sh
# Validation: refuses files with invalid JSON, Python or shell syntax.
#
# What it does: before a tool writes, parses the `content` in its arguments; after it has written or edited,
# parses the file (`file_path`, `path`, `filePath` or `notebook_path` of its arguments, else of its result).
# The file is never executed. Before a write, exit code 1 blocks it; after a write, the file exists, and the
# error is reported to the program.
#   *.json       with jq: one value, strict. Not tsconfig.json and similar files, which may have comments.
#   *.py         with python3
#   *.sh *.bash  with the shell that the first line names, if that is bash or sh; if it names none, with bash, or
#                sh if bash is not installed
#
# Copy it to .src/forge/hooks/, add this entry to .src/forge/hooks.json, and approve it with
# `forge-hooks trust`:
#   {"event": "tool:pre_execute:write, tool:post_execute:write|edit", "reads": "stdin", "timeout": 10,
#    "command": "sh .src/forge/hooks/validate-write.sh"}
#
# Needs: jq to read the event; python3 and bash to check such files. If one is missing, it says so and allows
# the file: it finds mistakes, and is not a guard. For a guard, change `unchecked` to exit with 1.
set -u

unchecked() {
    printf 'not checked: %s\n' "$1" >&2
    exit 0
}

refuse() {
    printf 'Not valid %s: %s\n%s\n' "$1" "$file" "$2" >&2
    exit 1
}

needs() {
    command -v "$1" >/dev/null 2>&1 || unchecked "$1 is not installed"
}

needs jq
event=$(cat)
# The added `.` protects line breaks at the end of a name.
# shellcheck disable=SC2016 # Each `$` there is for jq.
file=$(printf '%s\n' "$event" | jq -j '
    [.data.tool_args, .data.tool_result | objects | .file_path, .path, .filePath, .notebook_path | strings]
    | (first // "") | select(explode | index(0) | not) | . + "."') || unchecked 'the event cannot be read'
file=${file%.}
[ -n "$file" ] || unchecked 'no file is named'

is_before=$(printf '%s\n' "$event" | jq -r '.type | endswith("pre_execute")')
if [ "$is_before" = true ]; then
    # The result of an edit is known only afterwards.
    printf '%s\n' "$event" | jq -e '.data.tool_args.content | type == "string"' >/dev/null || exit 0
else
    [ -f "$file" ] || unchecked 'the file does not exist'
    [ -r "$file" ] || unchecked 'the file cannot be read'
fi

# The content is on standard input, so that no file name is parsed as an option.
text() {
    if [ "$is_before" = true ]; then
        printf '%s\n' "$event" | jq -j '.data.tool_args.content'
    else
        cat <"$file"
    fi
}

check_json() {
    said=$(text | jq -es 'length == 1' 2>&1 >/dev/null) ||
        refuse JSON "${said:-there must be one value}"
}

# Isolated (-I), so that no file next to it can be imported.
check_python() {
    needs python3
    # shellcheck disable=SC2016
    said=$(text | python3 -I -W ignore -c '
import sys
try:
    compile(sys.stdin.buffer.read(), "file", "exec", dont_inherit=True)
except SyntaxError as error:
    sys.exit(f"line {error.lineno}: {error.msg}")
except Exception as error:
    sys.exit(str(error))' 2>&1) || refuse Python "$said"
}

check_shell() {
    first=$(text | head -n 1 | LC_ALL=C tr -d '\0')
    case $first in
        '#!'*bash*) shell='bash' ;;
        '#!'*/sh | '#!'*/sh' '* | '#!'*' sh' | '#!'*dash*) shell='sh' ;;
        '#!'*) exit 0 ;;
        *) if command -v bash >/dev/null 2>&1; then shell='bash'; else shell='sh'; fi ;;
    esac
    needs "$shell"
    # These variables would name a file to run first.
    unset BASH_ENV ENV
    said=$(text | "$shell" -n 2>&1) || refuse "$shell" "$said"
}

case /$file in
    */tsconfig*.json | */jsconfig*.json | */.vscode/*.json | */devcontainer.json) ;;
    *.json) check_json ;;
    *.py) check_python ;;
    *.sh | *.bash) check_shell ;;
esac
exit 0
