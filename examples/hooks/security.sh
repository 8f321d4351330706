#!/bin/sh
# Security: blocks shell commands that destroy or take over the machine, and access to protected files.
#
# What it does: checks the arguments of a tool before it runs. Commands (`command`, `cmd`, `script`, or
# arguments that are one string) are searched for `sudo`, a recursive `rm`, `chmod` or `chown` of the root, a
# home or a system directory, writing to a disk, `mkfs`, a fork bomb, and a download that is piped into a shell.
# Paths (keys that end in `path`, `file`, `dir`), and paths within commands, must not be in `.git` or `.ssh`,
# and must not be called `.env` or `.env.*` (except `.env.example`, `.sample`, `.template` and `.dist`). Nor must
# they decide which hooks run, or a tool could switch this guard off: `hooks.json`, `hooks.d`, `trust.json`,
# `.src/forge`, `.src/opencode`, `.forge-hooks`, the settings of Claude Code, Codex and Gemini CLI, the `hooks`
# directories beside all these, and this script. They are blocked for reading too, since the names of arguments do
# not tell reading from writing. `../` and links are resolved first. It blocks with exit code 2 and the reason on
# standard error.
#
# What it is not: a sandbox. It reads text, and text can be disguised: a variable or an alias with the command,
# base64, a script that is written first and run later, another language, a glob such as `.e*`, a relative path
# after a `cd /`. It stops accidents and haste, not an adversary; against an adversary, run the tools in a
# container or as another user. When in doubt it blocks: for example, it reads a `;` within quotes as the end
# of a command.
#
# Copy it to .src/forge/hooks/, add this entry to .src/forge/hooks.json, for every tool, and approve it with
# `forge-hooks trust`:
#   {"event": "tool:pre_execute", "command": "sh .src/forge/hooks/security.sh", "reads": "stdin", "timeout": 10}
#
# Needs: jq 1.5 or newer, grep, readlink -f. If one is missing, or the arguments cannot be read, it blocks.
set -u
LC_ALL=C
export LC_ALL

block() {
    printf 'Blocked: %s\n' "$1" >&2
    exit 2
}

for tool in jq grep tr readlink; do
    command -v "$tool" >/dev/null 2>&1 || block "$tool is not installed, and is needed to check the arguments"
done

# Prints one line for each item to check, in lower case, with single spaces between words, without quotes:
# `c` a simple command, `o` a whole command on one line, `w` a path without `..`; `p` an unchanged path.
# shellcheck disable=SC2016 # Each `$` there is for jq.
reading='
def swap($from; $to): split($from) | join($to);
def all_to($to; $list): reduce $list[] as $from (.; swap($from; $to));
def words: split(" ") | map(select(. != ""));

def normal_path:
  (if startswith("/") then "/" else "" end) as $root
  | reduce (split("/")[] | select(. != "" and . != ".")) as $part ([];
      if $part != ".." then . + [$part]
      elif length > 0 and .[-1] != ".." then .[:-1]
      elif $root == "/" then .
      else . + [$part] end)
  | $root + join("/")
  | if . == "" then "." else . end;
def normal: if contains("/") then normal_path else . end;

def at_home($home):
  if . == $home then "~" elif . == $home + "/*" then "~/*" else . end;

def text:
  if type == "string" then .
  elif type == "array" and all(.[]; type == "string") then join(" ")
  else error("a command that is not a string") end
  | if explode | index(0) then error("a command with a NUL") else . end;

def plain:
  ascii_downcase | swap("\\\n"; "") | all_to(""; ["\\", "\"", "\u0027"])
  | all_to(" "; ["\t", "\r", "\u000b", "\f", "${ifs}", "$ifs"]) | swap("|&"; "|");

