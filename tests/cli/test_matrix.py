"""Each cell of `porcini languages` is run, and the docs show the same table."""

from __future__ import annotations

import json

import pytest

from cli.test_cli import porcini  # noqa: F401
from docs_of import DOCS
from porcini.matrix import COMMANDS, as_markdown, matrix

PROGRAMS = {
    ".gcl": ("two.gcl", "x |-> 0, True |> spawn(True |> x := 1); True |> x := 2"),
    ".par": ("two.par", "x := 1 || x := 2"),
    ".abs": (
        "two.abs",
        "module M; import * from ABS.StdLib; interface I { Unit a(); Unit b(); }\n"
        "class C implements I { Int x = 0; Unit a() { x = 1; } Unit b() { x = 2; } }\n"
        "{ I c = new C(); c!a(); c!b(); }",
    ),
    ".pml": ("two.pml", "byte x; active proctype P() { x = 1 } active proctype Q() { x = 2 }"),
    ".maude": (
        "two.maude",
        "mod TWO is protecting NAT . sorts Thread Cell Conf . subsorts Thread Cell < Conf .\n"
        "op t : Nat Nat -> Thread [ctor] . op x : Nat -> Cell [ctor] . op none : -> Conf [ctor] .\n"
        "op __ : Conf Conf -> Conf [ctor assoc comm id: none] . vars I V : Nat .\n"
        "rl [set] : t(I, 1) x(V) => t(I, 0) x(I) . endm\n"
        "mod TWO-PROPS is protecting TWO . including SATISFACTION . subsort Conf < State . op two : -> Prop .\n"
        "var C : Conf . eq x(2) C |= two = true . endm",
    ),
    "module:function": (
        "two.py",
        "import asyncio\nasync def main():\n    x = []\n    async def add(n):\n        x.append(n)\n"
        "    await asyncio.gather(add(1), add(2))\n    return x\n",
    ),
}
DESCRIPTION = """
module = "TWO"
initial = "t(1, 1) t(2, 1) x(0)"
state = "Conf"
thread = "Thread"
tid = "Nat"
propositions = "TWO-PROPS"
"""
FORMULAS = {
    ".abs": "<> (0.0.x == 2)",
    ".gcl": "<> (x == 2)",
    ".par": "<> (x == 2)",
    ".pml": "<> (x == 2)",
    ".maude": "<> two",
}
ROWS = {row.name: row for row in matrix()}
CELLS = [(name, cell) for name, row in ROWS.items() for cell in row.cells]


@pytest.fixture
def files(tmp_path, monkeypatch) -> dict[str, str]:
    monkeypatch.syspath_prepend(str(tmp_path))
    for file, text in PROGRAMS.values():
        (tmp_path / file).write_text(text)
    (tmp_path / "two.toml").write_text(DESCRIPTION)
    return {name: "two:main" if ":" in name else str(tmp_path / file) for name, (file, _) in PROGRAMS.items()}


@pytest.mark.parametrize(("language", "cell"), CELLS, ids=lambda part: part.replace(" ", "_"))
def test_every_cell(language: str, cell: str, porcini, files) -> None:  # noqa: F811
    command, *more = cell.split()
    file, reason = files[language], ROWS[language].cells[cell]
    if command == "replay":
        more.append(json.loads(porcini("run", file, "--json")[1])["outcomes"][0]["schedule"])
    if "--ltl" in more:
        more.insert(more.index("--ltl") + 1, FORMULAS.get(language, "<> x"))
    if "PATTERN" in more:
        more[more.index("PATTERN")] = "x(2) C"
    if command == "transform":
        status, out, err = porcini(command, file, *more)
        assert (status, err) == (0, "") and "mod " in out if reason is None else status == 2
        return
    few = ["--max-executions", "9"] if "--engine" in more else []
    status, out, err = porcini(command, file, *more, "--json", *few)
    report = json.loads(out)
    if reason is None:
        assert status in (0, 1, 3) and report["verdict"] in ("holds", "violated", "unknown"), err
        if "--reduction" in more:
            assert report["reduction"] == more[-1]
    elif "--reduction" in more and status != 2:  # the best that there is, and it says so
        assert report["reduction"] != more[-1] and any(reason in note for note in report["notes"])
    else:
        assert status == 2 and ("not for coroutine functions" in err or reason in report["error"]["message"])


def test_all_languages_have_a_program() -> None:
    assert ROWS.keys() == PROGRAMS.keys() and all(row.commands.keys() == COMMANDS.keys() for row in ROWS.values())


def test_the_docs_show_the_table() -> None:
    assert as_markdown(matrix()) in (DOCS / "languages.md").read_text("utf-8"), "make docs/languages.md"


def test_the_tables_for_people(porcini) -> None:  # noqa: F811
    status, out, _ = porcini("languages")
    assert status == 0 and ".pml without check --search PATTERN, check --check-annotations, transform: " in out
    status, out, _ = porcini("engines")
    assert status == 0 and [line.split()[0] for line in out.splitlines()[1:4]] == ["exhaustive", "sleep", "dpor"]


def test_an_unknown_engine_says_which_there_are(porcini, files) -> None:  # noqa: F811
    status, _, err = porcini("explore", files[".gcl"], "--engine", "fast")
    assert status == 2 and "unknown engine `fast` (known: dpor, exhaustive, fagiani, graph, optimal" in err
