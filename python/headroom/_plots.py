"""Charts of answers by matplotlib, from the table of `--format csv`."""

from __future__ import annotations

import csv
import io
from typing import Any

# Columns that a verb's chart has where nobody names others: x, y, and a column with the value of the rows that are drawn.
_USUAL: dict[str, tuple[str, list[str], tuple[str, str] | None]] = {
    "plan": ("workers", ["step_seconds"], None),
    "finetune": ("workers", ["minutes_per_epoch"], None),
    "laws": ("workers", ["amdahl_speedup", "gustafson_speedup", "value"], None),
    "graph": ("workers", ["speedup"], None),
    "comm": ("ranks", ["seconds"], None),
    "roofline": ("intensity_flops_per_byte", ["attainable_flops_per_second"], None),
    "tail": ("quantile", ["value_seconds"], None),
    "queue": ("replicas", ["p50_seconds", "p99_seconds"], None),
    "inference": ("accelerators", ["dollars_per_million_output_tokens"], ("kind", "choice")),
    "trace": ("rank", ["compute_seconds", "exposed_communication_seconds", "idle_seconds"], ("step", "")),
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
    asked = next((name for name in columns if name.startswith("asked.")), None)  # a list of values of an option
    across, usual = (asked, ["step_seconds"]) if asked is not None else _USUAL[verb][:2] if verb in _USUAL else (None, [])
    across = x if x is not None else across
    up = [y] if isinstance(y, str) else list(y) if y is not None else [name for name in usual if name in columns]
    known = ", ".join(columns)
    if not columns:
        raise ValueError("plot: this answer has no columns of numbers; page() has its charts")
    if across is None or not up:
        raise ValueError(f"plot: name the columns x and y; columns of numbers: {known}")
    for name in (across, *up):
        if name not in columns:
            raise ValueError(f"plot: no column of numbers {name!r}; there are {known}")
    return across, up


def _usual_rows(verb: str, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Rows that a verb's usual chart draws; of `comm` the fastest form of each algorithm (over channels, or plain)."""
    only = _USUAL[verb][2] if verb in _USUAL else None
    if only is not None and any(row.get(only[0]) == only[1] for row in rows):
        return [row for row in rows if row[only[0]] == only[1]]
    if verb != "comm":
        return rows
    fastest: dict[tuple[str | None, ...], dict[str, str]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in ("collective", "algorithm", "ranks", "size_bytes"))
        if key not in fastest or (_number(row["seconds"]) or 0.0) < (_number(fastest[key]["seconds"]) or 0.0):
            fastest[key] = row
    return list(fastest.values())


def _parts(rows: list[dict[str, str]], columns: dict[str, list[float | None]], across: str, up: list[str]) -> list[str]:
    """Columns that part rows of the same x, each some that those before it left: of text, then of yes and no, then of whole numbers."""
    text = [name for name in rows[0] if name not in columns]
    whole = [name for name in columns if name not in (across, *up) and all(row[name].isdigit() or not row[name] for row in rows)]
    parts: list[str] = []
    found = len({row[across] for row in rows})
    for name in (*sorted(text, key=lambda name: {row[name] for row in rows} <= {"true", "false"}), *whole):
        more = len({tuple(row[each] for each in (across, *parts, name)) for row in rows})
        if more > found:
            parts.append(name)
            found = more
    return parts


def _lines(rows: list[dict[str, str]], columns: dict[str, list[float | None]], parts: list[str], across: str,
           up: str) -> dict[str, list[tuple[float, float]]]:
    """Points by line, sorted by x; a line for each combination of values of `parts`."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row, at, value in zip(rows, columns[across], columns[up]):
        if at is not None and value is not None:
            words = [f"{part} {row[part]}" if part in columns or row[part] in ("true", "false") else row[part] for part in parts]
            lines.setdefault(", ".join(word for word in words if word), []).append((at, value))
    return {name: sorted(points) for name, points in lines.items()}


def _is_curve(points: list[tuple[float, float]]) -> bool:
    """Whether there is one value at each x: several are points without a line, which would go up and down."""
    return len({point[0] for point in points}) == len(points)


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
    if x is None and y is None:
        rows = _usual_rows(verb, rows)
        columns = _columns(rows)
        across, up = _chosen(verb, columns, x, y)
    if ax is None:
        ax = pyplot.figure().add_subplot()
    drawn: tuple[list[float], list[float]] = ([], [])
    parts = _parts(rows, columns, across, up)
    for name in up:
        for part, points in _lines(rows, columns, parts, across, name).items():
            drawn[0].extend(point[0] for point in points)
            drawn[1].extend(point[1] for point in points)
            label = " ".join(word for word in (part, name if len(up) > 1 or not part else "") if word)
            ax.plot([point[0] for point in points], [point[1] for point in points], marker="o",
                    linestyle="-" if _is_curve(points) else "none", label=label)
    ax.set_xscale(_scale(drawn[0]))
    ax.set_yscale(_scale(drawn[1]))
    ax.set_xlabel(across)
    ax.set_ylabel(up[0] if len(up) == 1 else "")
    ax.set_title("headroom " + verb)
    if len(ax.get_lines()) > 1:
        ax.legend()
    return ax
