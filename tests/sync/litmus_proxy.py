"""A proxy that makes litmus's files photos: it replaces the body of each PUT by a JPEG.

The service refuses to return an original (403). litmus skips other tests if it cannot read what it has written, so the
proxy then returns the replaced body. Everything else is passed on as it is. Each connection has one request.
"""

import socket
import socketserver
import threading
import zlib

import photos


class LitmusProxy:
    """Listens on a free port while the context is open."""

    def __init__(self, port: int):
        """`port` is that of the service."""
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Connection)
        self._server.daemon_threads = True
        self._server.service = ("127.0.0.1", port)
        #: The bodies that litmus sent and the proxy replaced, by request target.
        self._server.written = {}

    def __enter__(self) -> int:
        """Starts to listen, and returns the port."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server.server_address[1]

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Connection(socketserver.StreamRequestHandler):
    def handle(self):
        request = _Head(self.rfile)
        if not request.lines:
            return
        length = int(request.get("content-length") or 0)
        with socket.create_connection(self.server.service) as service:
            answers = service.makefile("rb")
            # The service then closes the connection after the response.
            request.set("Connection", "close")
            if request.method != "PUT":
                service.sendall(request.bytes() + self.rfile.read(length))
            elif request.get("expect") is None:
                service.sendall(self._photo_request(request, self.rfile.read(length)))
            else:
                self._put_after_100(request, length, service, answers)
            response = answers.read()
        if request.method == "GET" and response.startswith(b"HTTP/1.1 403"):
            response = self._written(request) or response
        self.wfile.write(response)

    def _photo_request(self, request: "_Head", body: bytes) -> bytes:
        self.server.written[request.target] = body
        photo = _photo(body)
        request.set("Content-Length", str(len(photo)))
        return request.bytes() + photo

    def _written(self, request: "_Head") -> bytes | None:
        """A response with the body that litmus has written."""
        body = self.server.written.get(request.target)
        head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n"
        return None if body is None else head.format(len(body)).encode() + body

    def _put_after_100(self, request: "_Head", length: int, service: socket.socket, answers):
        """The client sends the body after the interim response, so that must come from the service."""
        photo = _photo(b"")
        request.set("Content-Length", str(len(photo)))
        service.sendall(request.bytes())
        interim = _Head(answers)
        self.wfile.write(interim.bytes())
        if interim.lines[0].split()[1] == b"100":
            self.rfile.read(length)
            service.sendall(photo)


class _Head:
    """The first line and the headers of a request or a response."""

    def __init__(self, stream):
        self.lines = []
        while (line := stream.readline()) not in (b"\r\n", b"\n", b""):
            self.lines.append(line.rstrip(b"\r\n"))

    @property
    def method(self) -> str:
        return self.lines[0].split(b" ")[0].decode()

    @property
    def target(self) -> bytes:
        return self.lines[0].split(b" ")[1]

    def get(self, name: str) -> str | None:
        prefix = name.lower().encode() + b":"
        values = [line[len(prefix) :] for line in self.lines if line.lower().startswith(prefix)]
        return values[0].strip().decode() if values else None

    def set(self, name: str, value: str):
        prefix = name.lower().encode() + b":"
        self.lines = [line for line in self.lines if not line.lower().startswith(prefix)]
        self.lines.append(f"{name}: {value}".encode())

    def bytes(self) -> bytes:
        return b"\r\n".join(self.lines) + b"\r\n\r\n"


def _photo(body: bytes) -> bytes:
    """The same photo for the same body."""
    return photos.photo(1_000_000 + zlib.crc32(body))
