r"""`\begin … \end`: matrices, functions by cases, systems."""

from __future__ import annotations

from collections.abc import Callable

from verifier_server.checkers.math.faults import Malformed, Unsupported
from verifier_server.checkers.math.tokens import Kind, Token
from verifier_server.checkers.math.values import Cases, Form, Matrix, Several, Value

_MATRICES = {
    "matrix": "", "pmatrix": "", "bmatrix": "", "Bmatrix": "", "smallmatrix": "", "array": "",
    "vmatrix": "det", "Vmatrix": "norm",
}  # fmt: skip
_ALIGNED = frozenset({"aligned", "align", "align*", "alignedat", "split", "gathered", "gather"})
_RELATIONS = frozenset({"=", "~=", "<", ">", "<=", ">=", "!="})
_CONDITION_WORDS = frozenset({"if", "for", "when", "where"})
_OTHERWISE = frozenset({"otherwise", "else"})


def is_environment(tokens: list[Token]) -> bool:
    """Whether one environment takes up all of it."""
    depth = 0
    for at, token in enumerate(tokens):
        if token.kind is Kind.STRUCTURE:
            depth += (token.text == "begin") - (token.text == "end")
        if depth == 0:
            return at > 0 and at + 4 == len(tokens)
    return False


def behind_factor(tokens: list[Token]) -> int:
    r"""Where the environment starts that follows something outside its brackets, else 0."""
    begins = (i for i, t in enumerate(tokens) if t.text == "begin" and t.kind is Kind.STRUCTURE)
    at = next(begins, 0)
    if at and tokens[at - 1].kind is Kind.OPEN:
        at -= 1
    return at if at and tokens[at - 1].kind is not Kind.OPEN else 0


def parse_environment(tokens: list[Token], value: Callable[[list[Token]], Value]) -> Value:
    """The matrix, function by cases or system; `value` reads what stands in a cell.

    Raises:
        Unsupported: the environment is neither.
        Malformed: rows differ in length, or a cell is empty.
    """
    name = tokens[2].text
    body = tokens[4:-4]
    if name == "array":
        body = _without_columns(body)
    rows = [row for row in _cells(body) if row != [[]]]
    if name in _ALIGNED:
        return _statements([[t for cell in row for t in cell] for row in rows], value)
    if name == "cases" and all(len(row) == 1 for row in rows):
        return Several(Form.BOTH, tuple(value(_without_comma(row[0])) for row in rows))
    if name == "cases":
        return Cases(tuple(_case(row, value) for row in rows))
    if name not in _MATRICES:
        raise Unsupported(f"uses the environment {name}")
    if len({len(row) for row in rows}) != 1:
        raise Malformed("has a matrix with rows of different lengths")
    return Matrix(tuple(tuple(value(cell) for cell in row) for row in rows), _MATRICES[name])


def _statements(lines: list[list[Token]], value: Callable[[list[Token]], Value]) -> Value:
    """What lines state together; one that starts with a relation goes on with the line before."""
    statements: list[list[Token]] = []
    for line in lines:
        if statements and line and line[0].kind is Kind.SIGN and line[0].text in _RELATIONS:
            statements[-1] += line
        else:
            statements.append(line)
    values = tuple(value(_without_comma(statement)) for statement in statements)
    return values[0] if len(values) == 1 else Several(Form.BOTH, values)


def _without_columns(body: list[Token]) -> list[Token]:
    if body and body[0].text == "{":
        closing = next((i for i, t in enumerate(body) if t.kind is Kind.CLOSE), 0)
        return body[closing + 1 :]
    return body


def _cells(body: list[Token]) -> list[list[list[Token]]]:
    rows: list[list[list[Token]]] = [[[]]]
    depth = 0
    for token in body:
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        sign = token.text if token.kind is Kind.SIGN and depth == 0 else ""
        if sign == "\\\\":
            rows.append([[]])
        elif sign == "&":
            rows[-1].append([])
        elif not (token.kind is Kind.STRUCTURE and token.text == "hline"):
            rows[-1][-1].append(token)
    return rows


def _without_comma(cell: list[Token]) -> list[Token]:
    return cell[:-1] if cell and cell[-1].text in (",", ";", ".") else cell


def _case(
    row: list[list[Token]], value: Callable[[list[Token]], Value]
) -> tuple[Value, Value | None]:
    if len(row) != 2:
        raise Unsupported("has a case without its condition")
    outcome, condition = row
    outcome = _without_comma(outcome)
    while condition and condition[0].text.lower() in _CONDITION_WORDS:
        condition = condition[1:]
    while condition and condition[-1].text in (",", ".", ";"):
        condition = condition[:-1]
    if [t.text.lower() for t in condition] in [[word] for word in _OTHERWISE]:
        return value(outcome), None
    return value(outcome), value(condition)
