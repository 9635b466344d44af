"""echo_server.py [PORT]: answers each HTTP request with what was asked, as the image kicbase/echo-server does; small, because pods give it 32 MiB."""

import socket
import sys

with socket.create_server(("", int(sys.argv[1]) if len(sys.argv) > 1 else 8080)) as server:
    while True:
        connection, _ = server.accept()
        with connection:
            try:
                connection.settimeout(10)
                request = connection.recv(65536)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(request) + request)
            except OSError:
                pass  # the client's own business
