"""Whether a program compiles, found out in the sandbox.

A hostile source can crash or starve a compiler, so the judge's own process never parses one.
"""

from __future__ import annotations

from verifier_server.checkers.code.box import SOURCE_FILE, PythonRunner, bad_end

# Whatever the compiler raises (SyntaxError, ValueError, MemoryError, RecursionError, a wrong
# coding cookie's LookupError) is the source's doing.
_COMPILE = """\
import sys
try:
    compile(open(sys.argv[1], "rb").read(), sys.argv[1], "exec")
except BaseException as error:
    print(f"{type(error).__name__}: {error}"[:300])
    sys.exit(1)
"""


def compile_error(runner: PythonRunner, file: str = SOURCE_FILE) -> str | None:
    """What the compiler has against a program in the box; None if it compiles.

    Raises:
        SandboxError: the box failed.
    """
    result = runner.run(["-I", "-W", "ignore", "-c", _COMPILE, file])
    end = bad_end(result)
    if end is None:
        return None
    return result.stdout.decode(errors="replace").strip() or f"while compiling, {end[1]}"