def simple_commands:
  (env.HOME // "~" | normal | ascii_downcase) as $home
  | all_to(">"; [">|", ">&"]) | all_to("\n"; [";", "&", "|", "(", ")", "`"])
  | swap(">"; " > ") | swap("<"; " < ") | swap("=/"; "= /")
  | split("\n")[] | words | map(normal | at_home($home)) | "c " + join(" ");

def one_line:
  swap("\n"; " ") | reduce ("|", ";", "&", "(", ")", "`") as $sign (.; swap($sign; " \($sign) "))
  | "o " + (words | join(" "));

# A command names only `.git`, or everything in it, to exclude it from a search.
def is_left_out: split("/") | .[-1] == ".git" or .[-2:] == [".git", "*"];

def paths_within:
  all_to(" "; ["\n", ";", "&", "|", "(", ")", "`", "<", ">", "=", ":", ",", "@", "{", "}"])
  | words | map(normal | select(is_left_out | not)) | unique[] | "w " + .;

def of_command: text | plain | simple_commands, one_line, paths_within;

def of_path:
  if explode | any(. < 32 or . == 127) then error("a path with a control character") else . end
  | "p " + ., ("w " + normal | ascii_downcase);

def entries: .. | objects | to_entries[] | .key |= ascii_downcase | select(.value != null);
def is_command: .key | . == "command" or . == "cmd" or . == "script";
def is_path: .key | rtrimstr("s") | endswith("path") or endswith("file") or endswith("filename") or endswith("dir");

if length != 1 then error("not one event") else .[0] end
| (.tool_name // "" | ascii_downcase) as $tool
| .data.tool_args
| if type == "string" then of_command
  elif type != "object" then error("no arguments")
  elif any("bash", "sh", "shell", "exec"; . == $tool) and ([entries | select(is_command)] == []) then
    error("no command")
  else
    (entries | select(is_command) | .value | of_command),
    (entries | select(is_path) | .value | if type == "array" then .[] else . end | strings | of_path)
  end
'

lines=$(jq -rs "$reading" 2>&1) || block "the arguments cannot be read: ${lines##*
}"

# Whether one line matches the extended regular expression; blocks if the search fails.
has() {
    printf '%s\n' "$2" | grep -Eq -e "$1"
    case $? in
        0) return 0 ;;
        1) return 1 ;;
        *) block 'cannot search the arguments' ;;
    esac
}

# Words that may come before a command: assignments, redirections, keywords, and programs that run their
# arguments.
shells='(ba|da|z|k|mk|a|fi|c|tc)?sh'
before="[a-z_][a-z0-9_]*=( ?[^ ]*)?|([0-9]+ )?([<>] )+[^ ]+|then|do|else|elif|if|while|until|!|\\{|coproc"
runners="env|nohup|nice|ionice|timeout|time|xargs|exec|command|builtin|eval|busybox|setsid|stdbuf|chroot|ssh|find|$shells"
begin="^c (($before) )*(([^ ]*/)?($runners) (.* )?)?([^ ]*/)?"
system='bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|sbin|srv|sys|usr|var|users|system|library|applications'
kept='git|src|forge-hooks|claude|codex|gemini|copilot'
vital="(/|/[^/ ]*[][*?\$][^ ]*|/($system)(/\\*)?|(~|\\\$home|\\\$\\{home\\})(/\\*)?|([^ ]*/)?\\.($kept)(/\\*)?)( |\$)"
disk='/dev/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|dm-|md|mapper/|loop|mem|kmem|nvram)'
recursive=' (-[a-z]*r[a-z]*|--r[a-z]*)( |$)'

refuse() {
    ! has "$1" "$lines" || block "$2"
}

refuse "${begin}(sudo|sudoedit|doas|su|pkexec)( |\$)" 'it asks for the rights of another user'
refuse "${begin}(mkfs(\\.[a-z0-9]+)?|mke2fs|newfs)( |\$)" 'it makes a file system'
refuse "${begin}dd (.* )?of= ?$disk" 'it writes to a disk'
refuse "^c (.* )?> $disk" 'it writes to a disk'
refuse "${begin}(tee|cp|mv|shred|wipefs|blkdiscard|mkswap) (.* )?$disk" 'it writes to a disk'
refuse "${begin}find (-[a-z]+ )*$vital(.* )?-delete( |\$)" 'it deletes a vital directory'
refuse "${begin}find (-[a-z]+ )*$vital(.* )?-(exec|execdir|ok|okdir) ([^ ]*/)?(rm|shred)( |\$)" 'it deletes a vital directory'

