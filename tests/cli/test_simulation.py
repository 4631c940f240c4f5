"""Following one run: step by step with a person, again with what each step changed, and in the words of SPIN."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from cli.test_promela_cli import found, pml  # noqa: F401  (fixtures)

RACE, MUTEX = "examples/promela/race.pml", "examples/promela/mutex.pml"
LOST_UPDATE = "0x2 1 2x3 1x2 0x2"
PROGRAMS = {
    "gcl": ["examples/gcl/vineyard.gcl"],
    "par": ["examples/par/withdrawals.par", "--input", "balance=5"],
    "abs": ["examples/abs/account.abs"],
    "pml": [RACE],
    "maude": ["examples/maude/table.maude"],
}
needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="SPIN is not installed")
needs_compiler = pytest.mark.skipif(shutil.which("tcc") is None, reason="tcc is not installed")


@pytest.fixture
def simulate(porcini, monkeypatch):  # noqa: F811
    """Run `run --interactive` with these lines as standard input; give its exit status and what it printed."""

    def call(lines: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        status, out, err = porcini("run", *arguments, "--interactive")
        assert err == ""
        return status, out

    return call


# A seeded run


def test_a_run_says_by_which_seed_it_can_be_repeated(porcini, found) -> None:  # noqa: F811
    status, out, _ = porcini("run", RACE, "--seed", "3")
    assert "\nseed: 3\n" in out and porcini("run", RACE, "--seed", "3") == (status, out, "")
    reports = [found("run", RACE, "--seed", str(seed))[1] for seed in range(8)]
    assert [report["seed"] for report in reports] == list(range(8))
    assert len({report["outcomes"][0]["schedule"] for report in reports}) > 1


# A person chooses


@pytest.mark.parametrize("language", PROGRAMS)
def test_every_language_can_be_simulated(simulate, porcini, language) -> None:  # noqa: F811
    if language == "maude":
        pytest.importorskip("maude")
    file, *options = PROGRAMS[language]
    status, out = simulate("1\n1\nb\nq\n", file, *options)
    assert status == 0 and out.count("\nstep 1: ") == 2 and "\nstep 2: " in out
    pasted = shlex.split(out.splitlines()[-1])
    assert pasted[:3] == ["porcini", "replay", file] and pasted[-2:] == ["--stop-at", "1"]
    assert porcini(*pasted[1:])[0] == 3


def test_a_choice_has_process_line_and_text(simulate) -> None:
    _, out = simulate("1\n1\n2\nq\n", RACE)
    assert "\n1  0 (init)  line 14  run Adder()\n> 1\n" in out
    assert "\n1  1 (Adder)  line 9  seen = counter\n2  2 (Adder)  line 9  seen = counter\n> 2\n" in out
    assert "\nstep 3: 2 (Adder) line 9  seen = counter\n" in out
    assert out.endswith(f'\nschedule: 0x2 2\n  porcini replay {RACE} "0x2 2" --stop-at 3\n')


def test_a_whole_run_is_replayed_as_it_is(simulate, porcini, pml) -> None:  # noqa: F811
    model = pml('byte x; init { printf("hi %d\\n", x); x = N; assert(x == 2) }')
    status, out = simulate("1\n1\n1\nq\n", model, "-D", "N=3", "--printf")
    assert status == 0 and "> 1\nhi 0\n" in out and "  x: 0 -> 3\n" in out
    assert f"Failed after 3 steps: x=3\n\nProcess 0 stopped at {model}:1:" in out
    pasted = shlex.split(out.splitlines()[-1])
    assert pasted == ["porcini", "replay", model, "-D", "N=3", "0x3"]
    status, again, _ = porcini(*pasted[1:])
    assert status == 1 and again.startswith("Failed after 3 steps")


def test_a_deadlock_ends_a_simulation_and_can_be_taken_back(simulate, pml) -> None:  # noqa: F811
    _, out = simulate("1\n1\nb\nq\n", pml("byte x; active proctype P() {\n  x = 1; x == 2 }"))
    assert "Deadlock after 1 step: x=1\n" in out and "0 (P) waits at " in out
    assert "> 1\nnothing can move; a number takes" in out
    assert "> b\n\nat first: x=0\n1  0 (P)  line 2  x = 1\n> q\n" in out


def test_watching(simulate) -> None:
    _, out = simulate("w counter\n1\n1\nw 1.seen\n1\n1\nw counter\nw\nw conter\nw zzz\nq\n", RACE)
    assert "> w counter\nwatched: counter=0\n" in out
    assert "watched: counter=0  1.seen=0\n" in out and "watched: counter=1  1.seen=0\n" in out
    assert "> w counter\nwatched: 1.seen=0\n> w\nnothing is watched\n" in out
    assert "> w conter\ncannot watch `conter`: no such variable (close to it: counter)\n" in out
    assert "> w zzz\ncannot watch `zzz`: no such variable (known: 1.seen, 2.seen, counter)\n" in out


@pytest.mark.parametrize("line", ["huh", "0", "7", "-1", "b 1", "1 2", ""])
def test_what_is_not_a_command_gets_one_line_of_help(simulate, line) -> None:
    status, out = simulate(f"{line}\n", RACE)
    (said,) = re.findall(rf"> {re.escape(line)}\n(.*)\n", out)
    assert status == 0 and said.endswith("; q: leave")


def test_the_end_of_the_input_leaves(simulate) -> None:
    status, out = simulate("", RACE)
    assert status == 0 and out.endswith(f'  porcini replay {RACE} "" --stop-at 0\n')
    assert "this is the beginning" in simulate("b\n", RACE)[1]


def test_a_schedule_comes_first(simulate, porcini) -> None:  # noqa: F811
    _, out = simulate("q\n", RACE, "--schedule", "0x2 2")
    assert out.startswith("\nstep 3: 2 (Adder) line 9  seen = counter\n")
    status, _, err = porcini("run", RACE, "--interactive", "--schedule", "0 7")
    assert status == 2 and "step 2: process 7 cannot move here" in err


@pytest.mark.parametrize("option", ["--json", "--trace=run.jsonl", "--seed=4"])
def test_what_does_not_go_with_a_person(porcini, option) -> None:  # noqa: F811
    status, _, err = porcini("run", RACE, "--interactive", option)
    assert status == 2 and f"{option.partition('=')[0]} does not go with --interactive" in err


def test_real_code_is_not_simulated(porcini, tmp_path, monkeypatch) -> None:  # noqa: F811
    (tmp_path / "simulated_code.py").write_text("async def main():\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for arguments in (
        ["run", "--interactive"],
        ["replay", "0", "--stop-at", "0"],
        ["replay", "0", "--watch", "x"],
    ):
        status, _, err = porcini(arguments[0], "simulated_code:main", *arguments[1:])
        assert status == 2 and "is not for coroutine functions" in err


# Replaying


def test_every_step_says_what_it_changed(porcini, found) -> None:  # noqa: F811
    _, out, _ = porcini("replay", RACE, LOST_UPDATE)
    assert "\n5   2  counter = seen + 1    counter: 0 -> 1\n6   2  -end-\n" in out
    steps = found("replay", RACE, LOST_UPDATE)[1]["steps"]
    assert steps[4] == {
        "move": "2",
        "label": "counter = seen + 1",
        "process": "Adder",
        "line": 10,
        "changed": {"counter": [0, 1]},
    }
    assert len(steps) == 10 and not any(step["changed"] for step in steps if step is not steps[4])


def test_cells_channels_and_private_variables_change(porcini, pml) -> None:  # noqa: F811
    model = pml(
        "chan q = [2] of { byte, bool }; byte a[2]; mtype = { red }; mtype m;\n"
        "init { byte k; a[1] = 3; q!1,true; k = a[1]; m = red }"
    )
    _, out, _ = porcini("replay", model, "0x5")
    for change in ("a[1]: 0 -> 3", "q: [] -> [[1, true]]", "0.k: 0 -> 3", "m: 0 -> red"):
        assert f"  {change}\n" in out


def test_a_replay_shows_all_steps_of_a_long_run(porcini, pml) -> None:  # noqa: F811
    out = porcini("replay", pml("byte x; init { do :: x < 90 -> x++ :: else -> break od }"), "0x180 0/1 0")[1]
    assert len(re.findall(r"^\d+ ", out, re.MULTILINE)) == 182 and "  x: 89 -> 90\n" in out


def test_stopping_on_the_way(porcini, found) -> None:  # noqa: F811
    status, out, err = porcini("replay", RACE, LOST_UPDATE, "--stop-at", "4")
    assert (status, err) == (3, "") and out.startswith("Stopped after 4 steps, before the end.\n")
    assert (
        "\ncounter=0  1.seen=0  2.seen=0\n\nWhat can go next:\n1  1 (Adder)  line 10  counter = seen + 1\n" in out
    )
    assert out.endswith("\nschedule: 0x2 1 2\n")
    report = found("replay", RACE, LOST_UPDATE, "--stop-at", "4")[1]
    assert report["snapshot"]["state"] == {"counter": 0, "1.seen": 0, "2.seen": 0}
    assert [step["move"] for step in report["snapshot"]["enabled"]] == ["1", "2"]
    assert (report["verdict"], report["outcomes"], len(report["steps"])) == ("unknown", [], 4)


def test_stopping_at_the_end_is_not_stopping(found) -> None:  # noqa: F811
    status, stopped = found("replay", RACE, LOST_UPDATE, "--stop-at", "10")
    assert (status, stopped) == found("replay", RACE, LOST_UPDATE) and "snapshot" not in stopped


def test_stopping_beyond_the_end(porcini) -> None:  # noqa: F811
    status, _, err = porcini("replay", RACE, LOST_UPDATE, "--stop-at", "11")
    assert (
        status == 2
        and err == "error: cannot stop after step 11: the schedule has 10 steps (--stop-at 10, or less)\n"
    )
    assert porcini("replay", RACE, LOST_UPDATE, "--stop-at", "few")[0] == 2


def test_watched_variables_are_shown_where_they_change(porcini, found) -> None:  # noqa: F811
    options = ("--watch", "1.seen", "--watch", "counter")
    _, out, _ = porcini("replay", RACE, "0x2 2x3 1x3 0x3", *options)
    assert "\nat first: counter=0\n" in out
    assert re.findall(r"  (\S+: .*)", out) == [
        "1.seen: none -> 0", "counter: 0 -> 1", "1.seen: 0 -> 1", "counter: 1 -> 2", "1.seen: 1 -> none",
    ]  # fmt: skip
    report = found("replay", RACE, "0x2 2x3 1x3 0x3", *options)[1]
    assert report["watched"] == {"1.seen": None, "counter": 0}
    assert report["steps"][0]["changed"] == {"1.seen": [None, 0]}


def test_a_cell_can_be_watched_through_a_loop(porcini) -> None:  # noqa: F811
    _, out, _ = porcini("replay", MUTEX, "1", "--loop", "1x7", "--watch", "wants[1]")
    assert (
        "\nat first: wants[1]=false\n" in out and re.findall(r"(\S+): (?:true|false) ->", out) == ["wants[1]"] * 3
    )
    assert '\nschedule: "1" --loop "1x7"\n' in out
    assert porcini("replay", MUTEX, "1", "--loop", "1x7", "--stop-at", "5")[0] == 3


@pytest.mark.parametrize(
    "name, hint",
    [("conter", "close to it: counter"), ("seen", "close to it: 1.seen, 2.seen)"), ("q", "known: 1.seen, 2.seen")],
)
def test_watching_what_is_not_there(porcini, name, hint) -> None:  # noqa: F811
    status, out, err = porcini("replay", RACE, LOST_UPDATE, "--watch", name)
    assert (status, out) == (2, "") and f"cannot watch `{name}`: no such variable ({hint}" in err


# Trails of SPIN's

RENDEZVOUS = """\
chan c = [0] of { byte };
chan q = [2] of { byte, bool };
byte x;
#define ADD(a, b) a + b
proctype R(byte n) {
  byte y;
  c?y; atomic { x = ADD(y, n); q!y,1 }
}
init {
  byte k;
  atomic { run R(3); run R(4) };
  d_step { k = 1; k++; x = k };
  do
  :: k < 4 -> c!k; k++
  :: else -> break
  od;
  if :: x > 200 -> skip :: else fi;
  q?k,_;
  printf("99:\\tproc  0 (init:1) model.pml:1 (state 1)\\t[x = 5]\\n");
  assert(x != 6)
}
"""
GOES_ROUND = """\
byte x; bool f;
active proctype P() { do :: x = 1 - x :: f -> f = 0 od }
active proctype Q() { do :: x == 1 -> x = 0; f = 1 od }
ltl p { <> f }
"""
STUCK = """\
byte x;
active [2] proctype P() { atomic { x == 0 -> x = 1 }; for (x : 1 .. 3) { skip; skip } }
"""
NEVER = """\
byte x;
active proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od }
never { do :: x == 2 -> break :: else od }
"""


@pytest.fixture
def by_pan(pml):  # noqa: F811
    """Let SPIN verify a model; give the model's file and that of the trail."""

    def call(text: str, *options: str) -> tuple[str, str]:
        model = Path(pml(text))

        def run(*words: str) -> None:
            subprocess.run(words, cwd=model.parent, capture_output=True, check=True, timeout=100)

        run("spin", *options, "-a", model.name)
        run("tcc", "-w", "-o", "pan", "pan.c")
        run("./pan", "-a", "-m1000")
        return str(model), f"{model}.trail"

    return call


