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
    Attack("honest: exit status", "sys.exit(3)", exit=3, stdout=b""),
    Attack(
        "honest: deep recursion",
        """
sys.setrecursionlimit(20000)
def down(n): return n and down(n - 1)
expect(down(15000) == 0, "depth")
""",
    ),
)
