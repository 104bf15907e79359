"""Attacks on runs at the same time: the same program in two boxes, each looking for the other."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

# Long enough for the two to meet, though one box may take a while to make.
_LOOK = """
import secrets
mine = secrets.token_hex(8)
until = time.monotonic() + 2
def looking():
    time.sleep(0.05)
    return time.monotonic() < until
"""

NEIGHBOUR_ATTACKS = (
    Attack(
        "files of a run at the same time",
        _LOOK
        + """
folders = [f for f in (".", "/tmp", "/dev/shm", "/var/tmp", "/run") if os.access(f, os.W_OK)]
for folder in folders:
    open(f"{folder}/mark-{mine}", "w").close()
while looking():
    for folder in folders:
        marks = {name for name in os.listdir(folder) if name.startswith("mark-")}
        expect(marks == {"mark-" + mine}, f"{marks} in {folder}")
    if broken:
        break
""",
        at_once=True,
    ),
    Attack(
        "processes of a run at the same time",
        _LOOK
        + """
import subprocess
child = subprocess.Popen(["sleep", "30"])
while looking() and not broken:
    sleepers = [p for p in filter(str.isdigit, os.listdir("/proc"))
                if open(f"/proc/{p}/cmdline").read().startswith("sleep")]
    expect(sleepers == [str(child.pid)], sleepers)
child.kill()
""",
        at_once=True,
    ),
    Attack(
        "sockets of a run at the same time",
        _LOOK
        + """
server = socket.create_server(("127.0.0.1", 48612))
server.settimeout(0.05)
while looking():
    try:
        server.accept()
        broken.append("somebody came")
        break
    except TimeoutError:
        pass
""",
        at_once=True,
    ),
    Attack(
        "killing a run at the same time",
        _LOOK
        + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while looking():
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(-1, number)
        except OSError:
            pass
""",
        at_once=True,
    ),
    Attack(
        "processes of all runs together",
        _LOOK
        + """
children = 0
while children < 20:
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        children += 1
    except OSError:
        break
expect(children == 20, f"only {children} processes")
while looking():
    pass
""",
        at_once=True,
    ),
)