def simulated(model: str, trail: str) -> str:
    """What SPIN prints under a trail."""
    return subprocess.run(
        ["spin", "-t", "-p", "-k", Path(trail).name, Path(model).name],
        cwd=Path(model).parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout


def steps_in(said: str) -> list[tuple[str, str]]:
    """Who did what, in SPIN's words."""
    return re.findall(r"^ *\d+:\s+proc +(\d+) .*\[(.*)\]", said, re.MULTILINE)


@needs_spin
@needs_compiler
@pytest.mark.parametrize("options", [[], ["-o3"]], ids=["merged", "not merged"])
@pytest.mark.parametrize(
    "text, status, first",
    [
        (RENDEZVOUS, 1, "Failed after 20 steps: assertion `x != 6` failed."),
        (Path(RACE).read_text(), 1, "Failed after 10 steps: assertion `counter == 2` failed."),
        (GOES_ROUND, 1, "Endless: the last 2 steps of 5 steps lead back to where they begin."),
        (STUCK, 1, "Deadlock after "),
        (NEVER, 3, "Stopped after 4 steps, before the end."),
    ],
    ids=["rendezvous", "race", "loop", "deadlock", "never"],
)
def test_trails_of_pan_there_and_back(porcini, by_pan, text, status, first, options) -> None:  # noqa: F811
    """A trail is followed, written down again, and SPIN does the same under both."""
    model, trail = by_pan(text, *options)
    got, out, err = porcini("replay", model, "--trail", trail, "--write-trail", f"{model}.own")
    assert (got, err) == (status, "") and out.startswith(first)
    said = simulated(model, trail), simulated(model, f"{model}.own")
    assert steps_in(said[0]) == steps_in(said[1]) != []
    assert all(("START OF CYCLE" in each) == (text == GOES_ROUND) for each in said)


@needs_spin
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("model", [RACE, "examples/promela/bounded_buffer.pml"])
def test_runs_of_ours_as_trails(porcini, found, tmp_path, model, seed) -> None:  # noqa: F811
    schedule = found("run", model, "--seed", str(seed))[1]["outcomes"][0]["schedule"]
    trail = str(tmp_path / "run.trail")
    status, out, _ = porcini("replay", model, schedule, "--write-trail", trail)
    assert porcini("replay", model, "--trail", trail)[:2] == (status, out)


@needs_spin
def test_the_start_of_a_run_and_a_loop_as_trails(porcini, tmp_path) -> None:  # noqa: F811
    trail = str(tmp_path / "run.trail")
    for words in (["1", "--loop", "1x7"], ["1x5", "--stop-at", "5"], ["1x5", "--stop-at", "3"]):
        status, out, err = porcini("replay", MUTEX, *words, "--write-trail", trail)
        assert err == "" and porcini("replay", MUTEX, "--trail", trail)[:2] == (status, out)


@needs_spin
def test_macros_and_includes_do_not_disturb_trails(porcini, pml, tmp_path) -> None:  # noqa: F811
    """SPIN gets what is left of them, by our lines; the numbers are those of the file itself."""
    pml("byte x\nproctype P(byte n) {\n  x = n;\n  x = n + 1\n}\n", "part.h")
    model = pml('#include "part.h"\n#define TWICE(a) a; a\n\ninit {\n  TWICE(run P(N)); x = 9 }\n')
    trail = str(tmp_path / "run.trail")
    schedule = "0x2 1 2 0 2x2 1x2 0"
    status, out, err = porcini("replay", model, "-D", "N=3", schedule, "--write-trail", trail)
    assert (status, err) == (0, "")
    assert porcini("replay", model, "-D", "N=3", "--trail", trail) == (0, out, "")
    said = subprocess.run(
        ["spin", "-DN=3", "-t", "-p", "-k", trail, "model.pml"], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert [text for _, text in steps_in(said)][-4:] == ["x = n", "x = 9", "x = (n+1)", "x = (n+1)"]


@needs_spin
@pytest.mark.parametrize(
    "trail, message",
    [
        ("", "the trail is empty"),
        ("hello\n", "line 1 is not of a trail: 'hello' (pan writes DEPTH:PROCESS:ID)"),
        ("1:0:3\n2:0:4\n3:2:1\n", "in step 3 process 2 does `counter = (seen+1)` in line 10, and cannot do that"),
        ("1:0:3\n2:0:4\n3:7:99\n", "the trail does not fit the model: SPIN lost it after 2 steps"),
    ],
)
def test_trails_that_do_not_fit(porcini, tmp_path, trail, message) -> None:  # noqa: F811
    file = tmp_path / "bad.trail"
    file.write_text(trail)
    status, out, err = porcini("replay", RACE, "--trail", str(file))
    assert (status, out) == (2, "") and err.startswith(f"{file}: error: ") and message in err


@needs_spin
def test_a_model_that_spin_does_not_read(porcini, pml, tmp_path) -> None:  # noqa: F811
    model = pml("active proctype P() { L: goto M; d_step { skip; M: skip } }")
    status, _, err = porcini("replay", model, "0x2", "--write-trail", str(tmp_path / "no.trail"))
    assert status == 2 and err.startswith("error: SPIN does not read this model: ") and "d_step" in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([RACE, LOST_UPDATE, "--trail", "x"], "a trail is followed instead of a schedule"),
        ([RACE, "--trail", "no such file"], "no such file: error: cannot be read: No such file"),
        ([RACE, "--trail", "x", "--input", "counter=3"], "a trail does not go with `--input`"),
        (["examples/gcl/vineyard.gcl", "--trail", RACE], "trails are SPIN's, and for Promela models only"),
        ([RACE], "no schedule was given (or --trail FILE, or --tests FILE.json)"),
    ],
)
def test_bad_requests_about_trails(porcini, arguments, message) -> None:  # noqa: F811
    status, _, err = porcini("replay", *arguments)
    assert status == 2 and message in err and len(err.splitlines()) == 1


