"""What a program declares: types, constructors, functions, interfaces and classes, by name and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, NoReturn

from porcini.core.errors import InputError, Place
from porcini.langs.actors import library
from porcini.langs.actors import syntax as ast
from porcini.langs.actors.parser import outside, parse
from porcini.langs.actors.types import Con, Hole, Subtyping, Ty, instantiate

_KNOWN = {"Int": 0, "Bool": 0, "String": 0, "Rat": 0, "Set": 1, "Map": 2, "Fut": 1}
"""Types that are not declared anywhere, with the number of their arguments."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """The type of a function, constructor or method."""

    parameters: tuple[str, ...]
    formals: tuple[Ty, ...]
    result: Ty

    def fresh(self) -> Arrow:
        """With holes for its type parameters."""
        if not self.parameters:
            return self
        holes: dict[str, Ty] = {name: Hole() for name in self.parameters}
        formals = tuple(instantiate(t, holes) for t in self.formals)
        return Arrow((), formals, instantiate(self.result, holes))


@dataclass(frozen=True, slots=True)
class Use:
    """A function that is applied to values of some types, perhaps `within` another one that has parameters."""

    function: str
    types: tuple[Ty, ...]
    within: str | None = None
    parameters: tuple[str, ...] = ()


@dataclass(slots=True)
class World:
    """Everything that a program can name."""

    file: str
    source: str
    own: bool = False
    """Are the declarations of the program itself being entered, not those of the library?"""
    subtyping: Subtyping = field(default_factory=Subtyping)
    synonyms: dict[str, ast.Synonym] = field(default_factory=dict)
    data: dict[str, ast.Data] = field(default_factory=dict)
    constructors: dict[str, Arrow] = field(default_factory=dict)
    functions: dict[str, Arrow] = field(default_factory=dict)
    bodies: dict[str, ast.Function] = field(default_factory=dict)
    interfaces: dict[str, ast.Interface] = field(default_factory=dict)
    methods: dict[str, dict[str, Arrow]] = field(default_factory=dict)
    classes: dict[str, ast.Class] = field(default_factory=dict)
    selectors: dict[str, str] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    """Every application of a function that was lowered."""
    python: dict[str, Callable[..., Any]] = field(default_factory=lambda: dict(library.BUILTINS))

    def error(self, message: str, place: Place, hint: str | None = None) -> NoReturn:
        raise InputError(message, file=self.file, place=place, source=self.source, hint=hint)

    # Types

    def type(self, written: ast.Type, parameters: Iterable[str] = (), depth: int = 0) -> Ty:
        """A type as written in the program, with synonyms replaced."""
        name = written.name
        args = tuple(self.type(arg, parameters, depth) for arg in written.args)
        if name in self.synonyms:
            if depth > len(self.synonyms):
                self.error(f"type `{name}` is defined by itself", written.place)
            return self.type(self.synonyms[name].type, parameters, depth + 1)
        if name in parameters:
            wanted = 0
        elif name in self.data:
            wanted = len(self.data[name].parameters)
        elif name in _KNOWN:
            wanted = _KNOWN[name]
        elif name in self.interfaces:
            wanted = 0
        elif name in self.classes:
            return self.error(f"`{name}` is a class, not a type", written.place, "a type is one of its interfaces")
        else:
            unknown = outside(name) or f"unknown type `{name}`"
            return self.error(unknown, written.place, _near(name, [*self.interfaces, *self.data]))
        if len(args) != wanted:
            self.error(f"type `{name}` wants {_count(wanted, 'argument')}, not {len(args)}", written.place)
        return Con(name, args)

    def arrow(self, formals: Iterable[ast.Formal], result: ast.Type, parameters: tuple[str, ...] = ()) -> Arrow:
        return Arrow(
            parameters, tuple(self.type(f.type, parameters) for f in formals), self.type(result, parameters)
        )

    # Declarations

    def declare(self, declarations: Iterable[ast.Declaration]) -> None:
        declarations = list(declarations)
        for d in declarations:
            self._enter(d)
        for d in declarations:
            match d:
                case ast.Data():
                    self._constructors(d)
                case ast.Function():
                    self.functions[d.name] = self.arrow(d.formals, d.type, d.parameters)
                case ast.Interface():
                    self.methods[d.name] = self._methods_of(d.name, d.place)
                case ast.Class():
                    wanted = frozenset(ancestor for i in d.implements for ancestor in self._ancestors(i, d.place))
                    self.subtyping.interfaces[f"class {d.name}"] = wanted
        for d in declarations:
            if isinstance(d, ast.Class):
                self._check_class(d)

    def _enter(self, d: ast.Declaration) -> None:
        match d:
            case ast.Synonym():
                self._once(d.name, d.place, self.synonyms, self.data, self.interfaces)
                self.synonyms[d.name] = d
            case ast.Data():
                self._once(d.name, d.place, self.synonyms, self.data, self.interfaces)
                self.data[d.name] = d
            case ast.Function():
                self._once(d.name, d.place, self.bodies)
                if not isinstance(d.body, ast.Builtin):
                    self.bodies[d.name] = d
                    self.python.pop(d.name, None)
            case ast.Interface():
                self._once(d.name, d.place, self.synonyms, self.data, self.interfaces)
                self.interfaces[d.name] = d
                self.subtyping.interfaces[d.name] = frozenset({d.name})
            case ast.Class():
                self._once(d.name, d.place, self.classes)
                self.classes[d.name] = d

    def _once(self, name: str, place: Place, *tables: dict[str, Any]) -> None:
        if any(name in table for table in tables):
            library_has = name in _KNOWN or any(d.name == name for d in _library()) if self.own else False
            self.error(f"`{name}` is declared twice", place, "the library has one" if library_has else None)

    def _constructors(self, d: ast.Data) -> None:
        result = Con(d.name, tuple(Con(p) for p in d.parameters))
        if len(set(d.parameters)) < len(d.parameters):
            self.error(f"type `{d.name}` has two parameters of one name", d.place)
        selectors: dict[str, dict[str, int]] = {}
        for c in d.constructors:
            self._once(c.name, c.place, self.constructors)
            formals = tuple(self.type(t, d.parameters) for t in c.types)
            self.constructors[c.name] = Arrow(d.parameters, formals, result)
            for k, (name, formal) in enumerate(zip(c.names, formals, strict=True)):
                if name is None:
                    continue
                if name in self.bodies or (name in self.selectors and name not in selectors):
                    self.error(f"`{name}` is declared twice", c.place)
                if name in selectors and self.functions[name].result != formal:
                    self.error(f"`{name}` has two types in `{d.name}`", c.place)
                self.functions[name] = Arrow(d.parameters, (result,), formal)
                selectors.setdefault(name, {})[c.name] = k
            self.python |= library.constructor_functions(c.name, c.names)
        self.selectors |= dict.fromkeys(selectors, d.name)
        self.python |= {name: library.selector(name, places) for name, places in selectors.items()}

    def _ancestors(self, name: str, place: Place, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        if name not in self.interfaces:
            self.error(f"unknown interface `{name}`", place, _near(name, self.interfaces))
        if name in seen:
            self.error(f"interface `{name}` extends itself", self.interfaces[name].place)
        above = [
            self._ancestors(i, self.interfaces[name].place, seen | {name}) for i in self.interfaces[name].extends
        ]
        return frozenset({name}).union(*above)

    def _methods_of(self, name: str, place: Place) -> dict[str, Arrow]:
        ancestors = self.subtyping.interfaces[name] = self._ancestors(name, place)
        methods: dict[str, Arrow] = {}
        for interface in sorted(ancestors):
            for m in self.interfaces[interface].methods:
                methods[m.name] = self.arrow(m.formals, m.type)
        return methods

    def _check_class(self, d: ast.Class) -> None:
        own = {m.name: m for m in d.methods}
        seen: set[str] = set()
        for m in d.methods:
            if m.name in seen:
                self.error(f"class `{d.name}` has two methods `{m.name}`", m.place)
            seen.add(m.name)
        self.methods[f"class {d.name}"] = {m.name: self.arrow(m.formals, m.type) for m in d.methods}
        for interface in d.implements:
            for name, arrow in self.methods[interface].items():
                if name not in own:
                    self.error(f"class `{d.name}` has no method `{name}` of interface `{interface}`", d.place)
                mine = self.methods[f"class {d.name}"][name]
                if len(mine.formals) != len(arrow.formals) or str(mine) != str(arrow):
                    self.error(
                        f"method `{name}` does not have the type that interface `{interface}` gives it",
                        own[name].place,
                    )
        names: set[str] = set()
        for f in d.declared:
            if f.name in names:
                self.error(f"class `{d.name}` has two fields `{f.name}`", f.place)
            names.add(f.name)

    def classes_of(self, type_: Con) -> list[str]:
        """The classes whose objects a value of some type may refer to."""
        if type_.name.startswith("class "):
            return [type_.name.removeprefix("class ")]
        return [c for c in self.classes if type_.name in self.subtyping.interfaces[f"class {c}"]]


def _near(name: str, known: Iterable[str]) -> str | None:
    alike = [other for other in known if other.lower() == name.lower()]
    return f"did you mean `{alike[0]}`?" if alike else None


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


@cache
def _library() -> tuple[ast.Declaration, ...]:
    text = resources.files(__package__).joinpath("stdlib.abs").read_text(encoding="utf-8")
    return parse(text, "ABS.StdLib").declarations


def world_of(program: ast.Program, file: str, source: str) -> World:
    """The declarations of the library and of a program, checked."""
    world = World(file, source)
    bool_ = Con("Bool")
    world.constructors |= {"True": Arrow((), (), bool_), "False": Arrow((), (), bool_)}
    own = {d.name for d in program.declarations}
    world.declare(d for d in _library() if d.name not in own or not isinstance(d, ast.Function))
    world.own = True
    world.selectors.clear()  # those of the library may be declared anew
    world.declare(program.declarations)
    return world
