"""The agents: which version, how it is started against the model, and what it calls its tools.

None of them needs an account for a model on this machine.
"""

import json
import platform
import re
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What the names of packages for one system have.
MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
MCP = {"command": sys.executable, "args": [str(HERE / "tool_server.py")]}


UNPACKING = threading.Lock()


class Agent:
    """What a subclass does not say is as in Claude Code."""

    # Arguments with which it asks for each call of a tool, and with which for none.
    asks = []
    asks_not = []
    # Its event before a tool.
    before = "PreToolUse"
    settings = ".claude/settings.json"
    # The file that has the registered commands, if it is another one.
    registered_in = property(lambda self: self.settings)
    # What it answers to its own question.
    yes = "1"
    # Whether its tools take a relative path.
    takes_relative_paths = True
    # Whether a question of a hook is put to a person at a terminal; else it blocks.
    puts_questions = True
    # Whether a hook can change the input of a call; else the wanted one is the reason of a block.
    changes_inputs = True
    # Whether a hook can change and withhold the output of a tool.
    changes_outputs = True
    # Whether a hook before a tool can end the turn; else the tool is blocked.
    ends_turns = True
    # Whether a person without a terminal reads why a prompt was blocked, and other messages.
    shows_without_terminal = True
    # Whether it shows its user why a prompt was blocked.
    shows_blocked_prompts = True
    # Arguments with which a person reads why a prompt was blocked, if not always.
    shows_more = []
    # Whether it was tried on a terminal.
    has_terminal = True
    # Whether a plugin starts this program.
    is_started_by_plugin = False
    # Whether it shows its user messages of hooks.
    shows_messages = True
    # The event at which a yes of a hook counts.
    takes_yes_at = "tool:pre_execute:bash"
    # The events whose context the model gets.
    context_at = ("session:start", "user:prompt_submit", "tool:pre_execute:bash", "tool:post_execute:bash")
    # The blocked ends of a turn before it ends all the same.
    blocked_ends = 8
    # Calls that it makes after it has started a subagent, which goes on beside it.
    while_subagent_works = []

    def tool_path(self, project, name):
        return name if self.takes_relative_paths else f"{project}/{name}"

    def prepare(self, home, project, directory):
        """Writes what a person would have answered at the first start. What is kept stands in the directory."""

    def variables(self, home, model):
        return {}

    def asked_for(self, command):
        """Returns a call for which the agent asks."""
        return self.shell(command)

    def patch(self, text):
        raise NotImplementedError

    def notebook(self, path):
        raise NotImplementedError


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


