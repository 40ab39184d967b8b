"""Between a client and a server: relay.py URL HOOK prints its port. HOOK is Python that sees each reply before
the client does: it may change `status` and `body` (bytes), knows `path` and `n`, the number of the requests that generate,
and keeps what it likes in `was`, a dict"""
import http.server, os, re, sys, urllib.error, urllib.request

target, hook = sys.argv[1], compile(sys.argv[2], "hook", "exec")
was, count = {}, 0


class Relay(http.server.BaseHTTPRequestHandler):
    def do_GET(self, sent=None):
        global count
        try:
            with urllib.request.urlopen(urllib.request.Request(target + self.path, sent)) as reply:
                status, body = reply.status, reply.read()
        except urllib.error.HTTPError as error:
            status, body = error.code, error.read()
        except OSError:  # the client sees the server die
            return self.connection.close()
        count += sent is not None and self.path != "/abort_request"
        seen = {"path": self.path, "status": status, "body": body, "n": count, "was": was, "os": os, "re": re}
        exec(hook, seen)
        self.send_response(seen["status"])
        self.send_header("Content-Length", str(len(seen["body"])))
        self.end_headers()
        self.wfile.write(seen["body"])

    def do_POST(self):
        self.do_GET(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer.request_queue_size = 128
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
print(server.server_port, flush=True)
server.serve_forever()
