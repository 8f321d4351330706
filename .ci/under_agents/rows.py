"""What is tried under each agent: the rows of the table in seen.md.

A row is its text, and a function for each agent that has it, which fails by an `AssertionError`.
"""

import json
import os
import shutil
import time

from model import SUBAGENT
from programs import CopilotWithPatches, nushell, write

ALL = ("claude", "codex", "gemini", "copilot", "qwen", "kimi", "opencode", "kilo", "pi", "grok")
# Those whose outputs of tools hooks can change.
OUTPUTS = tuple(name for name in ALL if name not in ("kimi", "grok"))
# Those that fire an event at the end of a turn.
STOPS = tuple(name for name in ALL if name not in ("opencode", "kilo", "pi"))

# Each row: its text, the names of the agents that have it, the function.
ROWS = []


def row(text, agents=ALL):
    def add(function):
        ROWS.append((text, agents, function))
        return function

    return add


def guard(pattern, tool="bash", key="command"):
    """A hook that blocks what has this text."""
    return {"event": f"tool:pre_execute:{tool}", "when": {f"/tool_args/{key}": pattern}, "answer": {"decision": "block", "reason": "HOOKNO"}}


def check(holds, seen, what):
    if not holds:
        raise AssertionError(f"{what}\n  told: {seen.told[-800:]}\n  shown: {seen.shown[-1200:]}")


def is_blocked(place, calls, reason="HOOKNO", **options):
    """Checks that the first call is blocked, and that the model reads why."""
    seen = place.work(calls, **options)
    check(reason in seen.told, seen, f"the model has not read the reason of {calls}")
    check(not seen.has("RAN"), seen, "the call was made")
    return seen


def eventually(is_so):
    """Waits for a condition, and returns whether it has come true."""
    end = time.time() + 20
    while not is_so() and time.time() < end:
        time.sleep(0.1)
    return is_so()


def is_made(place, calls, **options):
    seen = place.work(calls, **options)
    check(seen.has("RAN"), seen, "the call was not made")
    return seen


@row("a shell command, a file by its relative and absolute path, an MCP tool blocked")
def calls_are_blocked(place):
    agent = place.agent
    place.has_hooks([guard("*forbidden*"), guard("RAN", "write|edit", "path"), guard("*RAN*", "mcp__notes__*|notes-*", "path")])
    is_blocked(place, [agent.shell("echo forbidden > RAN")])
    is_blocked(place, [agent.write(agent.tool_path(place.project, "RAN"), "x")])
    is_blocked(place, [agent.write(f"{place.project}/RAN", "x")])
    is_blocked(place, [agent.mcp(f"{place.project}/RAN", "x")])
    is_made(place, [agent.shell("echo allowed > RAN")])


@row("a patch of three files blocked", ("codex", "copilot"))
def patches_are_blocked(place):
    if place.agent.name == "copilot":
        place.agent = CopilotWithPatches()
    place.has_hooks([guard("RAN", "write|edit", "path")])
    (place.project / "a").write_text("one\n")
    patch = "*** Update File: a\n@@\n-one\n+two\n*** Add File: RAN\n+x\n*** Add File: c\n+x\n"
    seen = is_blocked(place, [place.agent.patch(patch)])
    check((place.project / "a").read_text() == "one\n" and not seen.has("c"), seen, "a part was applied")


