#!/usr/bin/env python3
"""Hooks for a Python program: a client of `forge-hooks serve` (docs/serve.md), and a small agent that uses it.
Try it where `myagent` has hooks:  python3 forge_hooks.py 'ls' 'sudo ls'
"""
import itertools, json, os, subprocess, sys, threading
from concurrent.futures import Future, TimeoutError


class Hooks:
    """The hooks of the program with this name. Threads can share it."""

    def __init__(self, profile, *options):
        command = [os.environ.get("FORGE_HOOKS", "forge-hooks"), "serve", "--profile", profile]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        # Ctrl-C is for the agent, which then ends or goes on.
        self.child = subprocess.Popen([*command, *options], start_new_session=True, **pipes)
        self.ids, self.open, self.lock = itertools.count(1), {}, threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        self.messages = self.call("initialize", protocol=2)["messages"]

    def _read(self):
        for line in self.child.stdout:
            message = json.loads(line)
            future = self.open.pop(message.get("id"), None)
            if future and "error" in message:
                future.set_exception(RuntimeError(message["error"]["message"]))
            elif future:
                future.set_result(message["result"])
        for future in list(self.open.values()):
            future.set_exception(RuntimeError("forge-hooks has ended"))

    def _send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False) + "\n"
        with self.lock:
            self.child.stdin.write(line)
            self.child.stdin.flush()

    def call(self, method, timeout=None, **params):
        """Waits for the result. After the timeout, a fire is cancelled, and its result says so."""
        id, future = next(self.ids), Future()
        self.open[id] = future
        self._send({"id": id, "method": method, "params": params})
        try:
            return future.result(timeout)
        except TimeoutError:
            self._send({"method": "$/cancelRequest", "params": {"id": id}})
            return future.result(5)

    def close(self):
        self.call("shutdown")
        self.child.wait()


def shown(text):
    """Without characters that command a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def confirmed(question):
    print(question, "[y/N] ", end="", flush=True)
    return sys.stdin.readline().strip() in ("y", "yes")


def agent(commands):
    hooks = Hooks("myagent")
    sys.stderr.writelines(text + "\n" for text in hooks.messages)
    for block in hooks.call("approvals"):
        if confirmed(block["text"] + "Let these hooks run?"):
            hooks.call("approve", digest=block["digest"])
    for command in commands:
        event = {"type": "tool:pre_execute", "tool_name": "bash", "data": {"tool_args": {"command": command}}}
        result = hooks.call("fire", timeout=60, event=event, options={"handles_ask": True, "applies_updates": True})
        sys.stderr.writelines(text + "\n" for text in result["messages"])
        reason = shown(result["reason"] or "without a reason")
        if result["allowed"] or result["decision"] == "ask" and confirmed(reason):
            last = result.get("changed_event", event)  # with the changes of the hooks, if any
            subprocess.run(last["data"]["tool_args"]["command"], shell=True)
        else:
            print("blocked:", reason, flush=True)
    hooks.close()


if __name__ == "__main__":
    agent(sys.argv[1:])
