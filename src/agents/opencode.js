// forge-hooks @VERSION@: `forge-hooks install @AGENT@` writes and replaces this file, `forge-hooks uninstall @AGENT@` removes it.
// A call passes only at a yes to this very call, before the deadline. Anything else throws, which blocks it.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"

const COMMAND = @COMMAND@
const SECONDS = @SECONDS@
const DID_NOT_RUN = @DID_NOT_RUN@

const ask = (event, fields) => new Promise((pass, block) => {
  const nonce = randomUUID()
  const child = spawn(COMMAND[0], COMMAND.map((word, at) => at === 3 ? event : word).slice(1))
  const no = reason => (clearTimeout(timer), child.kill("SIGKILL"), block(new Error(reason || DID_NOT_RUN)))
  const timer = setTimeout(no, SECONDS * 1000)
  let [out, err] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", text => out += text)
  child.stderr.setEncoding("utf8").on("data", text => err += text)
  child.stdin.on("error", () => {})
  child.on("error", () => no())
  child.on("close", code => {
    let answer; try { answer = JSON.parse(out) } catch {}
    if (code !== 0 || answer?.nonce !== nonce) return no(code === 2 && err.trim())
    clearTimeout(timer)
    pass({ ...answer, ...answer.hookSpecificOutput })
  })
  child.stdin.end(JSON.stringify({ hook_event_name: event, nonce, ...fields }))
})

export const ForgeHooks = async ({ directory }) => {
  const begun = new Set()
  const of = ({ sessionID, callID, tool }) => ({ cwd: directory, session_id: sessionID, tool_use_id: callID, tool_name: tool })
  return {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter(part => part.type === "text")
      const fields = { ...of(input), prompt: texts.map(part => part.text).join("\n") }
      for (const event of begun.has(input.sessionID) ? ["chat.message"] : ["session.created", "chat.message"]) {
        const { additionalContext } = await ask(event, fields)
        if (additionalContext) texts.at(-1).text += "\n\n" + additionalContext
      }
      begun.add(input.sessionID)
    },
    "tool.execute.before": async (input, output) => {
      const { updatedInput } = await ask("tool.execute.before", { ...of(input), tool_input: output.args })
      if (!updatedInput) return
      for (const name of Object.keys(output.args)) delete output.args[name]
      Object.assign(output.args, updatedInput)
    },
    "tool.execute.after": async (input, output) => {
      // The tools of MCP servers have a list of contents.
      const old = output.output ?? output.content?.map(part => part.text ?? "").join("\n")
      const answer = ask("tool.execute.after", { ...of(input), tool_input: input.args, tool_response: old })
      const { updatedToolOutput, additionalContext } = await answer.catch(({ message }) => ({ updatedToolOutput: { text: message } }))
      const text = [updatedToolOutput?.text ?? old, additionalContext].filter(text => text).join("\n")
      if (text === old) return
      const others = updatedToolOutput ? [] : output.content?.filter(part => part.type !== "text")
      Object.assign(output, output.content ? { content: [{ type: "text", text }, ...others] } : { output: text })
    },
  }
}
