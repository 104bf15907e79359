"""Attacks that use too many processes, threads or descriptors, or raise their own limits."""

from __future__ import annotations

from dataclasses import replace

from sandboxes.conformance.attack import ITS_OWN_END, SMALL, Attack

PROCESS_ATTACKS = (
    Attack(
        "fork bomb",
        """
children = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        children += 1
except OSError:
    pass
expect(children < 36, f"{children} processes")
""",
    ),
    Attack(
        "fork bomb of every generation",
        """
def bomb(depth):
    for _ in range(4):
        try:
            if os.fork() == 0:
                bomb(depth - 1) if depth else time.sleep(30)
                time.sleep(30)
                os._exit(0)
        except OSError:
            return
bomb(3)
time.sleep(0.3)
alive = sum(name.isdigit() for name in os.listdir("/proc"))
expect(alive < 40, f"{alive} processes")
""",
    ),
    Attack(
        "thread bomb",
        """
stop, started = threading.Event(), 0
threading.stack_size(1 << 16)
try:
    for _ in range(300):
        threading.Thread(target=stop.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
stop.set()
expect(started < 36, f"{started} threads")
""",
    ),
    Attack(
        "zombie storm",
        """
zombies = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            os._exit(0)
        zombies += 1
except OSError:
    pass
expect(zombies < 36, f"{zombies} zombies")
""",
    ),
    Attack(
        "storm of orphans",
        """
for _ in range(300):
    try:
        if os.fork() == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.wait()
    except OSError:
        time.sleep(0.01)
""",
        replace(SMALL, time_s=3.0),
        ITS_OWN_END,
        exit=None,
        stdout=None,
    ),
    Attack(
        "all descriptors",
        """
opened = []
try:
    while len(opened) < 5000:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
count = len(opened)
for fd in opened:
    os.close(fd)
expect(count < 64, f"{count} descriptors")
""",
    ),
    Attack(
        "all descriptors of all processes",
        """
for _ in range(20):
    if os.fork() == 0:
        try:
            while True:
                os.pipe()
        except OSError:
            time.sleep(30)
            os._exit(0)
time.sleep(0.3)
""",
    ),
    Attack(
        "timers without end",  # all users' together are counted by who made their namespaces
        """
libc = ctypes.CDLL(None, use_errno=True)
event = (ctypes.c_char * 64)()
ctypes.memmove(ctypes.addressof(event) + 12, (1).to_bytes(4, "little"), 4)  # SIGEV_NONE
name, made = ctypes.c_int(), 0
while made < 60000 and libc.timer_create(1, event, ctypes.byref(name)) == 0:
    made += 1
expect(made < 10000, f"{made} timers")
""",
    ),
    Attack(
        "raising its own limits",
        """
for name in ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_CORE", "RLIMIT_MEMLOCK"):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
        broken.append(name)
    except (OSError, ValueError):
        pass
""",
    ),
    Attack(
        "lowering the limits of others",
        """
for process in filter(str.isdigit, os.listdir("/proc")):
    if int(process) != os.getpid():
        refused(f"limits of {process}", resource.prlimit, int(process), resource.RLIMIT_NOFILE,
                (0, 0))
""",
    ),
    Attack(
        "real-time and higher priority",
        """
refused("nice", os.setpriority, os.PRIO_PROCESS, 0, -5)
refused("FIFO", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(10))
def die_last():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-999")
refused("being killed last for memory", die_last)
""",
    ),
    Attack(
        "slowing its box down",
        """
for process in filter(str.isdigit, os.listdir("/proc")):
    if int(process) != os.getpid():
        for call in (lambda p: os.setpriority(os.PRIO_PROCESS, p, 19),
                     lambda p: os.sched_setscheduler(p, os.SCHED_IDLE, os.sched_param(0)),
                     lambda p: os.sched_setaffinity(p, {min(os.sched_getaffinity(0))})):
            try:
                call(int(process))
            except OSError:
                pass
for _ in range(8):
    if os.fork() == 0:
        while True: pass
time.sleep(1)
""",
        replace(SMALL, time_s=10),
    ),
    Attack(
        "arguments and environment of megabytes",
        """
refused("argument", os.execv, "/bin/sh", ["sh", "-c", "true", "x" * (4 << 20)])
refused("environment", os.execve, "/bin/sh", ["sh"], {"x": "x" * (4 << 20)})
""",
    ),
)
