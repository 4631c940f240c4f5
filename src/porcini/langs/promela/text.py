"""Promela as a person writes it: the text of expressions and simple statements, for labels."""

from __future__ import annotations

from porcini.langs.promela import syntax as ast

_TIGHTNESS = {
    op: level
    for level, ops in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"), 1)
    for op in ops.split()
}
_TIGHTEST = 20


def show(expr: ast.Expr, around: int = 0) -> str:
    match expr:
        case ast.Number(value=value):
            return str(value)
        case ast.Ref(name=name, index=index, field=field):
            text = name if index is None else f"{name}[{show(index)}]"
            return text if field is None else f"{text}.{show(field)}"
        case ast.Unary(op=op, operand=operand):
            return op + show(operand, _TIGHTEST)
        case ast.Binary(op=op, left=left, right=right):
            level = _TIGHTNESS[op]
            text = f"{show(left, level)} {op} {show(right, level + 1)}"
            return f"({text})" if level < around else text
        case ast.Conditional(test=test, then=then, otherwise=otherwise):
            return f"({show(test)} -> {show(then)} : {show(otherwise)})"
        case ast.Asked(what=what, channel=channel):
            return f"{what}({show(channel)})"
        case ast.Eval(operand=operand):
            return f"eval({show(operand)})"
        case ast.Poll(channel=channel, args=args, anywhere=anywhere):
            return f"{show(channel)}{'??' if anywhere else '?'}[{_list(args)}]"
        case ast.Run(proctype=proctype, args=args, priority=priority):
            return f"run {proctype}({_list(args)})" + ("" if priority is None else f" priority {priority}")
        case ast.AtLabel(proctype=proctype, index=index, label=label):
            return f"{_process(proctype, index)}@{label}"
        case ast.Remote(proctype=proctype, index=index, variable=variable):
            return f"{_process(proctype, index)}:{show(variable)}"
        case ast.Timeout():
            return "timeout"
        case ast.NoProgress():
            return "np_"
        case ast.Enabled(pid=pid):
            return f"enabled({show(pid)})"
        case ast.Priority(pid=pid):
            return f"get_priority({show(pid)})"


def _process(name: str, index: ast.Expr | None) -> str:
    return name if index is None else f"{name}[{show(index)}]"


def _list(args: tuple[ast.Expr, ...]) -> str:
    return ", ".join(show(arg) for arg in args)


def show_statement(stmt: ast.Statement) -> str:
    match stmt:
        case ast.Assign(target=target, value=value):
            return f"{show(target)} = {show(value)}"
        case ast.Condition(test=ast.Number(value=1)):
            return "skip"
        case ast.Condition(test=test):
            return show(test)
        case ast.Send(channel=channel, args=args, sorted=is_sorted):
            return f"{show(channel)}{'!!' if is_sorted else '!'}{_list(args)}"
        case ast.Receive(channel=channel, args=args, anywhere=anywhere, keep=keep):
            text = f"<{_list(args)}>" if keep else _list(args)
            return f"{show(channel)}{'??' if anywhere else '?'}{text}"
        case ast.Assert(test=test):
            return f"assert({show(test)})"
        case ast.Print(text=text, args=args):
            shown = text.encode("unicode_escape").decode()
            return f'printf("{shown}"{"".join(", " + show(arg) for arg in args)})'
        case ast.SetPriority(pid=None, value=value):
            return f"_priority = {show(value)}"
        case ast.SetPriority(pid=of, value=value):
            assert of is not None
            return f"set_priority({show(of)}, {show(value)})"
        case ast.Goto(label=label):
            return f"goto {label}"
        case ast.Break():
            return "break"
        case ast.Else():
            return "else"
        case _:
            return type(stmt).__name__.lower()
