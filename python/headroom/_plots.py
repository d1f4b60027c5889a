"""Charts of answers by matplotlib, from the table of `--format csv`."""

from __future__ import annotations

import csv
import io
from typing import Any

# Columns that a verb's chart has where nobody names others: (x, y).
_USUAL: dict[str, tuple[str, list[str]]] = {
    "plan": ("workers", ["step_seconds"]),
    "laws": ("workers", ["amdahl_speedup", "gustafson_speedup"]),
    "graph": ("workers", ["speedup"]),
    "comm": ("ranks", ["seconds"]),
    "roofline": ("intensity_flops_per_byte", ["attainable_flops_per_second"]),
    "tail": ("quantile", ["value_seconds"]),
    "inference": ("accelerators", ["dollars_per_million_output_tokens"]),
    "trace": ("rank", ["compute_seconds", "exposed_communication_seconds", "idle_seconds"]),
}
_WIDE = 8.0  # span of an axis from which it is logarithmic


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _columns(rows: list[dict[str, str]]) -> dict[str, list[float | None]]:
    """Columns that hold nothing but numbers and gaps, and at least one number."""
    columns = {}
    for name in rows[0] if rows else ():
        texts = [row[name] for row in rows]
        values = [_number(text) for text in texts]
        if any(value is not None for value in values) and all(value is not None or text == "" for value, text in zip(values, texts)):
            columns[name] = values
    return columns


def _chosen(verb: str, columns: dict[str, list[float | None]], x: str | None, y: Any) -> tuple[str, list[str]]:
    usual = _USUAL.get(verb, (None, []))
    across = x if x is not None else usual[0]
    up = [y] if isinstance(y, str) else list(y) if y is not None else [name for name in usual[1] if name in columns]
    known = ", ".join(columns)
    if across is None or not up:
        raise ValueError(f"plot: name the columns x and y; columns of numbers: {known}")
    for name in (across, *up):
        if name not in columns:
            raise ValueError(f"plot: no column of numbers {name!r}; there are {known}")
    return across, up


def _lines(rows: list[dict[str, str]], columns: dict[str, list[float | None]], across: str, up: str) -> dict[str, list[tuple[float, float]]]:
    """Points by line: rows that have the same x are parted by the first column of text that differs among them."""
    xs = columns[across]
    parts = "" if len(set(xs)) == len(xs) else next(
        (name for name in rows[0] if name not in columns and len({row[name] for row in rows}) > 1), "")
    lines: dict[str, list[tuple[float, float]]] = {}
    for row, at, value in zip(rows, xs, columns[up]):
        if at is not None and value is not None:
            lines.setdefault(row[parts] if parts else "", []).append((at, value))
    return lines


def _scale(values: list[float]) -> str:
    return "log" if values and min(values) > 0 and max(values) >= _WIDE * min(values) else "linear"


def draw(table: str, verb: str, x: str | None, y: Any, ax: Any) -> Any:
    """Axes with the chart of a verb's table."""
    try:
        from matplotlib import pyplot  # type: ignore[import]
    except ImportError:
        raise ImportError("plot needs matplotlib; page() has charts without it") from None
    rows = list(csv.DictReader(io.StringIO(table), restval=""))
    columns = _columns(rows)
    across, up = _chosen(verb, columns, x, y)
    if ax is None:
        ax = pyplot.figure().add_subplot()
    drawn: tuple[list[float], list[float]] = ([], [])
    for name in up:
        for part, points in _lines(rows, columns, across, name).items():
            points.sort()
            drawn[0].extend(point[0] for point in points)
            drawn[1].extend(point[1] for point in points)
            label = " ".join(word for word in (part, name if len(up) > 1 or not part else "") if word)
            ax.plot([point[0] for point in points], [point[1] for point in points], marker="o", label=label)
    ax.set_xscale(_scale(drawn[0]))
    ax.set_yscale(_scale(drawn[1]))
    ax.set_xlabel(across)
    ax.set_ylabel(up[0] if len(up) == 1 else "")
    ax.set_title("headroom " + verb)
    if len(ax.get_lines()) > 1:
        ax.legend()
    return ax
