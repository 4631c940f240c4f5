"""The programs that engines are compared on, as GCL text with parameters.

From the literature on dynamic partial order reduction (Flanagan and Godefroid 2005; Abdulla, Aronis, Jonsson and
Sagonas 2014 and 2017; Jonsson, Lang and Sagonas 2022). Every shared read or write is an event of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


def _program(bindings: str, processes: Iterable[str], main: str = "") -> str:
    spawns = [f"True |> spawn({process})" for process in processes]
    return f"{bindings}\n" + ";\n".join([*spawns, main] if main else spawns)


def readers(n: int) -> str:
    """One writer; n readers, each a private step and then one read."""
    reader = "{r |-> 0, True |> r := 1; True |> r := x}"
    return _program("x |-> 0,", ["True |> x := 42", *[reader] * n])


def lastzero(n: int) -> str:
    """Writers a[j] := a[j-1] + 1; one reader looks for the last zero from the end."""
    writers = [f"{{t |-> 0, True |> t := a[{j - 1}]; True |> a[{j}] := t + 1}}" for j in range(1, n + 1)]
    reader = f"{{i |-> {n}, a[i] != 0 |>* i := i - 1}}"
    return _program(f"a |-> [{', '.join(['0'] * (n + 1))}],", [reader, *writers])


def filesystem(n: int) -> str:
    """Threads allocate blocks for inodes, each under its lock: 32 inodes, 26 blocks."""
    zeros = {k: ", ".join(["0"] * k) for k in (26, 32)}
    take = "True |> busy[b] := 1; True |> inode[i] := b + 1; True |> lockb[b] := 0; True |> more := false"
    skip = "True |> lockb[b] := 0; True |> b := (b + 1) % 26"
    search = f"lockb[b] == 0 |> lockb[b] := 1; True |> v := busy[b]; ({take}) <| v == 0 |> ({skip})"
    threads = [
        f"{{i |-> {t % 32}, b |-> {2 * (t % 32) % 26}, v |-> 0, more |-> true,"
        f" locki[i] == 0 |> locki[i] := 1; True |> v := inode[i];"
        f" (more |>* ({search})) <| v == 0 |> skip; True |> locki[i] := 0}}"
        for t in range(n)
    ]
    return _program(
        f"inode |-> [{zeros[32]}], locki |-> [{zeros[32]}], busy |-> [{zeros[26]}], lockb |-> [{zeros[26]}],",
        threads,
    )


def indexer(n: int) -> str:
    """Threads insert four messages each into a hash table of 128 by compare-and-swap."""
    threads = []
    for tid in range(n):
        inserts = []
        for m in range(1, 5):
            w = 11 * m + tid
            swap = f"table[h] := {w} <| table[h] == 0 |> h := (h + 1) % 128"
            inserts.append(f"{{h |-> {7 * w % 128}, table[h] != {w} |>* ({swap})}}")
        threads.append("; ".join(inserts))
    return _program(f"table |-> [{', '.join(['0'] * 128)}],", threads)


def lastwrite(n: int) -> str:
    """Writers of one variable, each with a flag of its own; main awaits all flags, then reads."""
    flags = ", ".join(f"f{k} |-> false" for k in range(n))
    everyone = " and ".join(f"f{k}" for k in range(n))
    writers = [f"True |> x := {k + 1}; True |> f{k} := true" for k in range(n)]
    return _program(f"x |-> 0, {flags},", writers, f"{{r |-> 0, {everyone} |> skip; True |> r := x}}")


def floating_read(n: int) -> str:
    """Writers of one variable, and one reader."""
    writers = [f"True |> x := {k + 1}" for k in range(n)]
    return _program("x |-> 0,", [*writers, "{r |-> 0, True |> r := x}"])


def await_chain(n: int) -> str:
    """Thread i awaits its turn, writes, and passes the turn on."""
    threads = [f"turn == {i} |> skip; True |> x := {i}; True |> turn := {i + 1}" for i in range(n)]
    return _program("x |-> 0, turn |-> 0,", threads)


def spinlock(n: int) -> str:
    """Threads take a lock by one awaiting step, add one to x, and release it."""
    thread = "lock == 0 |> lock := 1; {r |-> 0, True |> r := x; True |> x := r + 1}; True |> lock := 0"
    return _program("x |-> 0, lock |-> 0,", [thread] * n)


def counter(n: int, private: int = 0) -> str:
    """Workers that read x into a local and write it back plus one, after some private steps."""
    steps = "True |> p := p + 1; " * private
    worker = f"{{r |-> 0, p |-> 0, {steps}True |> r := x; True |> x := r + 1}}"
    return _program("x |-> 0,", [worker] * n)


def independent(n: int) -> str:
    """Workers on variables of their own."""
    names = [f"x{k}" for k in range(n)]
    return _program(
        ", ".join(f"{x} |-> 0" for x in names) + ",", [f"True |> {x} := 1; True |> {x} := 2" for x in names]
    )


PROGRAMS: dict[str, Callable[[int], str]] = {
    "readers": readers,
    "lastzero": lastzero,
    "filesystem": filesystem,
    "indexer": indexer,
    "lastwrite": lastwrite,
    "floating_read": floating_read,
    "await_chain": await_chain,
    "spinlock": spinlock,
    "counter": counter,
    "independent": independent,
}


def _spawned(*processes: str) -> str:
    return "; ".join(f"True |> spawn({process})" for process in processes)


_SWITCHES = "a |-> true, b |-> true, x |-> 0,"
_OFF_AND_ON = "True |> {0} := false; True |> {0} := true"

TRAPS: dict[str, tuple[str, int, int]] = {
    "toggle": ("flag |-> true, x |-> 0, " + _spawned(_OFF_AND_ON.format("flag"), "flag |> x := 1"), 2, 1),
    "two switches": (
        _SWITCHES + _spawned("True |> a := false", "True |> b := false", "a and b |> x := 1"),
        2,
        2,
    ),
    "and a third to wait for": (
        "r |-> false, "
        + _SWITCHES
        + _spawned("True |> a := false", "True |> b := false", "True |> r := true", "a and b and r |> x := 1"),
        2,
        2,
    ),
    "two toggles": (
        _SWITCHES + _spawned(_OFF_AND_ON.format("a"), _OFF_AND_ON.format("b"), "a and b |> x := 1"),
        4,
        1,
    ),
    "window": (
        "n |-> 0, x |-> 0, "
        + _spawned("; ".join(["True |> n := n + 1"] * 4), "n == 2 |> x := 1", "n == 1 or n == 3 |> x := 2"),
        6,
        5,
    ),
}
"""Guards that are turned off again, with the numbers of classes and of outcomes, by brute force."""
