"""Verbs as functions, made from the table that `--help` is made of."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
from typing import Any, Callable, Iterable

from . import _program
from ._answers import Answer
from ._errors import Wording, error_of, parameter
from ._models import Model, words_of

_HIDDEN = {"--format", "--out", "--quiet", "--no-color", "--print-config"}  # what a function answers for


@functools.lru_cache(maxsize=None)
def table() -> dict[str, dict[str, Any]]:
    """Verbs by the names of their functions; only those whose result has fields."""
    verbs = {row["name"].replace(" ", "_"): row for row in json.loads(_program.verb_table())}
    del verbs["schema"]
    return verbs


def names() -> list[str]:
    """Names of the functions."""
    return list(table())


def argument(name: str) -> str:
    """`[LOG...]` -> `log`."""
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def _text(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, range):
        if len(value) == 0:
            return ""
        return f"{value[0]}..{value[-1]}:{value.step}" if len(value) > 1 else str(value[0])
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


@functools.lru_cache(maxsize=None)
def _rows(name: str) -> dict[str, dict[str, Any]]:
    """Options of a verb by their parameters."""
    rows: dict[str, dict[str, Any]] = {}
    for row in table()[name]["options"]:
        rows[parameter(row["name"])] = row
        if row["alias"]:
            rows.setdefault(parameter(row["alias"]), {**row, "name": row["alias"]})
    return rows


def _option_words(verb: dict[str, Any], options: dict[str, Any]) -> list[str]:
    rows = _rows(verb["name"].replace(" ", "_"))
    words = []
    for name, value in options.items():
        row = rows.get(name)
        flag = row["name"] if row else "--" + name.rstrip("_").replace("_", "-")
        takes = row["takes"] if row else "value"
        if value is None or (value is False and takes in ("nothing", "perhaps_value")):
            continue
        if value is True and takes in ("nothing", "perhaps_value"):
            words.append(flag)
        elif takes == "values" and isinstance(value, (list, tuple)):
            words += [f"{flag}={_text(item)}" for item in value]
        else:
            words.append(f"{flag}={_text(value)}")
    return words


class Question:
    """A question that can be asked again for another form of its answer."""

    __slots__ = ("name", "positionals", "words")

    def __init__(self, name: str, positionals: list[Any], words: list[str]):
        self.name, self.positionals, self.words = name, positionals, words

    def __getstate__(self):
        return (self.name, self.positionals, self.words)

    def __setstate__(self, state):
        self.name, self.positionals, self.words = state

    def ask(self, *form: str) -> tuple[int, str, str, tuple[str, str, str, str]]:
        """Exit code, output, and the text on standard error with the parts of its line, as the command line has them."""
        with words_of(self.positionals) as (positionals, _):
            return _program.ask([*self.name.split(), *positionals, *self.words, *form, "--quiet"])

    def _answered(self, *form: str) -> tuple[int, str]:
        with words_of(self.positionals) as (positionals, files):
            code, out, errors, parts = _program.ask([*self.name.split(), *positionals, *self.words, *form, "--quiet"])
        if not out:
            raise error_of(code, errors, parts, wording(self.name, files))
        for path, name in files.items():
            out = out.replace(path, name)
        return code, out

    def __call__(self, *form: str) -> str:
        return self._answered(*form)[1]

    def answer(self, kind: type[Answer]) -> Answer:
        code, out = self._answered("--format=json")
        return kind(json.loads(out), self, code)


def wording(verb: str, files: Iterable[str] = ()) -> Wording:
    """Texts of a verb in the words of its function; `files` stand for models."""
    rows = table()
    arguments = [re.sub(r"[^A-Z_]", "", row["name"]) for row in rows[verb.replace(" ", "_")]["arguments"]]
    return Wording(verb, [row["name"] for row in rows.values()], filter(None, arguments), list(files))


def _positionals(verb: dict[str, Any], given: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """The arguments without a name, in order; a second one may be the cluster."""
    rest, values = list(given), []
    for row in verb["arguments"]:
        name = argument(row["name"])
        if row["many"]:
            if name in options:
                value = options.pop(name)
                rest += list(value) if isinstance(value, (list, tuple)) else [value]
            for value in rest:
                values += list(value) if isinstance(value, (list, tuple)) else [value]
            rest = []
        elif rest:
            values.append(rest.pop(0))
        elif name in options:
            values.append(options.pop(name))
    if rest and verb["arguments"] and verb["arguments"][0]["name"] == "MODEL":
        cluster = rest.pop(0)
        if cluster is not None:
            options["cluster"] = cluster
    if rest:
        raise TypeError(f"{verb['name']} takes {len(given) - len(rest)} arguments without a name, {len(given)} were given")
    return [value if isinstance(value, (str, dict, Model, os.PathLike)) else _text(value) for value in values
            if value is not None]


def _signature(verb: dict[str, Any]) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters, taken = [], set()
    for row in verb["arguments"]:
        kind = kinds.VAR_POSITIONAL if row["many"] else kinds.POSITIONAL_OR_KEYWORD
        parameters.append(kinds(argument(row["name"]), kind, **({} if row["many"] else {"default": None})))
        taken.add(argument(row["name"]))
    if "model" in taken and "cluster" not in taken:
        parameters.append(kinds("cluster", kinds.POSITIONAL_OR_KEYWORD, default=None))
        taken.add("cluster")
    for row in verb["options"]:
        name = parameter(row["name"])
        if row["name"] not in _HIDDEN and name not in taken:
            parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=None))
            taken.add(name)
    return inspect.Signature(parameters)


def documentation(verb: dict[str, Any]) -> str:
    """Docstring of a verb's function."""
    lines = [verb["summary"][:1].upper() + verb["summary"][1:] + ".", ""]
    for row in verb["arguments"]:
        lines.append(f"{argument(row['name'])}: {row['help']}")
    for row in verb["options"]:
        if row["name"] not in _HIDDEN:
            lines.append(f"{parameter(row['name'])}: {row['help']}")
    return "\n".join(lines)


def class_name(name: str) -> str:
    """`measure_comm` -> `MeasureCommAnswer`."""
    return "".join(part.capitalize() for part in name.split("_")) + "Answer"


@functools.lru_cache(maxsize=None)
def answer_class(name: str) -> type[Answer]:
    """The class of a verb's answers."""
    return type(class_name(name), (Answer,), {"__slots__": (), "__module__": "headroom._kinds", "__doc__": f"Answer of `{name}`."})


def function(name: str) -> Callable[..., Answer] | None:
    """The function of a verb; None where there is no such verb."""
    verb = table().get(name)
    if verb is None:
        return None
    kind = answer_class(name)

    def call(*arguments: Any, **options: Any) -> Answer:
        positionals = _positionals(verb, arguments, options)
        return Question(verb["name"], positionals, _option_words(verb, options)).answer(kind)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "headroom"
    call.__doc__ = documentation(verb)
    call.__signature__ = _signature(verb)  # type: ignore[attr-defined]
    return call