@row("a patch in a shell command blocked", ("codex",))
def patches_in_commands_are_blocked(place):
    place.has_hooks([guard("RAN", "write|edit", "path")])
    is_blocked(place, [place.agent.shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: RAN\n+x\n*** End Patch\nEOF\n")])


@row("a notebook blocked", ("claude",))
def notebooks_are_blocked(place):
    place.has_hooks([guard("*.ipynb", "edit", "path")])
    cell = {"cell_type": "code", "id": "a", "source": "0", "metadata": {}, "outputs": [], "execution_count": None}
    before = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    path = place.project / "a.ipynb"
    path.write_text(before)
    seen = is_blocked(place, [place.agent.read(str(path)), place.agent.notebook(str(path))])
    check(path.read_text() == before, seen, "the notebook was changed")


@row("the shell commands of a skill and of a slash command blocked", ("claude",))
def commands_of_skills_are_blocked(place):
    place.has_hooks([guard("*forbidden*")])
    texts = {word: f"---\nname: {word}\ndescription: {word}\n---\nhere: !`echo {word} > {place.project}/RAN`\n" for word in ("forbidden", "allowed")}
    for word, text in texts.items():
        write(place.home / f".claude/skills/{word}-skill/SKILL.md", text.replace(f"name: {word}", f"name: {word}-skill"))
        write(place.home / f".claude/commands/{word}-command.md", text)
    is_blocked(place, [place.agent.skill("forbidden-skill")])
    is_blocked(place, [], prompt="/forbidden-command")
    for options in ({"calls": [place.agent.skill("allowed-skill")]}, {"calls": [], "prompt": "/allowed-command"}):
        is_made(place, **options)
        (place.project / "RAN").unlink()


QUESTION = [{"event": "tool:pre_execute:bash", "answer": {"decision": "ask", "reason": "HOOKASK"}}]


@row("a question asked, on a terminal and without")
def questions_are_asked(place):
    agent = place.agent
    place.has_hooks(QUESTION)
    call = [agent.shell("echo x > RAN")]
    is_blocked(place, call, "HOOKASK")
    if not agent.puts_questions:
        return
    seen = is_made(place, call, on_terminal=True, keys=[(agent.question, agent.yes)])
    check("HOOKASK" in seen.shown, seen, "the person has not read the question")


@row("a changed input")
def inputs_are_changed(place):
    place.has_hooks([{"event": "tool:pre_execute:bash", "when": {"/tool_args/command": "*OLD*"},
        "answer": {"updatedInput": {"command": "echo x > NEW"}}}])
    seen = place.work([place.agent.shell("echo x > OLD")])
    if not place.agent.changes_inputs:
        check("echo x > NEW" in seen.told and not seen.has("NEW"), seen, "the model has not read the new input")
    else:
        check(seen.has("NEW"), seen, "the new command was not run")
    check(not seen.has("OLD"), seen, "the old command was run")


@row("context at the start, with a prompt, around a tool")
def context_arrives(place):
    events = place.agent.context_at
    place.has_hooks([{"event": event, "answer": {"additionalContext": f"HOOK-{number}-CONTEXT"}}
        for number, event in enumerate(events)])
    seen = place.work([place.agent.shell("echo x")])
    for number, event in enumerate(events):
        check(f"HOOK-{number}-CONTEXT" in seen.told, seen, f"no context of {event}")


@row("an output changed and withheld", OUTPUTS)
def outputs_are_replaced(place):
    call = [place.agent.shell("echo SEC''RET")]
    place.has_hooks([{"event": "tool:post_execute:bash", "answer": {"updatedOutput": "HOOKOUT"}}])
    seen = place.work(call)
    check("HOOKOUT" in seen.told and "SECRET" not in seen.told, seen, "the output was not changed")
    place.has_hooks([{"event": "tool:post_execute:bash", "command": "exit 3", "on_failure": "withhold"}])
    seen = place.work(call)
    check("withheld" in seen.told and "SECRET" not in seen.told, seen, "the output was not withheld")


@row("feedback after a tool, a block after a tool", (*OUTPUTS, "grok"))
def what_hooks_say_of_a_tool_is_read(place):
    call = [place.agent.shell("echo OUT''PUT")]
    for rest in ({"answer": {"feedback": "HOOKSAY"}}, {"answer": {"decision": "block", "reason": "HOOKSAY"}}, {"command": "echo HOOKSAY >&2; exit 1"}):
        place.has_hooks([{"event": "tool:post_execute:bash", **rest}])
        seen = place.work(call)
        check("HOOKSAY" in seen.told, seen, f"the model has not read what {rest} says")
        check("OUTPUT" in seen.told, seen, "the model has not read the output")


@row("a message for the user beside a block")
def messages_stand_beside_blocks(place):
    agent = place.agent
    answer = {"decision": "block", "reason": "HOOKNO", "systemMessage": "HOOKMESSAGE"}
    place.has_hooks([{"event": "tool:pre_execute:bash", "answer": answer}])
    seen = is_blocked(place, [agent.shell("echo x > RAN")])
    check(not agent.shows_messages or "HOOKMESSAGE" in seen.shown, seen, "the person has not read the message")
    place.has_hooks([{"event": "user:prompt_submit", "answer": answer}])
    seen = place.work([agent.shell("echo x > RAN")], on_terminal=not agent.shows_without_terminal, keys=[("HOOKNO", "")])
    check(not seen.has("RAN"), seen, "the prompt was not blocked")
    is_shown = "HOOKNO" in seen.shown and "HOOKMESSAGE" in seen.shown
    check(is_shown or not agent.shows_blocked_prompts, seen, "the person has not read both beside a prompt")


@row("a crash names its exit code and last line")
def crashes_are_named(place):
    place.has_hooks([{"event": "tool:pre_execute:bash", "args": ["python3", "-c", "def f(): raise KeyError(5)\nf()"]}])
    is_blocked(place, [place.agent.shell("echo x > RAN")], "failed, exit code 1: KeyError: 5")


@row("at the end of a turn a hook that cannot run lets it end", STOPS)
def turns_end_without_a_missing_program(place):
    agent = place.agent
    last = {"when": {"/last_assistant_message": {"regex": "NEVER"}}, "answer": {"decision": "block", "reason": "HOOKSTAY"}}
    for hooks in ([{"event": "agent:stop", "args": ["no-such-notifier"]}], [{"event": "agent:stop", **last}]):
        place.has_hooks(hooks)
        seen = is_made(place, [agent.shell("echo x > RAN")], on_terminal=not agent.shows_without_terminal)
        check("no-such-notifier" not in seen.told and "HOOKSTAY" not in seen.told, seen, "the agent went on")
        is_told = agent.shows_messages and ("args" in hooks[0] or agent.name == "copilot")
        shown = "".join(seen.shown.split())
        check(not is_told or "no-such-notifier" in shown or "couldnotbetested" in shown, seen, "the person has not read why")
        (place.project / "RAN").unlink()


@row("a prompt blocked, a changed one shown")
def prompts_are_blocked(place):
    call = [place.agent.shell("echo x > RAN")]
    place.has_hooks([{"event": "user:prompt_submit", "answer": {"decision": "block", "reason": "HOOKNO"}}])
    seen = place.work(call)
    check(not seen.has("RAN") and "hello" not in seen.told, seen, "the model has read the prompt")
    place.has_hooks([{"event": "user:prompt_submit", "answer": {"updatedInput": {"content": "HOOKNEW"}}}])
    seen = place.work(call, on_terminal=not place.agent.shows_without_terminal, keys=[("HOOKNEW", "")])
    check(not seen.has("RAN"), seen, "the prompt was not blocked")
    check("HOOKNEW" in seen.shown or not place.agent.shows_blocked_prompts, seen, "the person has not read the new prompt")


@row("a hook that hangs ended by the deadline, with its processes")
def hanging_hooks_are_ended(place):
    command = "(trap '' TERM; echo $$ > $TMPDIR/pid; exec sleep 600) & setsid sleep 601 & echo $! > $TMPDIR/other; sleep 602"
    place.has_hooks([{"event": "tool:pre_execute:bash", "command": command, "timeout": 3}])
    is_blocked(place, [place.agent.shell("echo x > RAN")], "timed out")
    for name in ("pid", "other"):
        number = int((place.root / "tmp" / name).read_text())
        stat = f"/proc/{number}/stat"
        if not eventually(lambda: not os.path.exists(stat) or open(stat).read().split()[2] == "Z"):
            raise AssertionError(f"process {number} is left")


@row("an invalid file, a failing hook, a lost approval block")
def faults_block(place):
    call = [place.agent.shell("echo x > RAN")]
    for hooks in ('{"hooks": [', [{"event": "tool:pre_execute:bash", "command": "exit 3"}]):
        place.has_hooks(hooks)
        seen = place.work(call)
        check(not seen.has("RAN"), seen, f"{hooks} has not blocked")
        place.has_hooks([])
        is_made(place, call)
        (place.project / "RAN").unlink()
    place.has_hooks([{"event": "tool:pre_execute:bash", "command": ".forge-hooks/hooks/guard.sh"}], place.project)
    script = place.project / ".forge-hooks/hooks/guard.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    place.forge_hooks("trust", "--yes")
    is_made(place, call)
    (place.project / "RAN").unlink()
    script.write_text("#!/bin/sh\nexit 0 # changed\n")
    is_blocked(place, call, "has changed since")


@row("the end of the turn")
def turns_end(place):
    agent = place.agent
    place.has_hooks([{"event": "tool:pre_execute:bash", "answer": {"continue": False, "stopReason": "HOOKSTOP"}}])
    seen = place.work([agent.shell("echo x > RAN"), agent.shell("echo x > LATER")])
    check(not seen.has("RAN"), seen, "the call was made")
    if not agent.ends_turns:
        check("HOOKSTOP" in seen.told, seen, "the model has not read why")
    else:
        check(sum("echo x > RAN" in json.dumps(body) for body in seen.requests) == 0, seen, "the turn went on")
    place.has_hooks([])
    is_made(place, [agent.shell("echo x > RAN")])


@row("the ninth end of a turn ends it", STOPS)
def ends_are_not_blocked_for_ever(place):
    place.has_hooks([{"event": "agent:stop", "answer": {"decision": "block", "reason": "HOOKSTAY"}}])
    seen = place.work([place.agent.shell("echo x")])
    count = max(json.dumps(body).count("HOOKSTAY") for body in seen.requests)
    check(count == place.agent.blocked_ends, seen, f"{count} ends were blocked, expected {place.agent.blocked_ends}")


@row("a hook in the background goes on")
def background_hooks_go_on(place):
    # It ends only after the agent has ended.
    command = "until [ -e $TMPDIR/ended ]; do sleep 0.1; done; echo x > $TMPDIR/late"
    place.has_hooks([{"event": "tool:pre_execute:bash", "background": True, "command": command}])
    is_made(place, [place.agent.shell("echo x > RAN")])
    (place.root / "tmp/ended").touch()
    if not eventually((place.root / "tmp/late").exists):
        raise AssertionError("the hook has not run to its end")


@row("a hook at the end of a session of Claude Code runs longer than its usual 1.5 seconds", ("claude",))
def ends_of_sessions_are_waited_for(place):
    place.has_hooks([{"event": "session:end", "command": "sleep 4; echo x > $TMPDIR/late"}])
    place.work([])
    if not eventually((place.root / "tmp/late").exists):
        raise AssertionError("the hook has not run to its end")


@row("settings protected; changed settings without effect")
def settings_are_protected(place):
    agent = place.agent
    place.has_hooks([guard("*forbidden*")])
    for name in (agent.settings, ".forge-hooks/hooks.json"):
        is_blocked(place, [agent.write(agent.tool_path(place.project, name), "{}")], "decide which hooks run")
        if (place.project / name).exists():
            raise AssertionError(f"{name} was written")
    if agent.name == "claude":
        settings = place.home / agent.settings
        # By a command, which is no wall: what it changes has no effect in this session.
        change = agent.shell(f"echo '{{}}' > {settings}; sleep 3")
        is_blocked(place, [change, agent.shell("sleep 1; echo forbidden > RAN")])


@row("a yes of a hook", ("claude", "codex", "copilot", "qwen"))
def a_yes_is_taken(place):
    agent = place.agent
    call = agent.asked_for("echo x > RAN")
    place.has_hooks([])
    seen = place.work([call], asks=True, on_terminal=True, keys=[("never", "")])
    check(not seen.has("RAN"), seen, "the agent does not ask without a hook")
    place.has_hooks([{"event": agent.takes_yes_at, "answer": {"decision": "allow"}}])
    is_made(place, [call], asks=True, on_terminal=True)


# Pi has no subagents of its own.
@row("calls of subagents guarded", tuple(name for name in ALL if name != "pi"))
def subagents_are_guarded(place):
    agent = place.agent
    place.has_hooks([guard("*forbidden*")])
    calls = [agent.subagent(f"{SUBAGENT} do it"), *agent.while_subagent_works]
    is_blocked(place, calls, subagent=[agent.shell("echo forbidden > RAN")])
    is_made(place, calls, subagent=[agent.shell("echo x > RAN")])


@row("a registered program that is missing, was killed by a signal, or ends with 1 without a word blocks")
def a_broken_program_blocks(place):
    call = [place.agent.shell("echo x > RAN")]
    place.has_hooks([])
    place.program.unlink()
    seen = place.work(call)
    check(not seen.has("RAN") and "hello" not in seen.told, seen, "the prompt was not blocked")
    for script in ("exit 1", "kill -PIPE $$", "kill -KILL $$"):
        place.program.write_text(f"#!/bin/sh\n[ \"$3\" = {place.agent.before} ] || exit 0\n{script}\n")
        place.program.chmod(0o755)
        if place.agent.is_started_by_plugin or place.agent.name == "grok":
            # A plugin asks about the prompt too. Grok Build reads the first line alone, which may be one of the shell.
            check(not place.work(call).has("RAN"), seen, f"`{script}` has not blocked")
        else:
            is_blocked(place, call, "forge-hooks did not run")


@row("a missing program named with its path, the settings file and two remedies", tuple(name for name in ALL if name != "grok"))
def a_missing_program_is_named(place):
    agent = place.agent
    place.has_hooks([])
    place.program.unlink()
    seen = place.work([agent.shell("echo x > RAN")], on_terminal=not agent.shows_without_terminal or agent.has_terminal,
        keys=[("forge-hooksdidnotrun", "")], options=agent.shows_more)
    # Without the frames of the terminal.
    shown = "".join("".join(c for c in seen.shown if c.isascii()).split())
    for words in (str(place.program), agent.registered_in, f"forge-hooksinstall{agent.name}", f"forge-hooksuninstall{agent.name}"):
        check(words in shown, seen, f"the person has not read {words}")


@row("a profile that prints, `$SHELL` that is fish, nushell or `/bin/false`")
def the_users_shell_does_not_matter(place):
    place.has_hooks([guard("*forbidden*")])
    for name in (".profile", ".bashrc", ".bash_profile", ".zshenv", ".config/fish/config.fish"):
        write(place.home / name, "echo '{\"a\": 1} printed by a profile'\necho printed >&2\n")
    write(place.home / ".config/nushell/config.nu", "print printed")
    call = [place.agent.shell("echo forbidden > RAN")]
    # Gemini CLI reads what the profile prints in place of the reason.
    reason = "" if place.agent.name == "gemini" else "HOOKNO"
    is_blocked(place, call, reason)
    # fish is tried where it is installed.
    for shell in ("/bin/false", nushell(place.modules), shutil.which("fish")):
        if shell:
            is_blocked(place, call, reason, variables={"SHELL": str(shell)})
    if reason:
        return
    is_made(place, [place.agent.shell("echo x > RAN")], variables={"SHELL": "/bin/false"})
