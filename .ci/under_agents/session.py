"""One session of a real agent: a person with a home, a project and hooks.json, whose agent works to the end of its turn."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

from model import Model
from programs import write

# In seconds. A session that has not ended then is killed.
LONGEST = 60


class Place:
    """A home, a project and another one, and where programs are found."""

    def __init__(self, agent, modules, program):
        self.agent = agent
        self.root = Path(tempfile.mkdtemp(prefix="under-agents-"))
        self.home, self.project, self.other = (self.root / name for name in ("home", "project", "other"))
        self.modules = modules
        for directory in (self.home, self.project, self.other, self.root / "bin", self.root / "tmp"):
            directory.mkdir()
        for project in (self.project, self.other):
            subprocess.run(["git", "init", "-q", project], check=True, timeout=LONGEST)
        self.program = self.root / "bin/forge-hooks"
        # In a process of its own: one that another thread starts meanwhile would keep the file open for writing.
        subprocess.run(["cp", program, self.program], check=True, timeout=LONGEST)
        (self.root / "bin/codex").symlink_to(modules / ".bin/codex")
        self.environment = {
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
        }
        agent.prepare(self.home, self.project, modules.parent)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def has_hooks(self, hooks, project=None):
        directory = project / ".forge-hooks" if project else self.home / ".config/forge-hooks"
        write(directory / "hooks.json", hooks if isinstance(hooks, str) else {"hooks": hooks})

    def forge_hooks(self, *words, cwd=None):
        """Runs the program as a person does."""
        command = [str(self.program), *words]
        ended = subprocess.run(command, cwd=cwd or self.project, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LONGEST)
        if ended.returncode:
            raise RuntimeError(f"{words}: {ended.stdout}{ended.stderr}")
        return ended.stdout

    def work(self, calls, prompt="hello", subagent=(), asks=False, on_terminal=False, keys=(), variables=None, options=()):
        """Lets the agent make these calls. `keys` are pairs: a text without blanks that the terminal shows, and the answer."""
        agent = self.agent
        model = Model(calls, subagent)
        environment = {**self.environment, **agent.variables(self.home, model.address), **(variables or {})}
        command = agent.program(self.modules) + agent.arguments(prompt, on_terminal, model.address)
        options = [*(agent.asks if asks else agent.asks_not), *options]
        if agent.name == "codex" and not on_terminal:
            command[2:2] = options
        else:
            command[len(agent.program(self.modules)):0] = options
        try:
            if on_terminal:
                shown = Terminal(command, self.project, environment).work(list(keys), model)
            else:
                shown = headless(command, self.project, environment)
        finally:
            model.stop()
        return Seen(self, shown, model.requests)


class Seen:
    """What came of a session."""

    def __init__(self, place, shown, requests):
        self.place, self.shown, self.requests = place, shown, requests
        # All that was said to the model, without the descriptions of its tools.
        said = [body.get(key) for body in requests for key in ("messages", "input", "contents")]
        self.told = json.dumps([part for part in said if part])

    def has(self, name):
        """Whether the project has this file."""
        return (self.place.project / name).exists()


def headless(command, cwd, environment):
    process = subprocess.Popen(command, cwd=cwd, env={**environment, "TERM": "dumb"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        return process.communicate(timeout=LONGEST)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "KILLED"


class Terminal:
    """An agent on a terminal of its own."""

    def __init__(self, command, cwd, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 110, 0, 0))
        self.bytes = b""

    def shown(self):
        text = self.bytes.decode("utf-8", "replace")
        text = re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b.", "", text)
        return re.sub(r"\s", "", text)

    def work(self, keys, model):
        """Answers, and ends the agent when the model has nothing to do any more."""
        deadline = time.time() + LONGEST / 2
        quiet_since, requests = time.time(), 0
        has_keys = bool(keys)
        while time.time() < deadline:
            if not self.read():
                break
            if len(model.requests) != requests:
                quiet_since, requests = time.time(), len(model.requests)
            if keys and keys[0][0] in self.shown():
                time.sleep(0.7)
                os.write(self.terminal, keys.pop(0)[1].encode())
                quiet_since = time.time()
            if not keys and (requests > 0 or has_keys) and time.time() - quiet_since > 4:
                break
        self.end()
        return self.shown()

    def read(self):
        readable, _, _ = select.select([self.terminal], [], [], 0.1)
        if not readable:
            return True
        try:
            part = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.bytes += part
        # A program asks where the cursor is, and what the terminal is.
        for question, answer in ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62c")):
            if question in part:
                os.write(self.terminal, answer)
        return bool(part)

    def end(self):
        for number in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.process, number)
            except ProcessLookupError:
                break
            time.sleep(1)
            if os.waitpid(self.process, os.WNOHANG)[0]:
                break
        os.close(self.terminal)