def test_without_spin_there_are_no_trails(porcini, monkeypatch, tmp_path) -> None:  # noqa: F811
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.trail").write_text("1:0:3\n")
    for words in (
        ["--trail", str(tmp_path / "a.trail")],
        [LOST_UPDATE, "--write-trail", str(tmp_path / "b.trail")],
    ):
        status, out, err = porcini("replay", RACE, *words, "--json")
        assert status == 2 and "which is not installed (`spin` must be found on the PATH" in err
        assert json.loads(out)["error"]["kind"] == "input" and len(err.splitlines()) == 1


# The page


PAGE = re.findall(r"^```console\n(.*?)^```$", Path("docs/promela.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page_shows_a_simulation(simulate) -> None:
    (block,) = (block for block in PAGE if "--interactive" in block)
    command, shown = block.split("\n", 1)
    typed, words = re.fullmatch(r"\$ printf '(.*)' \| porcini run (.*) --interactive", command).groups()
    assert simulate(typed.replace("\\n", "\n"), *shlex.split(words)) == (0, shown)


@needs_spin
@needs_compiler
def test_the_page_shows_trails(porcini, tmp_path, monkeypatch) -> None:  # noqa: F811
    (block,) = (block for block in PAGE if "--write-trail" in block)
    shutil.copy(RACE, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in re.findall(r"^\$ (.*)", block, re.MULTILINE):
        if command.startswith("porcini "):
            status, out, err = porcini(*shlex.split(command)[1:])
            assert (status, err) == (1, "") and out.startswith("Failed after 10 steps: assertion `counter == 2`")
        else:
            words = command.replace("cc -o", "tcc -w -o")
            subprocess.run(words, shell=True, capture_output=True, check=True, timeout=100)
    assert "text of failed assertion: assert((counter==2))" in simulated("race.pml", "mine.trail")
