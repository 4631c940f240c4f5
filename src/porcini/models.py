"""Programs that are read from files, whatever their language: `load`, `loads`, `Model`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porcini.core.errors import InputError
from porcini.core.systems import Value
from porcini.engines.catalogue import BY_ACTORS, BY_FORMULAS
from porcini.ir.graph import Graph
from porcini.ir.interpreter import GraphSystem
from porcini.ir.packed.view import PackedView
from porcini.ir.step_system import StepSystem
from porcini.ir.steps import StepGraph
from porcini.langs import actors, gcl, maude, par, promela

Source = Graph | StepGraph | promela.Model | maude.Model
System = GraphSystem | StepSystem | PackedView | maude.MaudeSystem
Loader = Callable[[str, str, Mapping[str, str]], Source]
LANGUAGES: dict[str, Loader] = {
    "gcl": lambda source, file, _: gcl.load(source, file),
    "par": lambda source, file, _: par.load(source, file),
    "abs": lambda source, file, _: actors.load(source, file),
    "pml": promela.load,
}
"""Languages by the ending of their files."""
_NO_INPUTS = {
    Graph: "an input is bound to `?`, or in .par read before it is written",
    StepGraph: "an input is a function such as `def Int n() = 3;`",
}


@dataclass(frozen=True, slots=True)
class Model:
    """A program that was read and checked, ready to run."""

    file: str
    language: str
    source: str
    graph: Source

    def system(self, inputs: Mapping[str, Value] | None = None, *, optimise: bool = False) -> System:
        """The compiled program, with a value for each of its inputs; `optimise` for searches that keep states."""
        given = dict(inputs or {})
        if isinstance(self.graph, promela.Model):
            if given:
                raise InputError("Promela models have no inputs", file=self.file, hint="-D N=3 defines a macro")
            return PackedView(self.graph.program, optimise=optimise)
        if isinstance(self.graph, maude.Model):
            if given:
                raise InputError("rewrite theories have no inputs", file=self.file, hint="`initial` says them all")
            return maude.MaudeSystem(self.graph)
        for name, value in given.items():
            type_ = self.graph.inputs.get(name)
            if type_ is None:
                known = ", ".join(sorted(self.graph.inputs))
                hint = f"known: {known}" if known else _NO_INPUTS[type(self.graph)]
                raise InputError(f"`{name}` is not an input of {self.file}", hint=hint)
            if not isinstance(value, int) or isinstance(value, bool) != (type_ == "bool"):
                expected = "a boolean" if type_ == "bool" else "a number"
                raise InputError(f"input `{name}` wants {expected}, not {value!r}")
        if isinstance(self.graph, StepGraph):
            try:
                return StepSystem(self.graph.with_inputs(given))
            except InputError as problem:
                problem.file = self.file
                raise
        missing = self.graph.inputs.keys() - given.keys()
        if missing:
            flags = " ".join(f"--input {name}=..." for name in sorted(missing))
            raise InputError(f"no value for input {', '.join(sorted(missing))}", file=self.file, hint=flags)
        return GraphSystem(self.graph.with_inputs(given))

    def takes(self, engine: str) -> bool:
        """Is an engine for programs of this kind?"""
        if isinstance(self.graph, promela.Model | maude.Model):
            return engine not in (*BY_FORMULAS, *BY_ACTORS)
        return engine not in (BY_FORMULAS if isinstance(self.graph, StepGraph) else BY_ACTORS)

    @property
    def observable(self) -> set[str]:
        """What can be observed: variables, or fields by name."""
        if isinstance(self.graph, StepGraph):
            return {v.name[1:] for class_ in self.graph.classes for v in class_.fields}
        if isinstance(self.graph, promela.Model):
            program = self.graph.program
            return {v.name for v in program.globals} | {channel.name for channel in program.channels}
        if isinstance(self.graph, maude.Model):
            system = maude.MaudeSystem(self.graph)
            return set(system.observe(system.initial()))
        return {variable.name for variable in self.graph.variables if "#" not in variable.name}


def load(file: str | Path, *, defines: Mapping[str, str] | None = None, por: str | None = None) -> Model:
    """Read a program. What is wrong with it is an `InputError` that says where; `defines` are macros of Promela,
    `por` names the description of a rewrite theory.

    >>> load("examples/gcl/vineyard.gcl").language
    'gcl'
    """
    source_path = Path(file)
    if not str(file):
        raise InputError("no file was named")
    if source_path.is_dir():
        raise InputError("is a directory", file=str(file))
    try:
        raw = source_path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=str(file), hint=_a_function(str(file))) from None
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=str(file)) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"is not UTF-8 text (byte {problem.start})", file=str(file)) from None
    language = source_path.suffix.removeprefix(".")
    if por is not None and language != "maude":
        raise InputError("a description is for rewrite theories only", file=str(file))
    if language == "maude":
        return Model(str(file), language, text, maude.load(str(file), por))
    return loads(text, language, str(file), defines=defines)


def _a_function(file: str) -> str | None:
    """Who names a file of Python with a function means a module."""
    path, colon, function = file.rpartition(":")
    if not colon or not path.endswith(".py"):
        return None
    module = ".".join(part for part in Path(path).with_suffix("").parts if part not in ("/", ".", ".."))
    return f"a coroutine function is named by its module: {module}:{function}"


def loads(
    source: str, language: str = "gcl", file: str = "<text>", *, defines: Mapping[str, str] | None = None
) -> Model:
    """Read a program from a string.

    >>> sorted(loads("x |-> 0, True |> x := 1").observable)
    ['x']
    """
    if language == "maude":
        raise InputError("a rewrite theory is read from a file, with its description", file=file)
    if language not in LANGUAGES:
        known = ", ".join("." + ending for ending in (*LANGUAGES, "maude"))
        hint = f"a coroutine function in it is {Path(file).stem}:NAME" if language == "py" else f"known: {known}"
        raise InputError(f"unknown language `.{language}`", file=file, hint=hint)
    if defines and language != "pml":
        raise InputError("macros are defined for Promela only", file=file)
    return Model(file, language, source, LANGUAGES[language](source, file, defines or {}))
