#!/usr/bin/env python3
"""pods/proxy and services/proxy of `codeflare up`: HTTP and WebSockets to pods through the API server, with the rights that they need."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import sys
import unittest
import urllib.parse

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import SERVICES, PodCase, is_ready, labelled, service, with_container  # noqa: E402
from up_test import PODS, pod  # noqa: E402

# Shows its requests, streams on request, redirects, and echoes the frames of a WebSocket.
SERVER = r"""
import base64, hashlib, http.server, json

class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def say(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self):
        if "Upgrade" in self.headers:
            return self.upgrade()
        if self.path == "/stream":
            return self.stream()
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/there")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.say(json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers.items())}).encode())
    do_HEAD = do_DELETE = do_GET

    def do_POST(self):
        body = self.body()
        self.say(b"%d %s" % (len(body), hashlib.sha256(body).hexdigest().encode()))

    def stream(self):
        # The second piece comes when the first has arrived: GET /go says so.
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nfirst\r\n")
        self.wfile.flush()
        go.wait(60)
        self.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")

    def upgrade(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.wfile.flush()
        while head := self.rfile.read(2):
            mask = self.rfile.read(4)
            text = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
            self.wfile.write(bytes([head[0], len(text)]) + text)
            self.wfile.flush()
            if head[0] & 15 == 8:
                break
        self.close_connection = True

import threading
go = threading.Event()
class Go(Echo):
    def do_GET(self):
        if self.path == "/go":
            go.set()
        super().do_GET()
http.server.ThreadingHTTPServer(("", 80), Go).serve_forever()
"""


class Client:
    """Speaks HTTP to the API server as the administrator, or as somebody else."""

    def __init__(self, cluster):
        text = pathlib.Path(cluster.kubeconfig).read_text()
        files = {}
        for field in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files[field] = cluster.scratch / ("proxy-" + field)
            files[field].write_bytes(base64.b64decode(re.search(field + r'"?:\s*"?([A-Za-z0-9+/=]+)', text).group(1)))
        self.context = ssl.create_default_context(cafile=files["certificate-authority-data"])
        self.context.load_cert_chain(files["client-certificate-data"], files["client-key-data"])
        self.server = urllib.parse.urlsplit(re.search(r"https://[^\s\"]+", text).group(0))

    def connect(self):
        return http.client.HTTPSConnection(self.server.hostname, self.server.port, context=self.context, timeout=60)

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and body of the answer."""
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def upgrade(self, path):
        """The head of the answer, and the connection behind it."""
        plain = socket.create_connection((self.server.hostname, self.server.port), timeout=60)
        connection = self.context.wrap_socket(plain, server_hostname=self.server.hostname)
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall((f"GET {path} HTTP/1.1\r\nHost: {self.server.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        file = connection.makefile("rwb")
        head = b"".join(iter(file.readline, b"\r\n")).decode()
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        return head, accept, file, connection


def frame(opcode, text):
    mask = b"abcd"
    return bytes([0x80 | opcode, 0x80 | len(text)]) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text))


class Proxy(PodCase):
    def serve(self):
        self.start()
        body = with_container(labelled("web", pod("web-0", "")), command=["python3", "-c", SERVER],
                              ports=[{"name": "http", "containerPort": 80}],
                              readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 1})
        self.cluster.post(PODS, body)
        self.cluster.post(SERVICES, service("web"))
        self.cluster.wait_for(PODS + "/web-0", is_ready)
        self.client = Client(self.cluster)
        self.cluster.wait_until(lambda: self.client.ask("GET", SERVICES + "/web:8080/proxy/")[0] == 200)

    def asked(self, path, **how):
        status, _, body = self.client.ask("GET", path, **how)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def check_http(self):
        for name in ("web:8080", "web:http", "http:web:8080"):
            self.assertEqual(self.asked(f"{SERVICES}/{name}/proxy/a/b?c=d%20e")["path"], "/a/b?c=d%20e")
        for name in ("web-0", "web-0:80", "web-0:http"):
            seen = self.asked(f"{PODS}/{name}/proxy/x", headers={"Authorization": "Bearer secret", "X-Ray-Authorization": "Bearer ray", "Accept": "text/html"})
            headers = {key.lower(): value for key, value in seen["headers"].items()}
            self.assertNotIn("authorization", headers)
            self.assertEqual((headers["x-ray-authorization"], headers["accept"]), ("Bearer ray", "text/html"))
            self.assertEqual((headers["x-forwarded-for"], headers["x-forwarded-uri"]), ("127.0.0.1", f"{PODS}/{name}/proxy/x"))
        status, headers, _ = self.client.ask("GET", SERVICES + "/web:http/proxy?a=b")
        self.assertEqual((status, headers["Location"]), (301, SERVICES + "/web:http/proxy/?a=b"))
        status, headers, _ = self.client.ask("GET", SERVICES + "/web:http/proxy/moved")
        self.assertEqual((status, headers["Location"]), (302, SERVICES + "/web:http/proxy/there"))
        status, headers, body = self.client.ask("HEAD", SERVICES + "/web:http/proxy/x")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 0)

    def check_bodies(self):
        # Larger than any object of the API may be, with its length and without.
        large = os.urandom(1 << 20) * 8
        said = f"{len(large)} {hashlib.sha256(large).hexdigest()}".encode()
        self.assertEqual(self.client.ask("POST", SERVICES + "/web:http/proxy/x", large)[::2], (200, said))
        pieces = (large[at:at + 65536] for at in range(0, len(large), 65536))
        self.assertEqual(self.client.ask("POST", PODS + "/web-0/proxy/x", pieces)[::2], (200, said))
        with contextlib.closing(self.client.connect()) as connection:
            connection.request("GET", SERVICES + "/web:http/proxy/stream")
            answer = connection.getresponse()
            self.assertEqual(answer.read(5), b"first")  # before the second piece is made
            self.asked(SERVICES + "/web:http/proxy/go")
            self.assertEqual(answer.read(), b"second")

    def check_websocket(self):
        for path in (SERVICES + "/web:http/proxy/", PODS + "/web-0:80/proxy"):
            head, accept, file, connection = self.client.upgrade(path)
            with connection, file:
                self.assertIn("101 Switching Protocols", head)
                self.assertIn(accept, head)
                for opcode, text in ((1, b"hello"), (2, b"\0\1\2"), (8, b"\x03\xe8")):
                    file.write(frame(opcode, text))
                    file.flush()
                    self.assertEqual(file.read(2 + len(text)), bytes([0x80 | opcode, len(text)]) + text)
                self.assertEqual(file.read(), b"")  # the pod closed it

    def check_rights(self):
        group = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
        rules = [{"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"], "resourceNames": ["web:http"]}]
        self.cluster.post(group + "roles", {"metadata": {"name": "look"}, "rules": rules})
        self.cluster.post(group + "rolebindings", {
            "metadata": {"name": "look"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "look"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]})
        ann = {"Impersonate-User": "ann"}
        path = SERVICES + "/web:http/proxy/x"
        self.cluster.wait_until(lambda: self.client.ask("GET", path, headers=ann)[0] == 200)
        self.assertNotIn("Impersonate-User", self.asked(path, headers=ann)["headers"])
        for method, target in (("POST", path), ("DELETE", path), ("GET", SERVICES + "/web:8080/proxy/x"), ("GET", PODS + "/web-0/proxy/x")):
            status, _, body = self.client.ask(method, target, headers=ann)
            self.assertEqual((status, json.loads(body)["reason"]), (403, "Forbidden"), (method, target))
        status, _, body = self.client.ask("GET", path, headers={"Impersonate-User": "bob"})
        self.assertEqual(status, 403)
        self.assertIn('User "bob" cannot get resource "services/proxy"', json.loads(body)["message"])

    def check_dead(self):
        def said(path):
            status, _, body = self.client.ask("GET", path)
            found = json.loads(body)
            self.assertEqual((status, found["kind"], found["reason"]), (503, "Status", "ServiceUnavailable"))
            return found["message"]
        self.assertRegex(said(PODS + "/web-0:81/proxy/"), r"^error trying to reach service: connect to [\d.]+:81: Connection refused$")
        self.assertEqual(said(SERVICES + "/web:81/proxy/"), 'no service port 81 found for service "web"')
        self.assertEqual(said(SERVICES + "/web/proxy/"), 'no endpoints available for service "web"')
        self.delete(PODS + "/web-0", gracePeriodSeconds=0)
        self.cluster.wait_until(lambda: self.client.ask("GET", SERVICES + "/web:http/proxy/")[0] == 503)
        self.cluster.wait_until(lambda: said(SERVICES + "/web:http/proxy/") == 'no endpoints available for service "web"')

    def test_pods_and_services_are_reached_through_the_api_server(self):
        self.serve()
        self.check_http()
        self.check_bodies()
        self.check_websocket()
        self.check_rights()
        self.check_dead()

    def test_connections_that_are_open_do_not_hold_up_the_end(self):
        self.serve()
        _, _, file, connection = self.client.upgrade(SERVICES + "/web:http/proxy/")
        with connection, file:
            with contextlib.closing(self.client.connect()) as stream:
                stream.request("GET", SERVICES + "/web:http/proxy/stream")
                self.assertEqual(stream.getresponse().read(5), b"first")
                self.end()
                self.cluster = None

    def test_pods_of_fake_nodes_only_pretend(self):
        self.start("--fake-nodes", "1")
        self.cluster.post(PODS, pod("a", "any"))
        self.running("a")
        status, _, body = Client(self.cluster).ask("GET", PODS + "/a:80/proxy/")
        self.assertEqual(status, 503)
        self.assertEqual(json.loads(body)["message"], "error trying to reach service: pod a has no proxy: it is on the fake node codeflare-fake-0")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
