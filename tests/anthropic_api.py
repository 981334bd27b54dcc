"""Anthropic's Messages API as far as Claude Code needs it, on loopback: it streams what it is told to answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SUMMARY = "<summary>The user asked to remember a port.</summary>"


class Answering(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_arguments):
        """Nothing is printed."""

    def do_HEAD(self):
        self.answer(200, b"", "text/plain")

    def do_GET(self):
        self.answer(404, b"{}", "application/json")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self.answer(200, json.dumps({"input_tokens": 1200}).encode(), "application/json")
            return
        self.server.requests.append(request)
        content = self.server.script(request)
        message = {
            "id": f"msg_{len(self.server.requests):04d}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "mock"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1200, "output_tokens": 1},
        }
        stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
        if not request.get("stream"):
            whole = {**message, "content": content, "stop_reason": stop}
            self.answer(200, json.dumps(whole).encode(), "application/json")
            return
        events = [{"type": "message_start", "message": message}]
        for index, block in enumerate(content):
            events += self.block(index, block)
        delta = {"stop_reason": stop, "stop_sequence": None}
        events += [
            {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}},
            {"type": "message_stop"},
        ]
        told = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(200, told.encode(), "text/event-stream")

    @staticmethod
    def block(index, block):
        if block["type"] == "text":
            begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]

    def answer(self, status, data, kind):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class Api(ThreadingHTTPServer):
    """The server; `requests` are those that came, `script` makes the content of each answer."""

    daemon_threads = True

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Answering)
        self.requests = []
        self.script = script
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


def said_last(request):
    """The text of the newest message of the user's side of a request."""
    messages = [message for message in request.get("messages", ()) if message["role"] == "user"]
    content = messages[-1]["content"] if messages else ""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return "\n".join(block.get("text", "") for block in blocks)