# Options and targets can be in any order.
broad=$(printf '%s\n' "$lines" | grep -E -e "${begin}(rm|chmod|chown|chgrp) " | grep -E -e "$recursive")
refuse_broad() {
    ! has "$1" "$broad" || block "$2"
}
refuse_broad "${begin}(rm|chmod|chown|chgrp) (.* )?$vital" 'it deletes or opens a vital directory with everything in it'

into="(([^ ]*/)?(env|exec|command|nohup|nice|time|busybox)( -[^ ]+| [a-z_]+=[^ ]*)* )*([^ ]*/)?"
language='(python[0-9.]*|perl|ruby|node|php)( -)?( [;&|)]|$)'
loads='([^ ]*/)?(curl|wget|fetch)( |$)'
refuse "^o (.* )?$loads.*\\| $into($shells( |\$)|$language)" 'it runs what it downloads'
refuse "^o (.* )?([^ ]*/)?($shells( -[^ ]+)*|eval|source|\\.) (< ?|\\\$ )?[(\`] ?$loads" 'it runs what it downloads'

# Only a basic expression can match the same name again.
if printf '%s\n' "$lines" | grep '^o ' | tr -d ' ' | grep -q '\([^(){}|&;]\{1,\}\)\(()\)\{0,1\}{\1|\1&'; then
    block 'it is a fork bomb'
fi

lower() {
    printf '%s' "$1" | tr '[:upper:]' '[:lower:]'
}

own=$(lower "$(readlink -f -- "$0")")
here=$(lower "$PWD")
home=$(lower "${HOME-}")

# Whether a path is protected, by one of its names or as this script.
is_protected() {
    case $1 in
        /*) [ "$1" != "$own" ] || return 0 ;;
        '~'/*) [ "$home${1#'~'}" != "$own" ] || return 0 ;;
        *) [ "$here/$1" != "$own" ] || return 0 ;;
    esac
    case /$1/ in
        */hooks.json/* | */hooks.d/* | */trust.json/* | */.forge-hooks/*) return 0 ;;
        */.src/forge/* | */.src/opencode/* | */.config/*/hooks/*) return 0 ;;
        */.claude/hooks/* | */.codex/hooks/* | */.gemini/hooks/*) return 0 ;;
        */.claude/settings.json/* | */.claude/settings.local.json/*) return 0 ;;
        */.codex/config.toml/* | */.gemini/settings.json/*) return 0 ;;
        */.copilot/hooks/* | */.copilot/settings.json/* | */.copilot/config.json/*) return 0 ;;
        */.github/hooks/* | */.github/copilot/settings.json/* | */.github/copilot/settings.local.json/*) return 0 ;;
    esac
    case /$1/ in
        */.git/* | */.ssh/* | */.env/*) return 0 ;;
        */.env.example/* | */.env.sample/* | */.env.template/* | */.env.dist/*) return 1 ;;
        */.env.*/*) return 0 ;;
    esac
    return 1
}

# Prints the path with its links resolved; a component that does not exist yet is not a link.
followed() {
    path=$1 rest=
    until real=$(readlink -f -- "$path" 2>/dev/null); do
        case $path in
            . | /) block "cannot resolve the path $1" ;;
            /*/*) rest=/${path##*/}$rest path=${path%/*} ;;
            /*) rest=/${path#/}$rest path=/ ;;
            */*) rest=/${path##*/}$rest path=${path%/*} ;;
            *) rest=/$path$rest path=. ;;
        esac
    done
    real=$real$rest
}

while IFS= read -r line; do
    case $line in
        'w '*) real=${line#w } ;;
        'p '*) followed "${line#p }" ;;
        *) continue ;;
    esac
    ! is_protected "$(lower "$real")" || block "$real is protected"
done <<EOF
$lines
EOF
exit 0
