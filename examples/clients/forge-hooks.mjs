// Hooks for a program in Node: a client of `forge-hooks serve` (docs/serve.md), and a small agent that uses it.
//
// Try it where `myagent` has hooks:  node forge-hooks.mjs 'ls' 'sudo ls'
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** The hooks of the program with this name. */
export class Hooks {
  #open = new Map();
  #next = 1;

  constructor(profile, ...options) {
    const program = process.env.FORGE_HOOKS ?? "forge-hooks";
    // `detached`: Ctrl-C is for the agent, which then ends or goes on.
    const words = ["serve", "--profile", profile, ...options];
    this.child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], detached: true });
    this.ended = new Promise((resolve) => this.child.on("close", resolve).on("error", resolve));
    this.ended.then(() => this.#open.forEach(({ reject }) => reject(new Error("forge-hooks has ended"))));
    this.child.stdin.on("error", () => {}); // The end of the program rejects what is open.
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#received(JSON.parse(line)));
    this.initialized = this.call("initialize", { protocol: 2 });
  }

  #received({ id, result, error }) {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (error) request?.reject(new Error(error.message));
    else request?.resolve(result);
  }

  #send(message) {
    this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  /** The result. After `timeout` milliseconds, a fire is cancelled, and its result says so. */
  async call(method, params = {}, timeout = undefined) {
    if (this.child.exitCode !== null) throw new Error("forge-hooks has ended");
    const id = this.#next++;
    const result = new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    const timer = timeout && setTimeout(() => this.#send({ method: "$/cancelRequest", params: { id } }), timeout);
    return result.finally(() => clearTimeout(timer));
  }

  async close() {
    await this.call("shutdown");
    await this.ended;
  }
}

/** Without characters that command a terminal. */
const shown = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

async function confirmed(question) {
  const input = createInterface({ input: process.stdin, output: process.stdout });
  const answer = new Promise((resolve) => input.on("close", () => resolve("")).question("", resolve));
  process.stdout.write(`${question} [y/N] `);
  const isYes = ["y", "yes"].includes((await answer).trim());
  input.close();
  return isYes;
}

async function agent(commands) {
  const hooks = new Hooks("myagent");
  (await hooks.initialized).messages.forEach((text) => console.error(text));
  for (const block of await hooks.call("approvals")) {
    if (await confirmed(`${block.text}Let these hooks run?`)) await hooks.call("approve", { digest: block.digest });
  }
  for (const command of commands) {
    const event = { type: "tool:pre_execute", tool_name: "bash", data: { tool_args: { command } } };
    const result = await hooks.call("fire", { event, options: { handles_ask: true, applies_updates: true } }, 60_000);
    result.messages.forEach((text) => console.error(text));
    const reason = shown(result.reason ?? "without a reason");
    if (result.allowed || (result.decision === "ask" && (await confirmed(reason)))) {
      const last = result.changed_event ?? event; // with the changes of the hooks, if any
      spawnSync(last.data.tool_args.command, { shell: true, stdio: "inherit" });
    } else {
      console.log("blocked:", reason);
    }
  }
  await hooks.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await agent(process.argv.slice(2));
