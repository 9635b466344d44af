"""An API server that runs for a test: started on a data directory, reached over TLS as its administrator."""

import base64
import http.client
import pathlib
import re
import signal
import ssl
import subprocess

PATIENCE = 60  # seconds, for anything


class RunningServer:
    """`data` is the data directory; certificates and the log go beside it."""

    def __init__(self, program, data, *arguments, address="127.0.0.1", port=0):
        self.data = data
        log = data.parent / "server.log"
        with open(log, "a") as errors:
            self.process = subprocess.Popen(
                [program, "apiserver", "--data-dir", str(data), "--listen", f"{address}:{port}", *arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        line = self.process.stdout.readline()
        ready = re.fullmatch(rf"ready https://{re.escape(address)}:(\d+) in (\d+) ms\n", line)
        if not ready:
            self.process.kill()
            raise SystemExit(f"the server did not start: {line!r}\n{log.read_text()[-2000:]}")
        self.port = int(ready[1])
        self.url = re.search(r'server: "?([^"\n]+)"?\n', (data / "admin.kubeconfig").read_text())[1]
        self.tls = self._tls()

    def _tls(self):
        config = (self.data / "admin.kubeconfig").read_text()
        folder = self.data.parent
        for name in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            (folder / name).write_bytes(base64.b64decode(re.search(rf"{name}: (\S+)", config)[1].strip('"')))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=folder / "certificate-authority-data")
        context.load_cert_chain(folder / "client-certificate-data", folder / "client-key-data")
        return context

    def connect(self, host="127.0.0.1"):
        return http.client.HTTPSConnection(host, self.port, context=self.tls, timeout=PATIENCE)

    def resident(self):
        """Bytes of memory in use."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M)[1]) * 1024

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        if self.process.wait(PATIENCE) != 0:
            raise SystemExit(f"SIGTERM: exit code {self.process.returncode}")
        self.process.stdout.close()
