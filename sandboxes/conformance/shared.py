"""Attacks on what the kernel counts by user: one run must not take it from another.

The same program runs in two boxes at once. Each takes more than half of what one user may
have, keeps it while the other tries, and must get all of it. Sources: pipe(7), unix(7),
inotify(7), mlock(2).
"""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

# Long enough for the two to meet, though one box may take a while to make.
_HOLD = """
until = time.monotonic() + 2.5
def hold():
    while time.monotonic() < until:
        time.sleep(0.05)
libc = ctypes.CDLL(None, use_errno=True)
"""

SHARED_ATTACKS = (
    Attack(
        "pipe buffers of all runs together",
        _HOLD
        + """
import fcntl
def take(count):
    pipes = [os.pipe() for _ in range(count)]
    for _, writer in pipes:
        fcntl.fcntl(writer, 1031, 1 << 20)
    return pipes
if os.fork() == 0:
    pipes = take(24)
    hold()
    os._exit(0)
pipes = take(24)
while time.monotonic() < until and not broken:
    reader, writer = os.pipe()
    size = fcntl.fcntl(writer, 1032)
    expect(size == 1 << 16, f"a pipe holds {size} bytes")
    os.close(reader)
    os.close(writer)
    time.sleep(0.05)
""",
        at_once=True,
    ),
    Attack(
        "descriptors in flight of all runs together",
        _HOLD
        + """
one, other = socket.socketpair()
def post():
    socket.send_fds(one, [b"x"], [0] * 10)
for _ in range(4):
    post()
hold()
received = sum(len(socket.recv_fds(other, 1, 20)[1]) for _ in range(4))
expect(received == 40, f"{received} descriptors")
""",
        at_once=True,
    ),
    Attack(
        "watches of all runs together",
        _HOLD
        + """
def take(count):
    return [libc.inotify_init1(0) for _ in range(count)]
taken = []
for _ in range(3):
    if os.fork() == 0:
        take(50)
        hold()
        os._exit(0)
time.sleep(0.5)
mine = libc.inotify_init1(0)
hold()
# Where there are none for anybody, nobody can take them away.
expect(mine >= 0 or ctypes.get_errno() in (errno.ENOSYS, errno.EPERM), "no watch")
""",
        at_once=True,
    ),
    Attack(
        "locked memory of all runs together",
        _HOLD
        + """
area = ctypes.create_string_buffer(600 << 10)
expect(libc.mlock(area, len(area)) == 0, "600 KiB can't be locked")
hold()
""",
        at_once=True,
    ),
)

__all__ = ["SHARED_ATTACKS"]
