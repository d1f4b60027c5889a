"""Answers as objects that cannot be changed: attributes by the names of the JSON fields."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterator, Tuple, TypeVar

_T = TypeVar("_T")


_SHOWN = 60  # rows of a table in a notebook


def _html_table(rows: list[dict[str, Any]], of: int, heads: bool = True) -> str:
    """Rows as a table of HTML, with a line on those that are left out; `of`: their number."""
    import html

    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["<tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in names) + "</tr>"] if heads else []
    for row in rows:
        lines.append("<tr>" + "".join(f"<td>{html.escape(_brief(row.get(name)))}</td>" for name in names) + "</tr>")
    rest = f"<p>{len(rows)} of {of} rows</p>" if len(rows) < of else ""
    return f"<table>{''.join(lines)}</table>{rest}"


def _brief(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


class Rows(Tuple[_T, ...]):
    """A list of records: a tuple, and a table."""

    if not TYPE_CHECKING:  # types know that a part of a tuple is one

        def __getitem__(self, index: Any) -> Any:
            item = super().__getitem__(index)
            return Rows(item) if isinstance(index, slice) else item

    def _repr_html_(self) -> str:
        return _html_table([dict(_leaves(row)) for row in self[:_SHOWN]], len(self))

    def to_frame(self) -> Any:
        """A row a record, as a frame of pandas, or of polars where only that is installed: fields of a record inside are columns of their own
        (`memory.total_bytes`).

        Errors: ImportError where neither is.
        """
        rows: list[dict[str, Any]] = [dict(_leaves(row)) for row in self]
        return _frame(lambda pandas: pandas.DataFrame(rows), lambda polars: polars.DataFrame(rows, infer_schema_length=None, strict=False))


def _leaves(record: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Fields with the names of the fields that hold them before theirs."""
    for name in record:
        value = record[name]
        if isinstance(value, Record):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield before + name, value


def _frame(by_pandas: Any, by_polars: Any) -> Any:
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        try:
            import polars  # type: ignore[import]
        except ImportError:
            raise ImportError("to_frame needs pandas or polars") from None
        return by_polars(polars)
    return by_pandas(pandas)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        items = (_frozen(item) for item in value)
        return Rows(items) if not value or isinstance(value[0], dict) else tuple(items)
    return value


