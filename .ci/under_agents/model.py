"""A model on this machine that speaks as those of Anthropic, OpenAI and Google do, and makes the calls that it was given.

Each call is a pair (tool, input) in the agent's own words. After the last call it says `done`. A conversation whose first
message has SUBAGENT in it is one of a subagent, with calls of its own.
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SUBAGENT = "SUBAGENT"


class Model:
    def __init__(self, calls, calls_of_subagent=()):
        self.calls = list(calls)
        self.calls_of_subagent = list(calls_of_subagent)
        self.requests = []
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(b'{"data": [], "models": []}')

            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                try:
                    body = json.loads(self.rfile.read(length) or b"{}")
                except ValueError:
                    body = {}
                answer, kind = model.answer(self.path, body)
                self.reply(answer.encode(), kind)

            def reply(self, answer, kind="application/json"):
                try:
                    self.send_response(200)
                    self.send_header("content-type", kind)
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except OSError:
                    pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, body):
        if "/messages" in path and "count_tokens" not in path:
            return self.anthropic(body)
        if path.endswith("/responses"):
            return self.openai(body)
        if path.endswith("/chat/completions"):
            return self.chat(body)
        if "enerateContent" in path:
            return self.google(path, body)
        return '{"totalTokens": 5, "input_tokens": 5}', "application/json"

    def next_call(self, body, done, has_tools, first):
        """Returns the call behind those that are done, in a list; none at the end."""
        calls = self.calls_of_subagent if SUBAGENT in json.dumps(first) else self.calls
        with self._lock:
            self.requests.append(body)
        return calls[done : done + 1] if has_tools else []

    def anthropic(self, body):
        messages = body.get("messages", [])
        blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
        done = sum(block.get("type") == "tool_result" for block in blocks)
        calls = self.next_call(body, done, bool(body.get("tools")), messages[:1])
        answer = [{"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": name, "input": input} for name, input in calls]
        answer = answer or [{"type": "text", "text": "done"}]
        reason = "tool_use" if calls else "end_turn"
        usage = {"input_tokens": 5, "output_tokens": 5}
        message = {"id": f"msg_{time.time_ns()}", "type": "message", "role": "assistant", "model": body.get("model", "stub"),
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return json.dumps({**message, "content": answer, "stop_reason": reason}), "application/json"
        events = [{"type": "message_start", "message": message}]
        for index, block in enumerate(answer):
            if block["type"] == "text":
                start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": index, "content_block": start},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        events += [
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        return stream(events)

    def openai(self, body):
        items = body.get("input")
        items = items if isinstance(items, list) else []
        done = sum(item.get("type", "").endswith("_call_output") for item in items)
        calls = self.next_call(body, done, True, [item for item in items if item.get("role") == "user"])
        number = time.time_ns()
        output = [self.openai_call(number, name, input) for name, input in calls]
        output = output or [{"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}]}]
        response = {"id": f"resp_{number}", "status": "in_progress", "output": []}
        events = [{"type": "response.created", "response": response}]
        for index, item in enumerate(output):
            events += [
                {"type": "response.output_item.added", "output_index": index, "item": item},
                {"type": "response.output_item.done", "output_index": index, "item": item},
            ]
        usage = {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 10}
        completed = {**response, "status": "completed", "output": output, "usage": usage}
        events.append({"type": "response.completed", "response": completed})
        return stream(events)

    @staticmethod
    def openai_call(number, name, input):
        """Returns a call; one with a text is of a tool without a schema. A name may have a namespace before a slash."""
        call = {"id": f"call_{number}", "call_id": f"call_{number}", "status": "completed"}
        if isinstance(input, str):
            return {**call, "type": "custom_tool_call", "name": name, "input": input}
        namespace, _, name = name.rpartition("/")
        call = {**call, "type": "function_call", "name": name, "arguments": json.dumps(input)}
        return {**call, "namespace": namespace} if namespace else call

    def chat(self, body):
        """The older interface of OpenAI, which most agents use for a model of another address."""
        messages = body.get("messages", [])
        done = sum(message.get("role") == "tool" for message in messages)
        users = [message for message in messages if message.get("role") == "user"]
        calls = self.next_call(body, done, bool(body.get("tools")), users)
        number = time.time_ns()
        message = {"role": "assistant", "content": None if calls else "done"}
        if calls:
            message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(input)}} for name, input in calls]
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        answer = {"id": f"chatcmpl-{number}", "created": int(time.time()), "model": body.get("model", "stub")}
        reason = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            choices = [{"index": 0, "message": message, "finish_reason": reason}]
            return json.dumps({**answer, "object": "chat.completion", "choices": choices, "usage": usage}), "application/json"
        answer["object"] = "chat.completion.chunk"
        parts = [
            {**answer, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        text = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
        return f"{text}data: [DONE]\n\n", "text/event-stream"

    def google(self, path, body):
        contents = body.get("contents", [])
        parts = [part for content in contents for part in content.get("parts", [])]
        done = sum("functionResponse" in part for part in parts)
        calls = self.next_call(body, done, bool(body.get("tools")), contents[:1])
        parts = [{"functionCall": {"name": name, "args": input, "id": f"call_{done}"}} for name, input in calls]
        content = {"role": "model", "parts": parts or [{"text": "done"}]}
        answer = json.dumps({
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10},
            "modelVersion": "stub",
        })
        if "stream" in path:
            return f"data: {answer}\r\n\r\n", "text/event-stream"
        return answer, "application/json"


def stream(events):
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return text, "text/event-stream"
