"""A small theory whose description can be made to say something wrong about its steps."""

from __future__ import annotations

from itertools import count
from pathlib import Path

_numbers = count()
THEORY = """sload model-checker
mod LIES is
  protecting NAT .  protecting QID .  sorts Code Thread Cell Conf .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
  op done : -> Code [ctor] .  op _;_ : Code Code -> Code [ctor assoc id: done] .
  ops get put wait : Qid -> Code [ctor] .  op nop : -> Code [ctor] .
  op t : Nat Code Nat -> Thread [ctor] .  op c : Qid Nat -> Cell [ctor] .
  vars I R V : Nat .  var K : Code .  var X : Qid .
  rl [get] : t(I, get(X) ; K, R) c(X, V) => t(I, K, V) c(X, V) .
  rl [put] : t(I, put(X) ; K, R) c(X, V) => t(I, K, R) c(X, s R) .
  rl [wait] : t(I, wait(X) ; K, R) c(X, s V) => t(I, K, R) c(X, s V) .
  rl [nop] : t(I, nop ; K, R) => t(I, K, R) .
  op init : -> Conf .
  eq init = t(0, nop ; get('x) ; put('x), 0) t(1, nop ; nop ; get('x) ; put('x), 0) t(2, wait('x), 0) c('x, 0) .
endm
mod LIES-PROPS is
  protecting LIES .  including SATISFACTION .  subsort Conf < State .  op x : Nat -> Prop [ctor] .
  var V : Nat .  var S : Conf .  eq c('x, V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .
endm
mod LIES-POR is
  protecting LIES .  protecting PORCINI .  op cell : Qid -> Location [ctor] .
  op touches : Qid Thread -> Footprint .  ops future after : Thread -> Footprint .  op uses : Code -> Footprint .
  vars I R : Nat .  var K : Code .  vars L X : Qid .
  eq touches(L, t(I, get(X) ; K, R)) = GET .
  eq touches(L, t(I, put(X) ; K, R)) = writes(cell(X)) .
  eq touches(L, t(I, nop ; K, R)) = nothing .  eq touches(L, t(I, wait(X) ; K, R)) = WAIT .
  eq future(t(I, K, R)) = uses(K) .  eq uses(done) = nothing .  eq uses(nop ; K) = uses(K) .
  eq uses(wait(X) ; K) = reads(cell(X)) & uses(K) .
  eq uses(get(X) ; K) = reads(cell(X)) & uses(K) .  eq uses(put(X) ; K) = PUT & uses(K) .
  op decides : Thread -> Footprint .  eq decides(t(I, wait(X) ; K, R)) = DECIDES .
  eq decides(t(I, K, R)) = nothing [owise] .
endm
mod LIES-SEES is
  protecting LIES-PROPS .  including LIES-POR .  op sees : Prop -> Footprint .  var V : Nat .
  eq sees(x(V)) = SEES .
endm
"""
KEYS = {"initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}
TRUE = {
    "GET": "reads(cell(X))",
    "PUT": "writes(cell(X))",
    "WAIT": "reads(cell(X))",
    "DECIDES": "reads(cell(X))",
    "SEES": "reads(cell('x))",
}


def written(folder: Path, said: dict[str, str]) -> str:
    name = f"LIES{next(_numbers)}"
    text = THEORY.replace("LIES", name)
    for key, value in (TRUE | said).items():
        text = text.replace(f"= {key}", f"= {value}")
    path = folder / "model.maude"
    path.write_text(text)
    keys = {"module": name, **KEYS, "propositions": f"{name}-PROPS"}
    keys |= {"dependence": f"{name}-SEES", "future": f"{name}-POR"}
    path.with_suffix(".toml").write_text("".join(f'{key} = "{value}"\n' for key, value in keys.items()))
    return str(path)
