"""The languages of programs, one entry each: all that the checker knows about any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandboxes.base import MIB

MEMORY_MIB = "{memory_mib}"
# A deep recursion is bounded by the item's memory, not by the shell's habit of 8 MiB of stack.
_DEEP_STACK = 'ulimit -s "$(ulimit -H -s)"; exec ./program "$@"'
_NATIVE = ("sh", "-c", _DEEP_STACK, "program")
# A stack below the 8 MiB that the kernel gives, and a heap that is cleared in time.
_NODE = ("node", "--stack-size=6000", f"--max-old-space-size={MEMORY_MIB}")

# Whatever the compiler raises (SyntaxError, ValueError, MemoryError, RecursionError, a wrong
# coding cookie's LookupError) is the source's doing.
_CHECK_PYTHON = """\
import sys
try:
    compile(open(sys.argv[1], "rb").read(), sys.argv[1], "exec")
except BaseException as error:
    print(f"{type(error).__name__}: {error}"[:300], file=sys.stderr)
    sys.exit(1)
"""

# Types are taken off, not checked: Node does that itself from 22.13 on, else the compiler's
# own transpiler is asked, which looks at one file and at no type of a library.
_STRIP_TYPES = """\
const fs = require("fs"), node = require("module"), [source, target] = process.argv.slice(1);
const text = fs.readFileSync(source, "utf8");
if (node.stripTypeScriptTypes) {
  process.removeAllListeners("warning");
  fs.writeFileSync(target, node.stripTypeScriptTypes(text, { mode: "transform" }));
} else {
  const ts = require("typescript");
  const compilerOptions = { target: "ES2022", module: "CommonJS", esModuleInterop: true };
  const out = ts.transpileModule(text, { compilerOptions, reportDiagnostics: true });
  for (const flaw of out.diagnostics) {
    const { line } = ts.getLineAndCharacterOfPosition(flaw.file, flaw.start);
    console.error(`${line + 1}: error: ${ts.flattenDiagnosticMessageText(flaw.messageText, " ")}`);
  }
  fs.writeFileSync(target, out.outputText);
  process.exit(out.diagnostics.length && 1);
}
"""

# javac wants a public class in a file of its name, and says so. The class to be run is the one
# that has a main(String[]): `Main`, or the public one, or the first.
_COMPILE_JAVA = r"""
set -- -J-XX:+UseSerialGC -J-Xmx512m -J-Xss16m -nowarn -proc:none -d out
said=$(javac "$@" Main.java 2>&1) || {
    name='s/.* ([A-Za-z0-9_$]+) is public, should be declared in a file named.*/\1/p'
    public=$(printf '%s\n' "$said" | sed -nE "$name" | head -n 1)
    [ -n "$public" ] && mv Main.java "$public.java" && said=$(javac "$@" "$public.java" 2>&1)
} || { printf '%s\n' "$said" >&2; exit 1; }
cd out || exit 1
found=$(grep -rlF '([Ljava/lang/String;)V' . | xargs grep -lw main | sed 's|^\./||; s|\.class$||')
main=$(printf '%s\n' "$found" | grep -E "(^|/)(Main|${public:-Main})$" | head -n 1)
[ -n "$main" ] || main=$(printf '%s\n' "$found" | head -n 1)
[ -n "$main" ] || { echo "error: no class has a main(String[])" >&2; exit 1; }
exec jar --create --no-compress --file ../program.jar \
    --main-class "$(printf %s "$main" | tr / .)" .
