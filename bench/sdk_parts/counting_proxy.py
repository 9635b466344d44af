"""A plain HTTP server on loopback that passes requests on to an API server and counts them."""

import http.client
import http.server
import json
import threading

OF_CONNECTION = ("connection", "content-length", "host", "keep-alive", "transfer-encoding")


class CountingProxy(http.server.ThreadingHTTPServer):
    """Its clients have the rights of the TLS context. Answers are passed on whole, so watches are not for it."""

    daemon_threads = True

    def __init__(self, netloc, context):
        super().__init__(("127.0.0.1", 0), Handler)
        self.netloc, self.context, self.requests = netloc, context, []
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def kubeconfig(self):
        cluster = {"server": f"http://127.0.0.1:{self.server_address[1]}"}
        return json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy", "clusters": [{"name": "proxy", "cluster": cluster}],
            "users": [{"name": "proxy", "user": {}}], "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
        })

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        self.server.requests.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPSConnection(self.server.netloc, context=self.server.context, timeout=60)
        connection.request(self.command, self.path, body or None, kept(self.headers))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.send_response(answer.status)
        for name, value in kept(answer.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = pass_on


def kept(headers):
    return {name: value for name, value in headers.items() if name.lower() not in OF_CONNECTION}
