"""Programs in several languages: real ones with their tests, and sources that attack compilers."""

from __future__ import annotations

_GRAPH = "5 6\n1 2 7\n1 3 9\n2 3 1\n2 4 15\n3 4 2\n4 5 6\n1\n"
_GRAPH_TESTS = [(_GRAPH, "0 7 8 10 16\n"), ("3 1\n1 2 4\n1\n", "0 4 -1\n")]
_WORDS_TESTS = [
    ("the cat the dog\na cat\n", "cat 2\nthe 2\na 1\ndog 1\n"),
    ("", ""),
    ("x\r\nx x", "x 3\n"),
]
_POWER_TESTS = [("2 100 1000000007\n", "976371285\n"), ("3 0 7\n", "1\n")]

HONEST: list[tuple[str, str, list[tuple[str, str]]]] = [
    (
        "c",
        r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double *values = malloc(n * sizeof *values), sum = 0;
    for (int i = 0; i < n; i++) { scanf("%lf", values + i); sum += values[i]; }
    qsort(values, n, sizeof *values, by_value);
    double mean = sum / n, square = 0;
    for (int i = 0; i < n; i++) square += pow(values[i] - mean, 2);
    printf("%.3f %.3f %.3f\n", mean, sqrt(square / n), values[n / 2]);
    free(values);
    return 0;
}
""",
        [("3\n1 2 6\n", "3.000 2.160 2.000\n"), ("1\n-0.5\n", "-0.500 0.000 -0.500\n")],
    ),
    (
        "c",
        r"""
#include <stdio.h>
#include <string.h>
#define MAX 100001
static char line[MAX];
int main() {
    while (fgets(line, MAX, stdin)) {
        size_t n = strcspn(line, "\r\n");
        while (n--) putchar(line[n]);
        putchar('\n');
    }
}
""",
        [("abc\nde\n", "cba\ned\n"), ("last line without end", "dne tuohtiw enil tsal\n")],
    ),
    (
        "c",
        """
#include <stdio.h>
int depth(volatile int n) { int pad[20]; pad[n % 20] = n; return n ? 1 + depth(n - 1) : 0; }
int main(void) { printf("%d\\n", depth(1000000)); }
""",
        [("", "1000000")],
    ),
    (
        "cpp",
        """
#include <bits/stdc++.h>
using namespace std;
int main() {
    ios::sync_with_stdio(false); cin.tie(nullptr);
    int n, m; cin >> n >> m;
    vector<vector<pair<int, long long>>> adj(n + 1);
    for (int i = 0, a, b, w; i < m && cin >> a >> b >> w; i++) {
        adj[a].emplace_back(b, w); adj[b].emplace_back(a, w);
    }
    int s; cin >> s;
    vector<long long> best(n + 1, -1);
    priority_queue<pair<long long, int>, vector<pair<long long, int>>, greater<>> heap;
    heap.emplace(0, s);
    while (!heap.empty()) {
        auto [d, u] = heap.top(); heap.pop();
        if (best[u] != -1) continue;
        best[u] = d;
        for (auto [v, w] : adj[u]) if (best[v] == -1) heap.emplace(d + w, v);
    }
    for (int i = 1; i <= n; i++) cout << best[i] << " \\n"[i == n];
}
""",
        _GRAPH_TESTS,
    ),
    (
        "cpp",
        """
#include <algorithm>
#include <iostream>
#include <map>
#include <ranges>
#include <string>
#include <vector>
int main() {
    std::map<std::string, int> counts;
    for (std::string word; std::cin >> word;) ++counts[word];
    std::vector<std::pair<std::string, int>> rows(counts.begin(), counts.end());
    std::ranges::stable_sort(rows, std::greater{}, &std::pair<std::string, int>::second);
    for (const auto& [word, n] : rows) std::cout << word << ' ' << n << '\\n';
}
""",
        _WORDS_TESTS,
    ),
    (
        "cpp",
        """
#include <iostream>
#include <thread>
#include <atomic>
using i128 = __int128;
long long power(long long b, long long e, long long m) {
    i128 r = 1, x = b % m;
    for (; e; e >>= 1, x = x * x % m) if (e & 1) r = r * x % m;
    return (long long)(r % m);
}
int main() {
    long long b, e, m; std::cin >> b >> e >> m;
    std::atomic<long long> out{0};
    std::thread([&] { out = power(b, e, m); }).join();
    std::cout << out << std::endl;
}
""",
        _POWER_TESTS,
    ),
    (
        "javascript",
        """
const [[n, m], ...rows] = require('fs').readFileSync(0, 'utf8').trim().split('\\n')
    .map(line => line.split(' ').map(Number));
const edges = rows.slice(0, m), start = rows[m][0];
const best = Array(n + 1).fill(Infinity);
best[start] = 0;
for (let round = 0; round < n; round++)
    for (const [a, b, w] of edges) {
        best[b] = Math.min(best[b], best[a] + w);
        best[a] = Math.min(best[a], best[b] + w);
    }
console.log(best.slice(1).map(d => d === Infinity ? -1 : d).join(' '));
""",
        _GRAPH_TESTS,
    ),
    (
        "javascript",
        """
const rl = require('readline').createInterface({ input: process.stdin });
const counts = new Map();
rl.on('line', line => {
    for (const word of line.split(/\\s+/).filter(Boolean))
        counts.set(word, (counts.get(word) ?? 0) + 1);
});
rl.on('close', () => {
    const rows = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    for (const [word, n] of rows) process.stdout.write(`${word} ${n}\\n`);
});
""",
        _WORDS_TESTS,
    ),
    (
        "javascript",
        """
import { createInterface } from 'node:readline/promises';
for await (const line of createInterface({ input: process.stdin })) {
    let [b, e, m] = line.split(' ').map(BigInt), r = 1n;
    for (; e; e >>= 1n, b = b * b % m) if (e & 1n) r = r * b % m;
    console.log(String(r));
}
""",
        _POWER_TESTS,
    ),
    (
        "javascript",
        """
const depth = n => n ? 1 + depth(n - 1) : 0;
setTimeout(() => console.log(depth(30000)), 10);
""",
        [("", "30000")],
    ),
    (
        "typescript",
        """
import * as fs from 'fs';
enum Sign { Plus = 1, Minus = -1 }
interface Row { readonly word: string; n: number }
abstract class Base<T extends Row> {
    constructor(protected readonly rows: T[]) {}
    abstract order(a: T, b: T): number;
    lines(): string[] { return [...this.rows].sort(this.order).map(r => `${r.word} ${r.n}`); }
}
class Counts extends Base<Row> {
    order(a: Row, b: Row): number {
        return Sign.Minus * (a.n - b.n) || (a.word < b.word ? Sign.Minus : Sign.Plus);
    }
}
const seen: Record<string, number> = {};
for (const word of fs.readFileSync(0, 'utf8').split(/\\s+/).filter(Boolean) as string[])
    seen[word] = (seen[word] ?? 0)! + 1;
const rows: Row[] = Object.entries(seen).map(([word, n]) => ({ word, n }));
console.log(new Counts(rows).lines().join('\\n'));
""",
        _WORDS_TESTS,
    ),
    (
        "java",
        """
package some.where;

import java.io.*;
import java.util.*;
import java.util.stream.*;

// public class Decoy
public final class Solution {
    record Edge(int to, long w) {}
    interface Shower { String show(long[] best); }

    public static void main(String... args) throws IOException {
        var in = new StreamTokenizer(new BufferedReader(new InputStreamReader(System.in)));
        int n = next(in), m = next(in);
        List<List<Edge>> adj = new ArrayList<>();
        for (int i = 0; i <= n; i++) adj.add(new ArrayList<>());
        for (int i = 0; i < m; i++) {
            int a = next(in), b = next(in), w = next(in);
            adj.get(a).add(new Edge(b, w));
            adj.get(b).add(new Edge(a, w));
        }
        long[] best = new long[n + 1];
        Arrays.fill(best, -1);
        PriorityQueue<long[]> heap = new PriorityQueue<>(Comparator.comparingLong(x -> x[0]));
        heap.add(new long[] {0, next(in)});
        while (!heap.isEmpty()) {
            long[] top = heap.poll();
            int u = (int) top[1];
            if (best[u] != -1) continue;
            best[u] = top[0];
            for (Edge e : adj.get(u)) heap.add(new long[] {top[0] + e.w(), e.to()});
        }
        Shower shower = b -> Arrays.stream(b).skip(1).mapToObj(Long::toString)
            .collect(Collectors.joining(" "));
        System.out.println(shower.show(best));
    }

    static int next(StreamTokenizer in) throws IOException { in.nextToken(); return (int) in.nval; }
}
""",
        _GRAPH_TESTS,
    ),
    (
        "java",
        """
import java.util.Scanner;
class Helper { void run(String[] args) { System.out.println("no"); } }
class Power {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        var b = in.nextBigInteger(); var e = in.nextBigInteger(); var m = in.nextBigInteger();
        System.out.println(b.modPow(e, m));
    }
}
""",
        _POWER_TESTS,
    ),
    (
        "go",
        """
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Split(bufio.ScanWords)
	counts := map[string]int{}
	for in.Scan() {
		counts[in.Text()]++
	}
	words := make([]string, 0, len(counts))
	for word := range counts {
		words = append(words, word)
	}
	sort.Slice(words, func(i, j int) bool {
		a, b := words[i], words[j]
		return counts[a] > counts[b] || counts[a] == counts[b] && a < b
	})
	done := make(chan bool)
	go func() {
		for _, word := range words {
			fmt.Println(word, counts[word])
		}
		close(done)
	}()
	<-done
}
""",
        _WORDS_TESTS,
    ),
    (
        "rust",
        """
