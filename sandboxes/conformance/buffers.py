"""Attacks that keep memory where no process has it mapped: in what the kernel holds for them."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.base import MIB, ExitReason
from sandboxes.conformance.attack import SMALL, Attack

_TIGHT = replace(SMALL, memory_bytes=64 * MIB)
# The processes alone need less than half.
_ROOMY = replace(SMALL, memory_bytes=96 * MIB)
_HELD_OR_ENDED = (ExitReason.EXITED, ExitReason.MEMORY_LIMIT)

# Children fill what `pair()` makes (what to read from, what to write to) until nothing more
# fits; then, all at once being full, they read back what was really kept.
_STUFF = """
import fcntl
ready_out, ready_in = os.pipe()
total_out, total_in = os.pipe()
go_out, go_in = os.pipe()
def stuff():
    kept, sent = [], 0
    try:
        while sent < 32 << 20 and len(kept) < 24:
            reader, writer = pair()
            kept.append((reader, writer))
            os.set_blocking(reader, False)
            os.set_blocking(writer, False)
            try:
                for _ in range(512):
                    sent += os.write(writer, bytes(1 << 14))
            except OSError:
                pass
    except OSError:
        pass
    return kept
def drain(kept):
    total = 0
    for reader, writer in kept:
        try:
            while got := os.read(reader, 1 << 14):
                total += len(got)
        except OSError:
            pass
    return total
def child():
    os.close(go_in)
    kept = stuff()
    os.write(ready_in, b".")
    os.read(go_out, 1)
    os.write(total_in, drain(kept).to_bytes(8, "big"))
    os._exit(0)
for _ in range(CHILDREN):
    if os.fork() == 0:
        child()
for _ in range(CHILDREN):
    os.read(ready_out, 1)
os.close(go_in)
total = sum(int.from_bytes(os.read(total_out, 8), "big") for _ in range(CHILDREN))
expect(total < 96 << 20, f"kept {total >> 20} MiB")
"""


def _stuffing(name: str, pair: str) -> Attack:
    program = f"CHILDREN = 20\n{pair}{_STUFF}"
    return Attack(name, program, _ROOMY, _HELD_OR_ENDED)


BUFFER_ATTACKS = (
    _stuffing(
        "memory in pipes",
        """
def pair():
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 1 << 20)
    return reader, writer
""",
    ),
    _stuffing(
        "memory in socket pairs",
        """
lasting = []
def pair():
    lasting.extend(socket.socketpair())
    return lasting[-2].fileno(), lasting[-1].fileno()
""",
    ),
    _stuffing(
        "memory in TCP connections",
        """
lasting = []
def pair():
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname(), 5)
    lasting.extend([client, server.accept()[0]])
    server.close()
    return lasting[-1].fileno(), lasting[-2].fileno()
""",
    ),
    _stuffing(
        "memory in UDP sockets",
        """
lasting = []
def pair():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    one.bind(("127.0.0.1", 0))
    one.connect(one.getsockname())
    lasting.append(one)
    return one.fileno(), one.fileno()
""",
    ),
    Attack(
        "memory in page tables",
        """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
size = 1 << 37
area = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, 0x4022, -1, 0)
if area != (1 << 64) - 1:
    libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(size), 15)  # no huge pages
    for at in range(0, size, 1 << 21):
        ctypes.string_at(area + at, 1)
        if at % (1 << 27) == 0:
            time.sleep(0.001)
    broken.append("256 MiB of page tables")
""",
        _TIGHT,
        _HELD_OR_ENDED,
    ),
    Attack(
        "memory in the kernel's books of mappings",
        """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def split():
    area = libc.mmap(None, ctypes.c_size_t(60000 << 12), 1, 0x4022, -1, 0)
    for page in range(0, 60000, 2):
        libc.mprotect(ctypes.c_void_p(area + (page << 12)), ctypes.c_size_t(4096), 0)
for _ in range(20):
    if os.fork() == 0:
        split()
        time.sleep(30)
        os._exit(0)
time.sleep(8)
broken.append("a million mappings")
""",
        _TIGHT,
        _HELD_OR_ENDED,
    ),
)

__all__ = ["BUFFER_ATTACKS"]
