"""A program for pods that listens."""

# Answers each connection with what it was sent, in capitals, and tells its port in a file.
SERVER = r"""
import os, socketserver
class Shout(socketserver.StreamRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data.upper())
socketserver.ThreadingTCPServer.daemon_threads = True
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Shout) as server:
    with open(os.environ.get("CODEFLARE_POD_ROOT", "/tmp") + "/port", "w") as file:
        file.write(str(server.server_address[1]))
    server.serve_forever()
"""
