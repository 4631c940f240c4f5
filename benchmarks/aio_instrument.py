"""What instrumentation costs: an attribute-heavy loop, plain and recorded, and recording one short schedule.

python benchmarks/aio_instrument.py
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from typing import Any

from porcini.langs.aio.hook import instrument_source, prepare, recording
from porcini.langs.aio.log import CREATED
from porcini.langs.aio.recorder import Recorder

SOURCE = """
class Box:
    def __init__(self, x=0):
        self.x = x
        self.y = 0
        self.z = 1

def loop(self, o, n):
    for _ in range(n):
        self.x += 1
        self.y = self.x + o.z

def calls(self, items, n):
    for i in range(n):
        items[i & 7] = step(self, i)

def step(self, i):
    if self.x:
        return self.x + i
    return i

def read(self):
    return self.x

def write(self, value):
    self.x = value + 1
"""


def module(instrument: bool) -> Any:
    made = types.ModuleType("bench")
    if instrument:
        prepare(vars(made), "bench")
        exec(instrument_source(SOURCE, "bench.py", "bench"), vars(made))
    else:
        exec(compile(SOURCE, "bench.py", "exec"), vars(made))
    return made


def best(work: Callable[[], object], repeat: int = 15) -> float:
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def schedule(code: Any, recorder: Recorder | None) -> None:
    """Two tasks, read then write, and a few steps around: six steps."""
    if recorder:
        recorder.start_run()
    box = None
    for index in range(6):
        if recorder:
            recorder.begin_step(index & 1, index)
        if box is None:
            box = code.Box()
            if recorder:
                CREATED.append(box)
        code.write(box, code.read(box))
        if recorder:
            recorder.end_step()


def main() -> None:
    n = 20_000
    plain, instrumented = module(False), module(True)
    recorder = Recorder()

    def recorded(work: Callable[[], object]) -> Callable[[], object]:
        def step() -> None:
            recorder.begin_step("0", 0)
            work()
            recorder.end_step()

        return step

    for name, work in {
        "attributes": lambda code: lambda: code.loop(code.Box(), code.Box(), n),
        "calls and items": lambda code: lambda: code.calls(code.Box(), [0] * 8, n),
    }.items():
        base = best(work(plain))
        idle = best(work(instrumented))
        with recording(recorder):
            recorder.start_run()
            full = best(recorded(work(instrumented)))
        print(
            f"{name:16} plain {base / n * 1e9:5.0f} ns   idle {idle / n * 1e9:5.0f} ns ({idle / base:.1f}x)   "
            f"recorded {full / n * 1e9:5.0f} ns ({full / base:.1f}x)"
        )
    base = best(lambda: schedule(plain, None), 300)
    with recording(recorder):
        full = best(lambda: schedule(instrumented, recorder), 300)
    print(f"six short steps  plain {base * 1e6:5.1f} us   recorded {full * 1e6:5.1f} us")


if __name__ == "__main__":
    main()