class Record:
    """Fields of an answer, by attribute or by key: `plan.recommendation.workers`, `plan["recommendation"]`. It cannot be changed.

    Lists are tuples; what the JSON has as null is None. A field with a name that Python keeps for itself ends in an underscore:
    `answer.with_`. A list of records is `Rows`, a table: `plan.curve.to_frame()`.
    """

    __slots__ = ("_values", "_made")
    _values: dict[str, Any]
    _made: dict[str, Any]

    def __init__(self, values: dict[str, Any]):
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_made", {})

    if not TYPE_CHECKING:  # types know each field

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            if name.endswith("_") and keyword.iskeyword(name[:-1]):
                name = name[:-1]
            if name == "values" and name not in self._values:  # of a mapping; a field of this name goes first
                return lambda: [self[each] for each in self]
            try:
                return self[name]
            except KeyError:
                raise AttributeError(f"no field {name!r}; fields are {', '.join(self._values)}") from None

    def __getitem__(self, name: str) -> Any:
        made = self._made
        if name not in made:
            made[name] = _frozen(self._values[name])
        return made[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an answer cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("an answer cannot be changed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def keys(self) -> list[str]:
        """Names of the fields; with it `dict(answer)` and `**answer` work."""
        return list(self._values)

    def items(self) -> list[tuple[str, Any]]:
        """Names and fields."""
        return [(name, self[name]) for name in self._values]

    def get(self, name: str, default: Any = None) -> Any:
        """The field of this name, or the default."""
        return self[name] if name in self._values else default

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __hash__(self) -> int:
        return hash(json.dumps(self._values, sort_keys=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and bool(self._values == other._values)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in list(self._values.items())[:12])
        return f"{type(self).__name__}({shown}{', ...' if len(self._values) > 12 else ''})"

    def _repr_html_(self) -> str:
        return _html_table([{"field": name, "value": value} for name, value in _leaves(self)], 0, heads=False)

    def __reduce__(self) -> Any:
        return (type(self), (self._values,))

    def __copy__(self) -> "Record":
        return self

    def __deepcopy__(self, memo: Any) -> "Record":
        return self

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain dictionaries and lists, a copy."""
        copy: dict[str, Any] = json.loads(json.dumps(self._values))
        return copy


Mapping.register(Record)  # not a base class: `values` may be the name of a field


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{...}"
    if isinstance(value, list):
        return f"[{len(value)}]"
    return repr(value)


class Answer(Record):
    """Answer of a verb: its fields, and its other forms.

    `str(answer)` is the table that the command line prints.
    """

    __slots__ = ("_again", "_made_forms", "_kept", "exit_code")
    _again: Any
    _made_forms: dict[str, str]
    _kept: Any  # the result in the program, which makes fields and forms when they are asked for; None: all were made
    exit_code: int

    def __init__(self, values: dict[str, Any] | None, again: Any = None, exit_code: int = 0, forms: dict[str, str] | None = None,
                 kept: Any = None):
        put = object.__setattr__
        if values is not None:
            put(self, "_values", values)
        put(self, "_made", {})
        put(self, "_again", again)
        put(self, "_made_forms", {} if forms is None else forms)
        put(self, "_kept", kept)
        put(self, "exit_code", exit_code)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "_values":  # not yet made
                values = self._kept.values()
                object.__setattr__(self, "_values", values)
                return values
            return super().__getattr__(name)

    def __reduce__(self) -> Any:
        if self._kept is not None:
            self._form("table"), self._form("csv")
        return (type(self), (self._values, self._again, self.exit_code, self._made_forms))

    def _form(self, name: str) -> str:
        made = self._made_forms
        if name not in made:
            if self._kept is None:
                raise TypeError("this answer has no such form" if self._again is not None else "this answer does not know its question")
            made[name] = self._kept.form(name)
        return made[name]

    def to_csv(self) -> str:
        """The table of `--format csv`."""
        return self._form("csv")

    def to_frame(self) -> Any:
        """The table of `--format csv` as a frame of pandas, or of polars where only that is installed.

        Errors: ImportError where neither is.
        """
        import io

        text = self.to_csv()
        return _frame(lambda pandas: pandas.read_csv(io.StringIO(text)),
                      lambda polars: polars.read_csv(io.BytesIO(text.encode()), infer_schema_length=None))

    def to_html(self) -> str:
        """The page of `--html`, self-contained, with its plots. It is made when it is asked for.

        Errors: Error where a file of the question has changed since.
        """
        if self._kept is not None or "html" in self._made_forms or self._again is None:
            return self._form("html")
        page: str = self._again.page_of(self._values)
        return page

    def to_launch(self) -> str:
        """The launch file of `emit`, of an answer that was asked with it: `predict(..., emit="megatron")`."""
        if "launch" not in self._made_forms:
            raise TypeError("this answer was asked without emit")
        return self._form("launch")

    def page(self) -> "Page":
        """The page with its charts, for a notebook; `page().save(file)` writes it."""
        return Page(self.to_html())

    def plot(self, x: str | None = None, y: str | list[str] | None = None, ax: Any = None) -> Any:
        """Draws columns of the table of `--format csv` with matplotlib; result: its Axes.

        x, y: names of columns; the verb's usual ones where they are left out. Rows that differ in a column of text are lines of
        their own. ax: Axes to draw on; a new figure where it is left out.

        Errors: ImportError where matplotlib is not installed, ValueError for columns that are not there.
        """
        from ._plots import draw

        return draw(self.to_csv(), getattr(self._again, "name", ""), x, y, ax)

    def __str__(self) -> str:
        return self._form("table") if self._kept is not None or "table" in self._made_forms else repr(self)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


class Page:
    """A self-contained page."""

    def __init__(self, page: str):
        self.page = page

    def save(self, path: Any) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page)

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.page)}" style="width:100%;height:48em;border:0"></iframe>'
