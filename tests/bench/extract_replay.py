"""A vLLM server that has computed everything before: it answers each request with the path of a file made earlier,
so that what is measured is the client.

extract_replay.py FOLDER	holds *.safetensors of layout speculators, as a connector dumps them
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
files = {}
for name in os.listdir(folder):
    path = os.path.join(folder, name)
    with open(path, "rb") as f:
        n = int.from_bytes(f.read(8), "little")
        begin, end = json.loads(f.read(n))["token_ids"]["data_offsets"]
        f.seek(8 + n + begin)
        files[f.read(end - begin)] = path


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply({"version": "0.22.0", "data": [{"id": "m", "root": "m", "owned_by": "vllm", "max_model_len": 131072}]})

    def do_POST(self):
        ids = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        key = b"".join(i.to_bytes(8, "little") for i in ids)
        self.reply({"id": "x", "model": "m", "choices": [{"index": 0, "text": "", "finish_reason": "length",
                    "prompt_token_ids": ids, "token_ids": [1]}],
                    "usage": {"prompt_tokens": len(ids), "completion_tokens": 1},
                    "kv_transfer_params": {"hidden_states_path": files[key]}})

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