use std::collections::HashMap;
use std::io::{self, Read};

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    for (word, n) in rows {
        println!("{word} {n}");
    }
}
""",
        _WORDS_TESTS,
    ),
    (
        "bash",
        """
#!/bin/bash
set -euo pipefail
tr -s '[:space:]' '\\n' | { grep . || true; } | sort | uniq -c | sort -k1,1nr -k2,2 |
    awk '{print $2, $1}'
""",
        _WORDS_TESTS,
    ),
    (
        "bash",
        "read -r b e m\nr=1\nwhile ((e)); do ((e & 1)) && r=$((r * b % m))\n"
        "b=$((b * b % m)) e=$((e >> 1)); done\necho $((r % m))",
        _POWER_TESTS,
    ),
]

_NAMES = "ABCDEFGH"
_MACROS = "\n".join(
    f"#define {name} " + ",".join([inner] * 10)
    for name, inner in zip(_NAMES, "x" + _NAMES[:-1], strict=True)
)

HOSTILE_SOURCES: list[tuple[str, str]] = [
    ("c", '#include "/dev/zero"\nint main(void) {}'),
    ("c", '#include "/etc/shadow"\nint main(void) { puts("42"); }'),
    ("c", '#include "../../../../etc/passwd"\nint main(void) { puts("42"); }'),
    ("c", '__asm__(".incbin \\"/dev/zero\\"");\nint main(void) {}'),
    ("c", "char big[1u << 31] = {1};\nint main(void) {}"),
    ("c", "#include __FILE__\nint main(void) {}"),
    ("c", f"{_MACROS}\nint x, y[] = {{H, H, H, H}};\nint main(void) {{}}"),
    ("c", '#pragma GCC poison main\nint main(void) { puts("42"); }'),
    ("c", "int main(void) {" + "{" * 300_000),
    ("cpp", "template <int N> struct A : A<N + 1> {};\nA<0> a;\nint main() {}"),
    (
        "cpp",
        "constexpr long f(int n) { long s = 0; for (int i = 0; i < 2000000000; i++) s += i % n;"
        " return s; }\nconstexpr long x = f(3);\nint main() {}",
    ),
    ("cpp", "struct S { char a[1 << 30]; constexpr S() : a{1} {} } s;\nint main() {}"),
    ("rust", 'static X: &[u8] = include_bytes!("/dev/zero");\nfn main() { print!("{}", X[0]); }'),
    ("rust", "macro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)*); } }\nm!(a);\nfn main() {}"),
    ("go", "package main\n\nvar x [1 << 40]byte\n\nfunc main() { println(x[3]) }"),
    ("go", 'package main\n\n// #include <stdlib.h>\nimport "C"\n\nfunc main() { C.exit(0) }'),
    ("typescript", "const x = " + "[" * 100_000 + "]" * 100_000),
    ("java", "class Main { void main(int[] args) {} }"),
]
