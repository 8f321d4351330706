// forge-hooks @VERSION@: `forge-hooks install @AGENT@` writes and replaces this file, `forge-hooks uninstall @AGENT@` removes it.
// A call passes only at a yes to this very call, before the deadline. Anything else throws, which blocks it.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"

const COMMAND: string[] = @COMMAND@
const SECONDS: number = @SECONDS@
const DID_NOT_RUN: string = @DID_NOT_RUN@

const ask = (event: string, ctx: any, fields: object): Promise<any> => new Promise((pass, block) => {
  const nonce = randomUUID()
  const child = spawn(COMMAND[0], COMMAND.map((word, at) => at === 3 ? event : word).slice(1))
  const no = (reason?: any) => (clearTimeout(timer), child.kill("SIGKILL"), block(new Error(reason || DID_NOT_RUN)))
  const timer = setTimeout(no, SECONDS * 1000)
  let [out, err] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => out += text)
  child.stderr.setEncoding("utf8").on("data", (text: string) => err += text)
  child.stdin.on("error", () => {})
  child.on("error", () => no())
  child.on("close", (code: number | null) => {
    let answer: any; try { answer = JSON.parse(out) } catch {}
    if (code !== 0 || answer?.nonce !== nonce) return no(code === 2 && err.trim())
    clearTimeout(timer)
    if (answer.systemMessage) say(ctx, answer.systemMessage)
    pass({ ...answer, ...answer.hookSpecificOutput })
  })
  const session = { cwd: ctx.cwd, session_id: ctx.sessionManager?.getSessionId?.() }
  child.stdin.end(JSON.stringify({ hook_event_name: event, nonce, ...session, ...fields }))
})

const say = (ctx: any, text: string) => ctx.hasUI ? ctx.ui.notify(text, "warning") : console.error(text)

export default function (pi: any) {
  let context = ""
  const adds = (answer: any) => { context = [context, answer.additionalContext].filter(text => text).join("\n") }
  pi.on("session_start", (event: any, ctx: any) => ask("session_start", ctx, { source: event.reason }).then(adds, error => say(ctx, error.message)))
  // An error here would let the prompt pass.
  pi.on("input", (event: any, ctx: any) => ask("input", ctx, { prompt: event.text }).then(adds, error => (say(ctx, error.message), { action: "handled" })))
  pi.on("before_agent_start", () => {
    const message = { customType: "forge-hooks", content: context, display: true }
    return context ? (context = "", { message }) : undefined
  })
  pi.on("tool_call", async (event: any, ctx: any) => {
    const fields = { tool_use_id: event.toolCallId, tool_name: event.toolName, tool_input: event.input }
    const answer = await ask("tool_call", ctx, fields)
    if (answer.continue === false) return { block: true, reason: answer.stopReason || "blocked", terminate: true }
    const { updatedInput } = answer
    if (!updatedInput) return
    for (const name of Object.keys(event.input)) delete event.input[name]
    Object.assign(event.input, updatedInput)
  })
  pi.on("tool_result", async (event: any, ctx: any) => {
    const old = event.content.map((part: any) => part.text ?? "").join("\n")
    const answer = ask("tool_result", ctx, { tool_use_id: event.toolCallId, tool_name: event.toolName, tool_input: event.input, tool_response: old })
    const { updatedToolOutput, additionalContext } = await answer.catch(({ message }) => ({ updatedToolOutput: { text: message } }) as any)
    const own = updatedToolOutput ? [{ type: "text", text: updatedToolOutput.text }] : event.content
    return { content: additionalContext ? [...own, { type: "text", text: additionalContext }] : own }
  })
}
