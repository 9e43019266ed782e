"""Whether something at an address speaks gRPC, as head nodes of Ray do; a client of Ray would try for minutes."""

from __future__ import annotations

import socket

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4  # kinds of HTTP/2 frames (RFC 9113)
END_STREAM, END_HEADERS = 1, 4
STATUS_200 = 0x88  # in the compression of headers (RFC 7541)
METHOD = "/ray.rpc.NodeInfoGcsService/CheckAlive"
MOST_FRAMES = 20


def speaks_grpc(host: str, port: int, seconds: float) -> bool:
    """Asks once. A gRPC server answers any call with status 200, also one it refuses; OSError where nobody answers."""
    headers = {":method": "POST", ":scheme": "http", ":path": METHOD, ":authority": f"{host}:{port}"}
    headers |= {"content-type": "application/grpc", "te": "trailers"}
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
    with socket.create_connection((host, port), timeout=seconds) as connection:
        empty_message = bytes(5)
        connection.sendall(
            PREFACE
            + _frame(SETTINGS, 0, 0, b"")
            + _frame(HEADERS, END_HEADERS, 1, block)
            + _frame(DATA, END_STREAM, 1, empty_message)
        )
        with connection.makefile("rb") as answer:
            for _ in range(MOST_FRAMES):
                head = answer.read(9)
                if len(head) < 9:
                    return False
                content = answer.read(int.from_bytes(head[:3]))
                if head[3] == HEADERS:
                    return content[:1] == bytes([STATUS_200])
    return False


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return len(content).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + content


def _text(words: str) -> bytes:
    return bytes([min(len(words), 126)]) + words.encode()[:126]
