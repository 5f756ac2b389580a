"""Every small change that a module can suffer, each known by what it changes and not by its line.

Changed are comparisons, arithmetic, conditions, numbers and words, returned values; statements that do something are
left out. Left alone are annotations, imports for checkers, docstrings, pictures and whatever is told in an error: none
of them decides anything.
"""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_WORD = re.compile(r"[^\s%{}]+")  # what a program compares; sentences are for people
_PICTURES = ("plot",)  # looked at in the contracts; how wide a line is drawn is nobody's promise
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One change: in which function, what a statement was and what it becomes."""

    where: str
    before: str
    after: str
    lines: tuple[int, int] | None  # None: it runs when the module is loaded
    node: int  # the number of the changed node, in the order of `_places`
    variant: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is known by, wherever it stands."""
        return self.where, self.before, self.after


@dataclass(frozen=True)
class _Place:
    node: ast.AST
    scope: tuple[str, ...]
    statement: ast.stmt
    is_late: bool  # it runs when a function is called


def mutants(source: str) -> list[Mutant]:
    """All changes to a module."""
    found: list[Mutant] = []
    seen: dict[tuple[str, str, str], int] = {}
    for number, place in enumerate(_places(ast.parse(source))):
        before = _shown(place.statement)
        for variant, new in enumerate(_variants(place.node)):
            where = ".".join(place.scope) or "module"
            after = _shown(_swapped(place.statement, place.node, new))
            times = seen[where, before, after] = seen.get((where, before, after), 0) + 1
            if times > 1:  # the same statement stands there twice
                where = f"{where} #{times}"
            lines = _lines(place.statement) if place.is_late else None
            found.append(Mutant(where, before, after, lines, number, variant))
    return found


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """The module with one change in it."""
    tree = ast.parse(source)
    place = next(place for number, place in enumerate(_places(tree)) if number == mutant.node)
    new = _variants(place.node)[mutant.variant]
    changed = _Swap(place.node, new).visit(tree)
    return ast.fix_missing_locations(changed)


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


def _swapped(statement: ast.stmt, old: ast.AST, new: ast.AST) -> ast.stmt:
    if statement is old:
        return new  # type: ignore[return-value]
    memo = {id(old): new}  # deepcopy takes what it is given for a copy that was made already
    return copy.deepcopy(statement, memo)


def _places(tree: ast.Module) -> Iterator[_Place]:
    for statement in tree.body:
        yield from _of_statement(statement, (), is_late=False)


def _of_statement(statement: ast.stmt, scope: tuple[str, ...], *, is_late: bool) -> Iterator[_Place]:
    """The statement itself, what it computes, and then the statements inside it."""
    if _is_left_alone(statement):
        return
    yield _Place(statement, scope, statement, is_late)
    own, late = scope, is_late
    if isinstance(statement, _Function | ast.ClassDef):
        own = (*scope, statement.name)
        late = is_late or isinstance(statement, _Function)
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "returns", "type_params", "exc", "cause"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt):
                yield from _of_statement(child, own, is_late=late)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                for inner in child.body:
                    yield from _of_statement(inner, own, is_late=late)
            elif isinstance(child, ast.AST):
                yield from (_Place(node, scope, statement, is_late) for node in _expressions(child))


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _expressions(child)


def _is_left_alone(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert):  # asserts are for the type checker
        return True
    if isinstance(statement, ast.If) and isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING":
        return True
    if isinstance(statement, _Function) and statement.name in _PICTURES:
        return True
    if isinstance(statement, ast.AnnAssign):
        return ast.unparse(statement.annotation) == "TypeAlias"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _variants(node: ast.AST) -> list[ast.AST]:  # noqa: PLR0911 - a kind of node a line
    """What may stand there instead."""
    if isinstance(node, ast.stmt):
        return _other_statements(node)
    if isinstance(node, ast.Constant):
        return [ast.Constant(value) for value in _other_values(node.value)]
    if isinstance(node, ast.Compare):
        return [
            ast.Compare(node.left, [*node.ops[:place], other(), *node.ops[place + 1 :]], node.comparators)
            for place, operation in enumerate(node.ops)
            for other in _COMPARED[type(operation)]
        ]
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        return [ast.BinOp(node.left, _COMPUTED[type(node.op)](), node.right)]
    if isinstance(node, ast.BoolOp):
        return [ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.comprehension) and node.ifs:
        return [ast.comprehension(node.target, node.iter, [], node.is_async)]
    return []


def _other_statements(node: ast.stmt) -> list[ast.AST]:
    if isinstance(node, ast.Raise | ast.Expr | ast.Delete | ast.Break | ast.Continue):
        return [ast.Pass()]
    if isinstance(node, ast.AugAssign):
        changed = _COMPUTED.get(type(node.op))
        return [ast.Pass(), *([ast.AugAssign(node.target, changed(), node.value)] if changed else [])]
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        return [ast.Pass()]  # an attribute or an item that is not set; a name that is missing fails anyway
    if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        return [ast.Return(ast.Constant(None))]
    if isinstance(node, ast.If):
        return [ast.If(ast.Constant(value), node.body, node.orelse) for value in (True, False)]
    return []


def _other_values(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 2 if value else 1.0]
    if isinstance(value, str) and _WORD.fullmatch(value):
        return [value + "x"]
    return []


def _shown(statement: ast.stmt) -> str:
    """A statement in one line; of those that hold others, the line that opens them."""
    kept = copy.copy(statement)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(getattr(kept, name, None), list):
            setattr(kept, name, [ast.Pass()] if name == "body" else [])
    text = ast.unparse(ast.fix_missing_locations(kept))
    return " ".join(text.removesuffix("pass").split()) if hasattr(kept, "body") else " ".join(text.split())


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """The lines that run whenever the statement does, without those of the statements inside."""
    last = statement.end_lineno or statement.lineno
    inner = [child.lineno for child in ast.walk(statement) if isinstance(child, ast.stmt) and child is not statement]
    return statement.lineno, min(last, *(line - 1 for line in inner)) if inner else last
