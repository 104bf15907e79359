"""Attacks on the runs that come after: in the same box, or in the next of the same provider.

Each first half (`before`) runs in a box that is closed by then and in the attack's own. With
a warm interpreter the same programs show that nothing of one run gets into the next.
"""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

LEFTOVER_ATTACKS = (
    Attack(
        "leftovers of the run before",
        """
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue"):
    expect(not os.path.exists(folder + "/left"), folder)
expect(len([p for p in os.listdir("/proc") if p.isdigit()]) < 6, "processes")
""",
        before="""
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue"):
    try:
        open(folder + "/left", "w").close()
    except OSError:
        pass
if os.fork() == 0:
    time.sleep(120)
""",
    ),
    Attack(
        "changing a file for the run after",
        "expect(open('given').read() == 'given', 'changed')",
        files={"given": b"given"},
        before="open('given', 'w').write('changed')",
    ),
    Attack(
        "code that the next interpreter would run by itself",
        """
for name in ("usercustomize", "left"):
    expect(name not in sys.modules, name)
if "sitecustomize" in sys.modules:  # the system's, as Debian has one
    path = sys.modules["sitecustomize"].__file__
    expect(not os.access(os.path.dirname(os.path.realpath(path)), os.W_OK), path)
expect(not os.path.exists(os.path.expanduser("~/.local")), "a home with a past")
expect(getattr(sys, "left", None) is None, "its mark")
""",
        before="""
import site
for folder in (site.getusersitepackages(), ".", os.path.expanduser("~"), "/tmp"):
    try:
        os.makedirs(folder, exist_ok=True)
        for name in ("usercustomize.py", "sitecustomize.py", "json.py", "site.py"):
            with open(f"{folder}/{name}", "w") as file:
                file.write("import sys; sys.left = 1")
        with open(f"{folder}/left.pth", "w") as file:
            file.write("import sys; sys.left = 1")
    except OSError:
        pass
""",
    ),
    Attack(
        "System V memory, queues and keys left for the next",
        """
libc = ctypes.CDLL(None, use_errno=True)
expect(libc.shmget(0x616B, 64, 0o600) < 0, "memory")
expect(libc.msgget(0x616B, 0o600) < 0, "queue")
expect(libc.semget(0x616B, 1, 0o600) < 0, "semaphore")
for name in ("shm", "msg", "sem"):
    try:
        lines = open("/proc/sysvipc/" + name).readlines()[1:]
    except OSError:
        lines = []
    expect(lines == [], name)
""",
        before="""
libc = ctypes.CDLL(None, use_errno=True)
libc.shmget(0x616B, 64, 0o1600)
libc.msgget(0x616B, 0o1600)
libc.semget(0x616B, 1, 0o1600)
""",
    ),
    Attack(
        "a port that the run before still holds",
        "socket.create_server(('127.0.0.1', 48611)).close()",
        before="""
server = socket.create_server(("127.0.0.1", 48611))
if os.fork() == 0:
    os.setsid()
    time.sleep(120)
""",
    ),
    Attack(
        "what a process inherits from the run before",
        """
expect(os.nice(0) == 0, "nice")
expect(signal.pthread_sigmask(signal.SIG_BLOCK, []) == set(), "blocked signals")
expect(os.umask(0o22) & 0o22 == 0o22, "umask")
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
    expect(signal.getsignal(number) == signal.SIG_DFL, number)
expect(signal.getitimer(signal.ITIMER_REAL)[0] == 0, "timer")
expect(resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 8 << 20, "file size")
expect("LEFT" not in os.environ, "environment")
expect(os.path.basename(os.getcwd()) != "left", "directory")
expect(os.uname().nodename != "left", "host name")
expect(sorted(map(int, os.listdir("/proc/self/fd")))[:3] == [0, 1, 2], "descriptors")
""",
        before="""
os.nice(19)
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
os.umask(0o777)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 3)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
os.environ["LEFT"] = "1"
os.mkdir("left", 0o777)
os.chdir("left")
try:
    socket.sethostname("left")
except OSError:
    pass
""",
    ),
    Attack(
        "a disk spoilt for the next",
        "open('new', 'w').write('new')",
        before="""
here = os.getcwd()
for n in range(300):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
os.chdir(here)
for n in range(64):
    os.mkdir(f"closed{n}")
    open(f"closed{n}/file", "w").close()
    os.chmod(f"closed{n}", 0)
os.mkdir(b"\\xff\\n\\x01")
os.chmod(here, 0)
os.rename(here, "/tmp/elsewhere")
os.symlink("/usr", here)
os.chmod("/tmp", 0)
""",
    ),
    Attack(
        "a disk filled for the next",
        "open('new', 'wb').write(bytes(1 << 20))",
        before="""
for folder in (".", "/tmp", "/dev/shm"):
    try:
        for n in range(64):
            with open(f"{folder}/fill{n}", "wb", buffering=0) as file:
                while file.tell() < 4 << 20:
                    file.write(bytes(1 << 16))
    except OSError:
        pass
    try:
        for n in range(100000):
            os.mkdir(f"{folder}/empty{n}")
    except OSError:
        pass
""",
    ),
    Attack(
        "an interpreter changed for the next",
        """
import atexit, builtins, gc
expect(builtins.len([1, 2]) == 2 and builtins.print.__name__ == "print", "builtins")
expect(json.loads("1") == 1 and not hasattr(json, "left"), "json")
expect("left" not in sys.modules and "left" not in sys.path, "modules")
expect(gc.isenabled() and gc.callbacks == [], "collector")
expect(sys.gettrace() is None and sys.getprofile() is None, "trace")
expect(sys.excepthook is sys.__excepthook__, "excepthook")
expect(1000 <= sys.getrecursionlimit() < 1010, "recursion limit")
expect(threading.active_count() == 1, "threads")
expect(not any(type(finder).__name__ == "Left" for finder in sys.meta_path), "finders")
expect(not hasattr(os, "left"), "os")
""",
        before="""
import atexit, builtins, gc, types
class Left:
    def find_spec(self, *arguments): return None
builtins.len = lambda of: 7
json.loads = lambda text: 7
json.left = os.left = 1
sys.modules["left"] = types.ModuleType("left")
sys.path.insert(0, "left")
sys.meta_path.insert(0, Left())
gc.disable()
gc.callbacks.append(print)
sys.settrace(lambda *arguments: None)
sys.excepthook = print
sys.setrecursionlimit(77)
atexit.register(lambda: os.fork() or time.sleep(60))
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
""",
    ),
    Attack(
        "memory of the run before",
        """
import gc, re
secret = re.compile(rb"l[e]ft-over-[s]ecret-[0-9]{16}")
found = [o for o in gc.get_objects() if isinstance(o, dict) and "secret" in o and o is not host
         and secret.search(str(o["secret"]).encode())]
expect(not found, "an object")
with open("/proc/self/maps") as maps:
    ranges = [line.split()[0].split("-") for line in maps if line.split()[1].startswith("rw")]
try:
    memory = open("/proc/self/mem", "rb", buffering=0)
except OSError:
    ranges = []
for start, end in ranges:
    start, end = int(start, 16), min(int(end, 16), int(start, 16) + (32 << 20))
    for at in range(start, end, 1 << 20):
        try:
            memory.seek(at)
            expect(not secret.search(memory.read((1 << 20) + 64)), hex(at))
        except (OSError, OverflowError):
            break
""",
        before="""
kept = [host["secret"].encode() * 64 for _ in range(200)]
sys.modules["left"] = kept
expect(len(kept) == 200, "kept")
""",
    ),
    Attack(
        "input of the run before",
        "expect(sys.stdin.read() == '', 'somebody left it')",
        before="pass",
    ),
)
