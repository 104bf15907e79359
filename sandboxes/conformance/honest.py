"""What honest programs do: a box that refuses these is no use, however safe."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

HONEST_PROGRAMS = (
    Attack(
        "honest: standard streams by path",
        """
for name in ("stdin", "stdout", "stderr"):
    os.close(os.open("/dev/" + name, os.O_RDONLY if name == "stdin" else os.O_WRONLY))
""",
    ),
    Attack(
        "honest: own loopback",
        """
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname(), 5)
server.accept()[0].sendall(b"hello")
expect(client.recv(5) == b"hello", "no answer")
""",
    ),
    Attack(
        "honest: subprocesses and pools",
        """
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
expect(subprocess.run(["sh", "-c", "echo hi"], capture_output=True).stdout == b"hi\\n", "sh")
expect(subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n",
       "python")
with ThreadPoolExecutor(4) as pool:
    expect(sum(pool.map(abs, range(10))) == 45, "threads")
with ProcessPoolExecutor(2) as pool:
    expect(sum(pool.map(abs, range(10))) == 45, "processes")
""",
    ),
    Attack(
        "honest: asyncio with a subprocess",
        """
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]
expect(asyncio.run(main()) == b"hi\\n", "asyncio")
""",
    ),
    Attack(
        "honest: shared memory, sqlite, temporary files, time zones, decimals",
        """
import decimal, shutil, sqlite3, tempfile, zoneinfo
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=1 << 16)
memory.close(); memory.unlink()
base = sqlite3.connect("file.db")
base.execute("create table t (x)"); base.execute("insert into t values (1)"); base.commit()
with tempfile.TemporaryDirectory() as folder:
    shutil.copy("file.db", folder)
""",
    ),
    Attack(
        "honest: files written beforehand, in folders, runnable",
        """
import subprocess
expect(open("data/input.txt").read() == "text", "content")
expect(subprocess.run(["./data/tool"], capture_output=True).stdout == b"ran\\n", "tool")
""",
        files={"data/input.txt": b"text", "data/tool": b"#!/bin/sh\necho ran\n"},
    ),
    Attack(
        "honest: descriptors passed on, locks, pipes with names, maps of files",
        """
import fcntl, selectors
one, other = socket.socketpair()
socket.send_fds(one, [b"x"], [0, 1])
expect(len(socket.recv_fds(other, 1, 2)[1]) == 2, "descriptors")
with open("file", "w+b") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_EX)
    file.truncate(1 << 16)
    os.posix_fallocate(file.fileno(), 0, 1 << 16)
    with mmap.mmap(file.fileno(), 0) as area:
        area[9] = 7
        area.flush()
    os.fsync(file.fileno())
    os.sendfile(os.open("copy", os.O_CREAT | os.O_WRONLY), file.fileno(), 0, 1 << 16)
expect(open("copy", "rb").read()[9] == 7, "copy")
os.mkfifo("pipe")
if os.fork() == 0:
    open("pipe", "w").write("through")
    os._exit(0)
expect(open("pipe").read() == "through", "pipe")
with selectors.DefaultSelector() as selector:
    selector.register(one, selectors.EVENT_WRITE)
    expect(len(selector.select(1)) == 1, "selector")
""",
    ),
    Attack("honest: exit status", "sys.exit(3)", exit=3, stdout=b""),
    Attack(
        "honest: deep recursion",
        """
sys.setrecursionlimit(20000)
def down(n): return n and down(n - 1)
expect(down(15000) == 0, "depth")
""",
    ),
    Attack(
        "honest: a script as Python runs it",
        """
import inspect
from dataclasses import dataclass
import helper
expect(__name__ == "__main__" and sys.modules["__main__"].expect is expect, "main")
expect(sys.argv == ["attack.py"], sys.argv)
expect(os.path.realpath(sys.path[0]) == os.getcwd(), sys.path)
expect(os.path.basename(__file__) == "attack.py", __file__)
expect(helper.answer == 42, "its own module")
expect("def expect" in inspect.getsource(expect), "source")
expect(sys.stdout.encoding.lower() == "utf-8" and sys.stdin.read() == "", "streams")
@dataclass
class Point:
    x: int
expect(Point(1) == Point(1) and Point.__module__ == "__main__", "classes")
""",
        files={"helper.py": b"answer = 42\n"},
    ),
    Attack(
        "honest: an exception that nobody catches",
        """
import subprocess
failing = subprocess.run([sys.executable, "-c", "1/0"], capture_output=True, text=True)
expect(failing.returncode == 1 and "ZeroDivisionError" in failing.stderr, failing)
print("broken" if broken else "before", flush=True)
raise KeyError("nobody")
""",
        exit=1,
        stdout=b"before\n",
    ),
    Attack("honest: an exit with a message", "sys.exit('a message')", exit=1, stdout=b""),
    Attack(
        "honest: what is not flushed, and exit handlers",
        """
import atexit
atexit.register(lambda: print("bye", end=""))
print("hello", end="\\n")
sys.exit()
""",
        stdout=b"hello\nbye",
    ),
    Attack(
        "honest: large input and output",
        """
text = sys.stdin.read()
expect(len(text) == 3 << 20, len(text))
sys.stdout.write(text[:1000000])
sys.exit(0)
""",
        stdin=b"{}\n" + b"x" * (3 << 20),
        stdout=b"x" * 1000000,
    ),
    Attack(
        "honest: signals of its own",
        """
caught = []
signal.signal(signal.SIGUSR1, lambda *_: caught.append("user"))
os.kill(os.getpid(), signal.SIGUSR1)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    caught.append("interrupt")
try:
    read, write = os.pipe()
    os.close(read)
    os.write(write, b"x")
except BrokenPipeError:
    caught.append("pipe")
expect(caught == ["user", "interrupt", "pipe"], caught)
""",
    ),
    Attack(
        "honest: many processes, one after another",
        """
for _ in range(150):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
""",
    ),
    Attack(
        "honest: memory, files and threads within the limits",
        """
kept = bytearray(os.urandom(1)) * (72 << 20)
with open("file", "wb") as file:
    file.write(bytes(7 << 20))
os.unlink("file")
stop = threading.Event()
threads = [threading.Thread(target=stop.wait) for _ in range(16)]
for thread in threads: thread.start()
stop.set()
for thread in threads: thread.join()
opened = [open("/dev/null") for _ in range(40)]
""",
    ),
)