"""


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of one language are found, built and run.

    Attributes:
        runtime: what a box must offer, see `SandboxSpec.runtime`.
        tags: lower-case names of the language in a fence's info string.
        file: where the source is put.
        run: argv of a program; `MEMORY_MIB` stands for the MiB that an item allows.
        compile: argv that makes `artefact` of the source; empty where the source itself runs.
        artefact: the one file of a compilation that the runs need.
        check: argv that fails for a source that is no program, where none is compiled.
        crash: what a program that ends by an error of its own leaves on stderr, where its exit
            status doesn't tell.
        no_memory: what one leaves there that got no more memory.
        env: variables, for compiling and running.
        start_s: CPU seconds that its run-time system takes on top of what an item allows.
        extra_bytes: memory likewise.
        pids: processes and threads at once.
        compile_s: CPU seconds for the compiler.
        probe: a program that prints 42, to tell whether a box has what is needed.
        needs: what has to be installed for it.
    """

    runtime: str
    tags: frozenset[str]
    file: str
    run: tuple[str, ...]
    probe: str
    needs: str
    compile: tuple[str, ...] = ()
    artefact: str = "program"
    check: tuple[str, ...] = ()
    crash: bytes = b""
    no_memory: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    start_s: float = 0.0
    extra_bytes: int = 0
    pids: int = 64
    compile_s: float = 15.0


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        runtime="python",
        tags=frozenset({"python", "py", "python3"}),
        file="solution.py",
        run=("python3", "solution.py"),
        check=("python3", "-I", "-W", "ignore", "-c", _CHECK_PYTHON, "solution.py"),
        crash=b"Traceback (most recent call last)",
        no_memory=b"\nMemoryError",
        # A program that iterates over a set has the same output, and verdict, in every run.
        env={"PYTHONHASHSEED": "0"},
        probe="print(6 * 7)",
        needs="python3",
    ),
    "c": Language(
        runtime="c",
        tags=frozenset({"c", "c99", "c11", "c17"}),
        file="solution.c",
        compile=("gcc", "-std=gnu17", "-O2", "-w", "-o", "program", "solution.c", "-lm"),
        run=_NATIVE,
        probe='#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); }',
        needs="gcc and the C library's headers",
    ),
    "cpp": Language(
        runtime="cpp",
        tags=frozenset({"cpp", "c++", "cc", "cxx", "c++14", "c++17", "c++20", "cpp17", "cpp20"}),
        file="solution.cpp",
        compile=("g++", "-std=gnu++20", "-O2", "-w", "-o", "program", "solution.cpp"),
        run=_NATIVE,
        no_memory=b"std::bad_alloc",
        probe='#include <iostream>\nint main() { std::cout << 6 * 7 << "\\n"; }',
        needs="g++",
    ),
    "javascript": Language(
        runtime="node",
        tags=frozenset({"javascript", "js", "node", "nodejs", "mjs", "cjs"}),
        file="solution.js",
        run=(*_NODE, "solution.js"),
        check=("node", "--check", "solution.js"),
        crash=b"\nNode.js v",
        no_memory=b"JavaScript heap out of memory",
        start_s=0.2,
        extra_bytes=64 * MIB,
        probe="console.log(6 * 7)",
        needs="Node.js 20 or later",
    ),
    "typescript": Language(
        runtime="node",
        tags=frozenset({"typescript", "ts", "mts", "cts"}),
        file="solution.ts",
        compile=("node", "-e", _STRIP_TYPES, "solution.ts", "program.js"),
        artefact="program.js",
        run=(*_NODE, "program.js"),
        crash=b"\nNode.js v",
        no_memory=b"JavaScript heap out of memory",
        env={"NODE_PATH": "/usr/share/nodejs:/usr/lib/node_modules:/usr/local/lib/node_modules"},
        start_s=0.2,
        extra_bytes=64 * MIB,
        probe="const answer: number = 6 * 7\nconsole.log(answer)",
        needs="Node.js 22.13 or later, or Node.js 20 and the package typescript",
    ),
    "java": Language(
        runtime="java",
        tags=frozenset({"java"}),
        file="Main.java",
        compile=("sh", "-c", _COMPILE_JAVA),
        artefact="program.jar",
        run=(
            *("java", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xss64m"),
            *(f"-Xmx{MEMORY_MIB}m", "-Dfile.encoding=UTF-8", "-jar", "program.jar"),
        ),
        crash=b'Exception in thread "',
        no_memory=b"java.lang.OutOfMemoryError",
        start_s=1.0,
        extra_bytes=192 * MIB,
        pids=128,
        probe="class Main { public static void main(String[] a) { System.out.println(6 * 7); } }",
        needs="a JDK, 17 or later",
    ),
    "go": Language(
        runtime="go",
        tags=frozenset({"go", "golang"}),
        file="solution.go",
        compile=("go", "build", "-o", "program", "solution.go"),
        run=_NATIVE,
        crash=b"\ngoroutine ",
        no_memory=b"fatal error: runtime: out of memory",
        env={"GO111MODULE": "off", "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"},
        pids=256,
        # From 1.20 on the standard library comes as source alone.
        compile_s=120.0,
        probe='package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(6 * 7) }',
        needs="Go 1.19 or later",
    ),
    "rust": Language(
        runtime="rust",
        tags=frozenset({"rust", "rs"}),
        file="solution.rs",
        compile=("rustc", "--edition=2021", "-O", "-Awarnings", "-o", "program", "solution.rs"),
        run=_NATIVE,
        no_memory=b"memory allocation of",
        probe='fn main() { println!("{}", 6 * 7); }',
        needs="rustc 1.63 or later and gcc to link",
    ),
    "bash": Language(
        runtime="bash",
        tags=frozenset({"bash", "sh", "shell"}),
        file="solution.sh",
        run=("bash", "solution.sh"),
        check=("bash", "-n", "solution.sh"),
        probe="echo $((6 * 7))",
        needs="bash 5 or later",
    ),
}


__all__ = ["LANGUAGES", "MEMORY_MIB", "Language"]