class Claude(Agent):
    name, title = "claude", "Claude Code"
    package, version = "@anthropic-ai/claude-code", "2.1.332"
    # Its usual mode lets a model decide whether it asks.
    asks = ["--permission-mode", "default"]
    asks_not = ["--dangerously-skip-permissions"]
    question = "Doyouwant"

    def program(self, modules):
        return [str(modules / f"@anthropic-ai/claude-code-linux-{MACHINE}/claude")]

    def prepare(self, home, project, directory):
        write(home / ".claude.json", {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": ["stub"], "rejected": []},
            "mcpServers": {"notes": {"type": "stdio", **MCP}},
            "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        })

    def variables(self, home, model):
        return {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "stub",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    def arguments(self, prompt, on_terminal, model):
        return [prompt] if on_terminal else ["-p", prompt, "--output-format", "stream-json", "--verbose"]

    def shell(self, command):
        return ("Bash", {"command": command, "description": "a command"})

    def write(self, path, text):
        return ("Write", {"file_path": path, "content": text})

    def read(self, path):
        return ("Read", {"file_path": path})

    def skill(self, name):
        return ("Skill", {"skill": name})

    def notebook(self, path):
        return ("NotebookEdit", {"notebook_path": path, "new_source": "1", "cell_id": "a", "edit_mode": "replace"})

    def mcp(self, path, text):
        return ("mcp__notes__write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("Agent", {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"})


class Codex(Agent):
    name, title = "codex", "Codex"
    package, version = "@openai/codex", "0.171.0"
    asks = ["-a", "on-request", "-s", "workspace-write"]
    asks_not = ["--dangerously-bypass-approvals-and-sandbox"]
    question, yes = "Wouldyoulike", "y"
    ends_turns = False
    shows_without_terminal = False
    takes_yes_at = "permission:prompt"
    puts_questions = False
    changes_inputs = False
    settings = ".codex/hooks.json"

    def program(self, modules):
        machine = platform.machine()
        return [str(modules / f"@openai/codex-linux-{MACHINE}/vendor/{machine}-unknown-linux-musl/bin/codex")]

    def prepare(self, home, project, directory):
        write(home / ".codex/config.toml", "\n".join([
            "[mcp_servers.notes]",
            f"command = {json.dumps(MCP['command'])}",
            f"args = {json.dumps(MCP['args'])}",
            f"[projects.{json.dumps(str(project))}]",
            'trust_level = "trusted"',
            "",
        ]))

    def arguments(self, prompt, on_terminal, model):
        provider = f'{{name="stub",base_url="{model}/v1",wire_api="responses",requires_openai_auth=false}}'
        start = [] if on_terminal else ["exec", "--json", "--skip-git-repo-check"]
        # One of which it knows that it has a tool for patches. On a terminal it would offer a newer one.
        name = "stub" if on_terminal else "gpt-5.5"
        options = ["-c", f"model_providers.stub={provider}", "-c", 'model_provider="stub"', "-m", name]
        return [*start, *options, prompt]

    def shell(self, command):
        return ("exec_command", {"cmd": command})

    def shell_in(self, directory, command):
        return ("exec_command", {"cmd": command, "workdir": str(directory)})

    def asked_for(self, command):
        return ("exec_command", {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "needed"})

    def write(self, path, text):
        return self.patch(f"*** Add File: {path}\n+{text}\n")

    def patch(self, text):
        return ("apply_patch", f"*** Begin Patch\n{text}*** End Patch\n")

    def mcp(self, path, text):
        return ("mcp__notes/write_note", {"path": path, "text": text})

    while_subagent_works = [("exec_command", {"cmd": "sleep 3"})]

    def subagent(self, prompt):
        return ("multi_agent_v1/spawn_agent", {"message": prompt})


class Gemini(Agent):
    name, title = "gemini", "Gemini CLI"
    package, version = "@google/gemini-cli", "0.61.0"
    asks_not = ["--yolo"]
    before = "BeforeTool"
    settings = ".gemini/settings.json"
    question = "execution"
    context_at = ("session:start", "user:prompt_submit", "tool:post_execute:bash")

    def program(self, modules):
        return ["node", str(modules / "@google/gemini-cli/bundle/gemini.js")]

    def prepare(self, home, project, directory):
        write(home / ".gemini/settings.json", {
            "mcpServers": {"notes": MCP},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
        })
        write(home / ".gemini/trustedFolders.json", {str(project): "TRUST_FOLDER"})

    def variables(self, home, model):
        return {"GEMINI_API_KEY": "stub", "GOOGLE_GEMINI_BASE_URL": model, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def arguments(self, prompt, on_terminal, model):
        return ["-m", "gemini-2.5-flash", "-i" if on_terminal else "-p", prompt]

    def shell(self, command):
        return ("run_shell_command", {"command": command})

    def write(self, path, text):
        return ("write_file", {"file_path": path, "content": text})

    def read(self, path):
        return ("read_file", {"file_path": path})

    def mcp(self, path, text):
        return ("mcp_notes_write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("invoke_agent", {"agent_name": "generalist", "prompt": prompt})


class Copilot(Agent):
    name, title = "copilot", "Copilot CLI"
    package, version = "@github/copilot", "1.0.102"
    asks_not = ["--allow-all-tools"]
    question = "Hookpermissionrequest"
    ends_turns = False
    settings = ".github/copilot/settings.json"
    registered_in = ".copilot/hooks/forge-hooks.json"

    def program(self, modules):
        return [str(modules / f"@github/copilot-linux-{MACHINE}/copilot")]

    def prepare(self, home, project, directory):
        write(home / ".copilot/mcp-config.json", {"mcpServers": {"notes": {"type": "local", **MCP, "tools": ["*"]}}})
        write(home / ".copilot/config.json", {"trustedFolders": [str(project)], "banner": "never"})
        # It unpacks itself into each home: 150 MB.
        unpacked = directory / "copilot"
        unpacked.mkdir(exist_ok=True)
        (home / ".cache/copilot").mkdir(parents=True)
        (home / ".cache/copilot/pkg").symlink_to(unpacked)

    def variables(self, home, model):
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": model,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "stub",
            "COPILOT_MODEL": "claude-sonnet-4.5",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def arguments(self, prompt, on_terminal, model):
        return ["-i" if on_terminal else "-p", prompt]

    def shell(self, command):
        return ("bash", {"command": command, "description": "a command"})

    def write(self, path, text):
        return ("create", {"path": path, "file_text": text})

    def mcp(self, path, text):
        return ("notes-write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("task", {"description": "a part", "prompt": prompt, "agent_type": "general-purpose", "name": "part"})


class CopilotWithPatches(Copilot):
    """With a model to which it gives a tool for patches."""

    def variables(self, home, model):
        return {
            **super().variables(home, model),
            "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "responses",
            "COPILOT_MODEL": "gpt-5.1-codex",
        }

    def patch(self, text):
        return ("apply_patch", f"*** Begin Patch\n{text}*** End Patch\n")


class Qwen(Agent):
    name, title = "qwen", "Qwen Code"
    package, version = "@qwen-code/qwen-code", "0.24.4"
    asks_not = ["--yolo"]
    settings = ".qwen/settings.json"
    takes_relative_paths = False
    ends_turns = False
    shows_without_terminal = False
    takes_yes_at = "permission:prompt"
    # The agent's own limit.
    blocked_ends = 7
    puts_questions = False
    changes_inputs = False
    context_at = ("session:start", "user:prompt_submit", "tool:post_execute:bash")

    def program(self, modules):
        return [node(modules), str(modules / "@qwen-code/qwen-code/cli.js")]

    def prepare(self, home, project, directory):
        write(home / ".qwen/settings.json", {
            "mcpServers": {"notes": {**MCP, "trust": True}},
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        })

    def variables(self, home, model):
        return {"OPENAI_API_KEY": "stub", "OPENAI_BASE_URL": f"{model}/v1", "OPENAI_MODEL": "stub"}

    def arguments(self, prompt, on_terminal, model):
        return ["-i" if on_terminal else "-p", prompt]

    def shell(self, command):
        return ("run_shell_command", {"command": command, "is_background": False})

    def write(self, path, text):
        return ("write_file", {"file_path": path, "content": text})

    def read(self, path):
        return ("read_file", {"file_path": path})

    def mcp(self, path, text):
        return ("mcp__notes__write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("agent", {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"})


class Kimi(Agent):
    name, title = "kimi", "Kimi Code"
    package, version = "@moonshot-ai/kimi-code", "2.1.0"
    settings = ".kimi-code/config.toml"
    puts_questions = False
    changes_inputs = False
    changes_outputs = False
    ends_turns = False
    context_at = ("user:prompt_submit",)
    has_terminal = False
    shows_messages = False
    blocked_ends = 1

    def program(self, modules):
        return [node(modules), str(modules / "@moonshot-ai/kimi-code/dist/main.mjs")]

    def prepare(self, home, project, directory):
        write(home / ".kimi-code/mcp.json", {"mcpServers": {"notes": MCP}})

    def variables(self, home, model):
        # The address of the model stands in the file that has the hooks.
        file = home / self.settings
        text = file.read_text() if file.exists() else ""
        if "[providers.stub]" not in text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join([
                'default_model = "stub"',
                "telemetry = false",
                "[providers.stub]",
                'type = "openai"',
                'api_key = "stub"',
                'base_url = "http://127.0.0.1:1/v1"',
                "[models.stub]",
                'provider = "stub"',
                'model = "stub"',
                "max_context_size = 200000",
                text,
            ]))
        file.write_text(re.sub(r"http://127[^\"]*", f"{model}/v1", file.read_text()))
        return {}

    def arguments(self, prompt, on_terminal, model):
        return ["-p", prompt]

    def shell(self, command):
        return ("Bash", {"command": command})

    def write(self, path, text):
        return ("Write", {"path": path, "content": text})

    def read(self, path):
        return ("Read", {"path": path})

    def mcp(self, path, text):
        return ("mcp__notes__write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("Agent", {"description": "a part", "prompt": prompt, "subagent_type": "coder"})


class OpenCode(Agent):
    name, title = "opencode", "OpenCode"
    package, version = "opencode-ai", "1.18.33"
    puts_questions = False
    ends_turns = False
    context_at = ("session:start", "user:prompt_submit", "tool:post_execute:bash")
    settings = ".config/opencode/opencode.json"
    is_started_by_plugin = True
    has_terminal = False
    shows_messages = False
    shows_blocked_prompts = False
    registered_in = ".config/opencode/plugin/forge-hooks.js"
    command = "opencode"
    shows_more = ["--print-logs"]
    # The package that it installs beside a plugin. Without a network it waits for that before its first request.
    beside_plugins = "@opencode-ai/plugin"

    def prepare(self, home, project, directory):
        # With these it takes the package for installed. No plugin of ours imports it.
        directory = home / f".config/{self.command}"
        write(directory / "package-lock.json", {"packages": {"": {"dependencies": {self.beside_plugins: "*"}}}})
        (directory / "node_modules").mkdir()

    def program(self, modules):
        return [str(modules / f"opencode-linux-{MACHINE}/bin/opencode"), "run"]

    def variables(self, home, model):
        options = {"baseURL": f"{model}/v1", "apiKey": "stub"}
        models = {"stub": {"name": "stub", "limit": {"context": 200000, "output": 8000}}}
        write(home / f".config/{self.command}/{self.command}.json", {
            "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}},
            "model": "stub/stub",
            "small_model": "stub/stub",
            "autoupdate": False,
            "share": "disabled",
            "mcp": {"notes": {"type": "local", "command": [MCP["command"], *MCP["args"]]}},
        })
        names = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "KILO_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
        return dict.fromkeys(names, "1")

    def arguments(self, prompt, on_terminal, model):
        return [prompt]

    def shell(self, command):
        return ("bash", {"command": command, "description": "a command"})

    def write(self, path, text):
        return ("write", {"filePath": path, "content": text})

    def read(self, path):
        return ("read", {"filePath": path})

    def mcp(self, path, text):
        return ("notes_write_note", {"path": path, "text": text})

    def subagent(self, prompt):
        return ("task", {"description": "a part", "prompt": prompt, "subagent_type": "general"})


class Kilo(OpenCode):
    name, title = "kilo", "Kilo CLI"
    # The newest one with a program for this system.
    package, version = "@kilocode/cli", "7.7.7"
    asks_not = ["--auto"]
    settings = ".config/kilo/kilo.json"
    registered_in = ".config/kilo/plugin/forge-hooks.js"
    command = "kilo"
    beside_plugins = "@kilocode/plugin"

    def program(self, modules):
        return [str(modules / f"@kilocode/cli-linux-{MACHINE}/bin/kilo"), "run"]


class Pi(Agent):
    name, title = "pi", "Pi"
    package, version = "@earendil-works/pi-coding-agent", "1.6.0"
    puts_questions = False
    ends_turns = False
    context_at = ("session:start", "user:prompt_submit", "tool:post_execute:bash")
    settings = ".pi/agent/settings.json"
    is_started_by_plugin = True
    has_terminal = False
    shows_messages = False
    registered_in = ".pi/agent/extensions/forge-hooks.ts"

    def program(self, modules):
        return [node(modules), str(modules / "@earendil-works/pi-coding-agent/dist/bundle/cli.js")]

    def prepare(self, home, project, directory):
        write(home / ".pi/agent/mcp.json", {"mcpServers": {"notes": {**MCP, "exposure": "direct"}}})

    def variables(self, home, model):
        provider = {"baseUrl": f"{model}/v1", "api": "openai-completions", "apiKey": "stub", "models": [{"id": "stub"}]}
        write(home / ".pi/agent/models.json", {"providers": {"stub": provider}})
        return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}

    def arguments(self, prompt, on_terminal, model):
        return ["--provider", "stub", "--model", "stub", *([] if on_terminal else ["-p"]), prompt]

    def shell(self, command):
        return ("bash", {"command": command})

    def write(self, path, text):
        return ("write", {"path": path, "content": text})

    def read(self, path):
        return ("read", {"path": path})

    def mcp(self, path, text):
        return ("mcp__notes__write_note", {"path": path, "text": text})


class Grok(Agent):
    name, title = "grok", "Grok Build"
    package, version = "@xai-official/grok", "1.0.41"
    asks_not = ["--always-approve"]
    puts_questions = False
    changes_outputs = False
    ends_turns = False
    context_at = ("tool:pre_execute:bash", "tool:post_execute:bash")
    settings = ".grok/config.toml"
    has_terminal = False
    shows_messages = False
    shows_blocked_prompts = False
    registered_in = ".grok/hooks/forge-hooks.json"

    def program(self, modules):
        return [str(modules.parent / f"grok-{self.version}")]

    def prepare(self, home, project, directory):
        # The package has it compressed, and unpacks it by a script.
        unpacked = directory / f"grok-{self.version}"
        with UNPACKING:
            if not unpacked.exists():
                packed = directory / f"node_modules/@xai-official/grok-linux-{MACHINE}/bin/grok.br"
                script = "const f = require('fs'); const [from, to] = process.argv.slice(1); f.writeFileSync(to, require('zlib').brotliDecompressSync(f.readFileSync(from)), {mode: 0o755})"
                subprocess.run(["node", "-e", script, packed, unpacked], check=True)

    def variables(self, home, model):
        write(home / ".grok/config.toml", "\n".join([
            "[models]",
            'default = "stub"',
            "[model.stub]",
            'model = "stub"',
            f'base_url = "{model}/v1"',
            'name = "stub"',
            'api_key = "stub"',
            'api_backend = "chat_completions"',
            "[mcp_servers.notes]",
            f"command = {json.dumps(MCP['command'])}",
            f"args = {json.dumps(MCP['args'])}",
            "",
        ]))
        return {
            "XAI_API_KEY": "stub",
            "GROK_MODELS_BASE_URL": f"{model}/v1",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_TELEMETRY_ENABLED": "false",
        }

    def arguments(self, prompt, on_terminal, model):
        return ["-p", prompt]

    def shell(self, command):
        return ("run_terminal_command", {"command": command, "description": "a command"})

    def write(self, path, text):
        return ("write", {"file_path": path, "content": text})

    def read(self, path):
        return ("read_file", {"target_file": path})

    def mcp(self, path, text):
        return ("use_tool", {"tool_name": "notes__write_note", "tool_input": {"path": path, "text": text}})

    def subagent(self, prompt):
        return ("spawn_subagent", {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"})


# The newest agents need a newer node than systems have.
NODE = (f"node-linux-{MACHINE}", "24.22.3")


def node(modules):
    return str(modules / NODE[0] / "bin/node")


# A shell that is not like `sh`.
NUSHELL = ("nushell", "0.115.1")


def nushell(modules):
    return modules / f"@nushell/linux-{MACHINE}/bin/nu"


AGENTS = [Claude(), Codex(), Gemini(), Copilot(), Qwen(), Kimi(), OpenCode(), Kilo(), Pi(), Grok()]
