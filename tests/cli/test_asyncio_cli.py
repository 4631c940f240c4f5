"""Real code by the command line, as somebody who has never seen Porcini meets it: in processes of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import porcini
from forking import Forking

SOURCE = str(Path(porcini.__file__).parents[1])
PROGRAMS = {
    "lost": """
        import asyncio

        class Counter:
            value = 0

            def __init__(self):
                self.value = 0

        async def increment(counter):
            seen = counter.value
            await asyncio.sleep(0)
            counter.value = seen + 1

        async def main():
            counter = Counter()
            await asyncio.gather(increment(counter), increment(counter))
            print("printed by a run")
            assert counter.value == 2, f"lost: {counter.value}"

        def made():
            async def inner():
                await main()
            return inner

        alias = made()

        async def returns():
            counter = Counter()
            await asyncio.gather(increment(counter), increment(counter))
            return counter.value
    """,
    "dead": """
        import asyncio

        async def transfer(one, two):
            async with one:
                await asyncio.sleep(0)
                async with two:
                    pass

        async def main():
            a, b = asyncio.Lock(), asyncio.Lock()
            async with asyncio.TaskGroup() as group:
                group.create_task(transfer(a, b), name="out")
                group.create_task(transfer(b, a), name="in")

        async def others():
            queue, event = asyncio.Queue(), asyncio.Event()
            future = asyncio.get_running_loop().create_future()

            async def on(what):
                await what

            async def polls():
                while not event.is_set():
                    await asyncio.sleep(0)

            tasks = [asyncio.create_task(on(what)) for what in (queue.get(), event.wait(), future)]
            await asyncio.wait([*tasks, asyncio.create_task(polls())])

        async def leaves_it_locked():
            lock = asyncio.Lock()

            async def takes():
                await lock.acquire()

            await asyncio.gather(takes(), takes())
    """,
    "fails": """
        import asyncio

        async def boom(number):
            await asyncio.sleep(0)
            raise ValueError(f"boom {number}\\nand more")

        async def group():
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(boom(1))

        async def in_library():
            asyncio.Queue().get_nowait()

        async def returns_much():
            return list(range(1000))

        async def wants(something):
            pass

        not_a_function = 3
    """,
    "slow": """
        import asyncio, time

        async def busy():
            async def work():
                for _ in range(100):
                    until = time.process_time() + 0.05
                    while time.process_time() < until:
                        pass
                    await asyncio.sleep(0)

            await asyncio.gather(work(), work())
    """,
    "broken": "def f(:\n    pass\n",
    "needs": "import nothing_of_this_name\n",
    "raises": "def check():\n    raise RuntimeError('no database')\ncheck()\n",
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text).lstrip("\n"))
    return folder


LOADED = (
    "porcini.cli",
    "porcini.coroutines.code",
    "porcini.coroutines.comparing",
    "porcini.coroutines.explaining",
)


@pytest.fixture(scope="module")
def forking():
    process = Forking(LOADED, environment=os.environ | {"PYTHONPATH": SOURCE})
    yield process
    process.close()


@pytest.fixture
def call(here, forking):
    def run(*arguments: str, columns: int = 160, folder: Path = here) -> tuple[int, str, str]:
        return forking(*arguments, folder=folder, environment={"COLUMNS": str(columns)})

    return run


@pytest.fixture
def start(here):
    """The same in processes that are started for it."""

    def run(*arguments: str, columns: int = 160, folder: Path = here) -> tuple[int, str, str]:
        environment = os.environ | {"PYTHONPATH": SOURCE, "COLUMNS": str(columns)}
        done = subprocess.run(
            [sys.executable, "-m", "porcini", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


def pasted(out: str) -> list[str]:
    return shlex.split(next(line for line in out.splitlines() if line.startswith("porcini replay")))[1:]


def test_a_failure_in_two_orders(start) -> None:
    status, out, err = start("explore", "lost:main")
    assert (status, err) == (1, "")
    assert out.startswith("It can fail: 2 outcomes in 4 schedules.\n")
    assert "printed by a run" not in out
    assert "AssertionError: lost: 1\n    lost.py:18 in main  assert counter.value == 2" in out
    assert re.search(r"this order fails +this order passes\n", out)
    assert re.search(r"\n> 0\.1 .* 0\.0 +increment +ends\n", out)
    assert re.search(r"reads +Counter.value = 0 +:10 +seen = counter.value", out)
    assert re.search(r"writes +Counter.value = 2 +:12 +counter.value = seen \+ 1", out)
    assert max(map(len, out.splitlines())) <= 160 and "\x1b" not in out
    again = start(*pasted(out))
    assert again[0] == 1
    assert again[1].startswith("printed by a run\nFailed after 6 steps: AssertionError: lost: 1.\n")
    assert re.search(r"0\.1 +increment +ends\n +writes Counter.value = 1", again[1])


def test_a_function_is_known_by_the_name_that_was_given(call) -> None:
    out = call("explore", "lost:alias")[1]
    assert pasted(out)[:2] == ["replay", "lost:alias"]
    assert call(*pasted(out))[0] == 1


def test_returned_values_that_differ(call) -> None:
    status, out, _ = call("explore", "lost:returns", "--deterministic")
    assert status == 1 and out.startswith("The order matters: 2 outcomes in 4 schedules.")
    assert re.search(r"this order +and this one\n", out)
    assert re.search(r"\n  returns 2 +returns 1\n", out)
    lines = [line for line in out.splitlines() if line.startswith("porcini replay")]
    assert len(lines) == 2
    ends = [re.findall(r"returns (\d)\n", call(*shlex.split(line)[1:])[1]) for line in lines]
    assert ends == [["2"], ["1"]]
    assert call("explore", "lost:returns")[0] == 0


def test_little_room(call) -> None:
    _, out, _ = call("explore", "lost:main", columns=80)
    assert max(map(len, out.splitlines())) <= 80
    kinds = re.findall(r"^  (both orders|this order \w+)$", out, re.MULTILINE)
    assert kinds == ["both orders", "this order fails", "this order passes"]
    assert len(re.findall(r"^> ", out, re.MULTILINE)) == 2
    _, out, _ = call("explore", "lost:main", columns=400)
    assert max(map(len, out.splitlines())) <= 200


def test_a_deadlock_says_who_waits_for_whom(call) -> None:
    status, out, _ = call("explore", "dead:main")
    assert status == 1 and out.startswith("It can deadlock: 2 outcomes in ")
    told = out.partition("Deadlock: ")[2].partition("\n\n")[0].splitlines()
    assert told == [
        "main, out and in wait for ever:",
        "  0    main  waits in TaskGroup for 0.0 (out), 0.1 (in)",
        "         dead.py:11 in main  async with asyncio.TaskGroup() as group:",
        "  0.0  out   waits in Lock#2.acquire() for 0.1 (in), which holds it",
        "         dead.py:6 in transfer  async with two:",
        "  0.1  in    waits in Lock#1.acquire() for 0.0 (out), which holds it",
        "         dead.py:6 in transfer  async with two:",
        "  in a cycle: 0.0 (out) -> 0.1 (in) -> 0.0 (out)",
    ]
    assert re.search(r"takes +Lock#1", out) and re.search(r"finds +Lock#1 taken", out)
    assert "_locked" not in out and "locks.py" not in out.partition("note:")[0]
    again = call(*pasted(out))
    assert again[0] == 1 and "Lock#2.acquire() for 0.1 (in), which holds it" in again[1]
    found = json.loads(call("explore", "dead:main", "--json")[1])["outcomes"][0]["waiting"]
    assert [(w["pid"], w["waits_for"], w["file"]) for w in found[1:]] == [
        ("0.0", ["0.1"], "dead.py"),
        ("0.1", ["0.0"], "dead.py"),
    ]


def test_what_else_one_can_wait_for(call) -> None:
    _, out, _ = call("explore", "dead:others")
    assert out.startswith("It deadlocks in every order: ")
    for text in (
        "waits in asyncio.wait() for 0.0 (on), 0.1 (on), 0.2 (on), 0.3 (polls)",
        "waits in Queue.get(): it is empty",
        "waits in Event.wait(): nobody sets it",
        "waits for a future: nobody completes it",
        "asking again and again: nobody changes what it looks at",
    ):
        assert text in out
    _, out, _ = call("explore", "dead:leaves_it_locked")
    assert re.search(r"waits in Lock.acquire\(\) for 0\.\d, which has ended and not released it", out)


def test_exceptions_are_placed_in_the_users_code(call) -> None:
    status, out, _ = call("explore", "fails:group")
    assert status == 1 and out.startswith("It fails in every order: ")
    assert "\nValueError: boom 1\nand more\n    fails.py:5 in boom  raise ValueError" in out
    assert "\n  ValueError: boom 1 at fails.py:5\n" in out
    status, out, _ = call("explore", "fails:in_library", "--json")
    assert status == 1
    failure = json.loads(out)["outcomes"][0]["failures"][0]
    assert (failure["message"], failure["file"], failure["at"]) == ("QueueEmpty", "fails.py", "12:1")
    _, out, _ = call("explore", "fails:returns_much")
    assert max(map(len, out.splitlines())) < 160


def test_json_is_all_there_is_on_standard_output(start) -> None:
    status, out, err = start("explore", "lost:main", "--json")
    found = json.loads(out)
    assert (status, err) == (1, "")
    status, out, err = start("replay", "lost:main", found["counterexample"]["schedules"][0], "--json")
    assert (status, err) == (1, "printed by a run\n")
    assert json.loads(out)["verdict"] == "violated"
    assert start("run", "lost:main")[1].startswith("printed by a run\n")
    status, out, _ = start("explore", "lost:main", "--quiet")
    assert (status, out) == (1, "It can fail: 2 outcomes in 4 schedules.\n")


def test_a_time_limit_within_a_step_is_no_fault_of_the_program(call) -> None:
    status, out, err = call("explore", "slow:busy", "--timeout", "0.3")
    assert (status, err) == (3, "")
    assert out.startswith("Unknown: 0 outcomes in 0 schedules, stopped by the time limit of 0.3 s.")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["broken:f"], "broken.py:1:7: error: cannot be imported: invalid syntax\n  def f(:\n        ^"),
        (["raises:f"], "raises.py:2:5: error: cannot be imported: RuntimeError: no database"),
        (["needs:f"], "needs.py:1:1: error: cannot be imported: ModuleNotFoundError: No module named"),
        (["nowhere:f"], "nowhere:f: error: there is no module `nowhere`"),
        (["lost.py:main"], "name the module, not the file: lost:main"),
        (["./lost.py:main"], "named by its module: lost:main"),
        (["lost:nothing"], "there is no `nothing` in it"),
        (["fails:not_a_function"], "`not_a_function` is not a coroutine function"),
        (["fails:wants"], "missing a required argument: 'something' (explore a function without parameters"),
        (["lost:main", "--engine", "all"], "--engine all is not for coroutine functions"),
    ],
)
def test_bad_input_is_one_error(call, arguments, said) -> None:
    status, out, err = call("explore", *arguments)
    assert (status, out) == (2, "")
    assert said in err and "Traceback" not in err


def test_reports_of_a_script(here) -> None:
    """Printed as by the command line; what is to be pasted works where the function can be found."""
    (here / "script.py").write_text(
        textwrap.dedent(
            """
            import asyncio, sys
            import lost, porcini

            print(porcini.explore(lost.main))
            print(repr(porcini.explore(lost.returns)))

            async def local(times=2):
                counter = lost.Counter()
                await asyncio.gather(*(lost.increment(counter) for _ in range(times)))
                assert counter.value == times

            print(porcini.explore(local))
            print(porcini.explore(local, args=(2,), mode="fifo"))
            """
        )
    )
    environment = os.environ | {"PYTHONPATH": SOURCE, "COLUMNS": "160"}
    command = [sys.executable, str(here / "script.py")]
    done = subprocess.run(command, cwd=here.parent, env=environment, capture_output=True, text=True, check=True)
    out = done.stdout
    assert out.startswith("It can fail: 2 outcomes in 4 schedules.\n")
    assert "<Report of explore lost:returns: holds>" in out
    assert f'cd {here.name} && porcini replay lost:main "0 0.0 0.1x2 0.0 0"' in out
    assert '\nporcini.replay(local, "0 0.0 0.1x2 0.0 0")\n' in out
    assert re.search(r'\nporcini\.replay\(local, "[^"]+", args=\(2,\), mode="fifo"\)\n', out)


ROOT = Path(__file__).parents[2]
START = "AssertionError: assert -5 >= 0 at test_bank.py:15"


def shown_in(page: str, start: str) -> list[list[str]]:
    """The examples of a page that have a line which begins so."""
    blocks = (ROOT / page).read_text().split("```")[1::2]
    examples = [block.splitlines()[1:] for block in blocks if block.startswith("\n")]
    return [lines for lines in examples if any(line.startswith(start) for line in lines)]


def appears(example: list[str], printed: list[str]) -> None:
    """Its lines are printed, in this order; `...` stands for any lines, and nothing else is left out."""
    at, gap = 0, True
    for line in example:
        if line == "...":
            gap = True
            continue
        assert line in printed[at:], line
        found = printed.index(line, at)
        assert gap or found == at, f"something comes before: {line}"
        at, gap = found + 1, False


def test_the_page_shows_what_is_printed(start) -> None:
    examples = shown_in("docs/asyncio.md", "$ porcini")
    assert len(examples) == 3
    for command, *lines in examples:
        out = start(*command.split()[2:], columns=140, folder=ROOT / "examples/asyncio")[1]
        appears(lines, out.splitlines())


@pytest.mark.parametrize("page, folder", [("docs/asyncio.md", "examples/asyncio"), ("README.md", ".")])
def test_pages_show_what_pytest_prints(page, folder) -> None:
    (lines,) = shown_in(page, START)
    installed = any(point.name == "porcini" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "porcini.pytest_plugin"]
    tests = ["-p", "no:cacheprovider", os.path.relpath(ROOT / "examples/asyncio/test_bank.py", ROOT / folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *tests],
        cwd=ROOT / folder,
        env=os.environ | {"PYTHONPATH": SOURCE, "COLUMNS": "140"},
        capture_output=True,
        text=True,
        check=False,
    )
    appears(lines[lines.index(f"{START}, in schedule 2, mode any.") :], done.stdout.splitlines())


# Faults -------------------------------------------------------------------------------------------------------

EXAMPLES = ROOT / "examples/asyncio"
FETCH = ("--errors", "TimeoutError=outages:fetch")


@pytest.mark.parametrize(
    "name, options, head",
    [
        ("jobs", ("--cancel", "any"), "It can fail: 3 outcomes in "),
        ("jobs", ("--cancel", "2"), "It can fail: 3 outcomes in "),
        ("transfer", ("--timeouts",), "It can fail: 2 outcomes in "),
        ("readers", FETCH, "It can deadlock: 2 outcomes in "),
    ],
)
def test_faults_are_options(call, name, options, head) -> None:
    status, out, err = call("explore", f"outages:{name}", *options, folder=EXAMPLES)
    assert (status, err) == (1, "")
    assert out.startswith(head)
    status, out, err = call(*pasted(out), folder=EXAMPLES)
    assert (status, err) == (1, "")
    assert "    fault: " in out
    assert call("explore", f"outages:{name}_mended", *options, folder=EXAMPLES)[0] == 0


def test_json_names_faults(call) -> None:
    outcomes = json.loads(call("explore", "outages:transfer", "--timeouts", "--json", folder=EXAMPLES)[1])[
        "outcomes"
    ]
    assert outcomes[0]["faults"] == ["a timeout fires before its time, which is 1 s"]


@pytest.mark.parametrize(
    "options, said",
    [
        (("--cancel", "9"), "there is no task 9 to cancel (0 is jobs (0), 1 is job (0.0), 2 is job (0.1))"),
        (("--cancel", "first"), "wants the number of a task or `any`, not 'first'"),
        (("--cancel", "any", "--mode", "fifo"), "`cancel` is not for mode fifo"),
        (("--errors", "TimeoutError"), "--errors wants CLASS=MODULE:FUNCTION, not 'TimeoutError'"),
        (("--errors", "Nothing=outages:fetch"), "`Nothing` is not an exception class"),
        (("--errors", "int=outages:fetch"), "`int` is not an exception class"),
        (("--errors", "outages:Pool=outages:fetch"), "`outages:Pool` is not an exception class"),
        (("--errors", "OSError=outages:fetches"), "there is no `fetches` in `outages:fetches`"),
        (("--errors", "OSError=outage:fetch"), "there is no module for `outage:fetch`"),
        (("--errors", "OSError=outages:Pool"), "is a class: name one of its methods"),
        (("--max-faults", "0"), "wants a whole number of at least 1, not '0'"),
    ],
)
def test_bad_faults(call, options, said) -> None:
    status, out, err = call("explore", "outages:jobs", *options, folder=EXAMPLES)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_schedule_with_a_fault_that_does_not_fit(call) -> None:
    status, _, err = call("replay", "outages:jobs", "0 2.0.7", folder=EXAMPLES)
    assert status == 2
    assert "process 2.0.7 cannot move here (0.0, 0.1 can)" in err
