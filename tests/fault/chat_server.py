"""A chat server of a few lines that does what e3-sim does not:
	chat_server.py PORT	0 picks one and prints it. "POISON" in a prompt kills it; "SAY text" is answered by the text"""
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, body, kind="application/json"):
        body = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v1/models":
            self.send(json.dumps({"data": [{"id": "toy", "owned_by": "vllm"}]}))
        else:
            self.send("{}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if "POISON" in body:
            os._exit(1)
        threading.Event().wait(0.05)
        last = json.loads(body)["messages"][-1]["content"]
        says = last[4:] if last.startswith("SAY ") else "yes"
        self.send(json.dumps({"model": "toy", "choices": [{"message": {"content": says},
                  "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 3}}))


ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_port, flush=True)
server.serve_forever()
