"""A host that is no model server: odd_host.py KIND prints its port, and a line a request. What it says to each is below"""
import socket, sys, threading

KINDS = {
    "html": b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<!DOCTYPE html>",
    "404": b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"detail":"Not Found"}',
    "redirect": b"HTTP/1.1 301 Moved Permanently\r\nLocation: https://example.org/\r\nContent-Length: 0\r\n\r\n",
    "key": b'HTTP/1.1 401 Unauthorized\r\nContent-Length: 16\r\n\r\n{"error":"key?"}',
    "ssh": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
    "tls": b"\x15\x03\x03\x00\x02\x02\x46",  # an alert: this was no handshake
    "close": b"",
    "silent": None,
}
says, held = KINDS[sys.argv[1]], []


def answer(conn):
    conn.recv(65536)
    print("asked", flush=True)
    if says is None:
        held.append(conn)
    else:
        conn.sendall(says)
        conn.shutdown(socket.SHUT_WR)
        while conn.recv(65536):  # a close before it has all would reset the connection
            pass
        conn.close()


server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
