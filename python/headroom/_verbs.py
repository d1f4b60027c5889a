"""Verbs as functions, made from the table that `--help` is made of."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import io
import json
import numbers
import os
import re
from typing import Any, Callable, Iterable, Iterator, Mapping

from . import _program
from ._answers import Answer, Record
from ._errors import Error, Wording, error_of, parameter, refuse
from ._models import Model, from_hf, is_table, table_of, words_of

_HIDDEN = {"--format", "--out", "--quiet", "--no-color", "--print-config"}  # what a function answers for


def hidden(verb: dict[str, Any]) -> set[str]:
    """Options of a verb that its function does not take; `calibrate` writes its file of constants to `out`, and no answer."""
    return _HIDDEN - ({"--out"} if verb["name"] == "calibrate" else set())


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


def _plain(value: Any) -> Any:
    """A value of an enumeration, a dataclass, NumPy, pandas or PyTorch as one of Python."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, type):  # numpy.float32
        return value.__name__
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist") or is_table(value) and hasattr(value, "to_list"):  # polars has the second alone
        return value.tolist() if hasattr(value, "tolist") else value.to_list()
    return value


def _has_text(value: Any) -> bool:
    """Whether its text is a value: neither bytes, nor an open file, nor a frame that is not computed, nor an object that Python alone describes."""
    if isinstance(value, (bytes, bytearray, io.IOBase, BaseException)) or hasattr(value, "collect"):
        return False
    return type(value).__str__ is not object.__str__ or "dtype" in type(value).__name__


def _text(value: Any, name: str = "") -> str:
    """A value as the command line takes it.

    Errors: UsageError for what has no text; `name`: the argument.
    """
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    value = _plain(value)
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "on" if value else "off"
    if hasattr(value, "total_seconds"):
        return f"{_text(float(value.total_seconds()))}s"
    if isinstance(value, Record):
        raise refuse(name, "a part of an answer", "it has several fields", "give one of them, such as its name or a degree")
    if isinstance(value, Mapping):
        return ",".join(_pairs(value, name))
    if isinstance(value, range) and len(value) > _WRITTEN and value.step > 0:
        return f"{value[0]}..{value[-1]}:{value.step}"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, io.IOBase)):
        return ",".join(_text(item, name) for item in value)
    if isinstance(value, numbers.Rational):
        value = float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if not isinstance(value, (int, float)) and not _has_text(value):
        raise refuse(name, "None" if value is None else f"a {type(value).__name__}", "it is neither a number nor a text", "give one, or a list of them")
    return str(value)


_WRITTEN = 1000  # numbers of a range that are written one by one, which every list takes


def _pairs(value: Mapping[Any, Any], name: str) -> list[str]:
    """`{"tp": 2}` -> `tp=2`."""
    return [f"{key}={_text(value[key], name)}" for key in value]


@functools.lru_cache(maxsize=None)
def _rows(name: str) -> dict[str, dict[str, Any]]:
    """Options of a verb by their parameters."""
    rows: dict[str, dict[str, Any]] = {}
    for row in table()[name]["options"]:
        rows[parameter(row["name"])] = row
        if row["alias"]:
            rows.setdefault(parameter(row["alias"]), {**row, "name": row["alias"]})
    return rows


def _refuse_kind(verb: str, name: str, row: dict[str, Any], value: Any) -> None:
    """Refuses a value whose text would mean something else than what was given."""
    if row["placeholder"].startswith("FILE") and not isinstance(value, (str, os.PathLike)):
        raise refuse(name, f"a {type(value).__name__}", "it is a file", "give its path; a table may be a frame of pandas or polars")
    if isinstance(value, bool) and not row["placeholder"].startswith("on|off"):
        raise refuse(name, repr(value), "no value of it", f"give one, or leave it out: {wording(verb)(row['help'])}")


def _refuse_unknown(verb: str, flag: str) -> None:
    """Refuses an option that the verb does not know by this name nor by another tool's, though it was left out with None."""
    code, _, errors, parts, _ = _program.ask([*verb.split(), f"{flag}=1", "--print-config"])
    if parts[1].startswith("unknown option"):
        raise error_of(code, errors, parts, wording(verb))


_PLAIN = (str, int, float)
_TABLES = ("FILE", "LOG", "PATH", "SAMPLES")  # placeholders of options that take a table


def takes_table(row: dict[str, Any]) -> bool:
    """Whether a frame is a value of the option."""
    return any(word in row["placeholder"] for word in _TABLES) and row["takes"] != "nothing"


def _several(value: Any) -> list[Any]:
    """Values of an iterable such as a list or the paths that a pattern finds; anything else alone."""
    single = isinstance(value, (str, bytes, bytearray, Mapping, os.PathLike, io.IOBase, Model)) or hasattr(value, "tolist") or is_table(value)
    return list(value) if isinstance(value, Iterable) and not single else [value]


def _words_of_values(name: str, flag: str, row: dict[str, Any] | None, value: Any) -> list[Any]:
    """Words of an option that may be given several times: each value, and each pair of a dictionary, is one."""
    words: list[Any] = []
    for item in _several(value):
        item = _option_value(name, row, item)
        if isinstance(item, Model):
            words.append((flag, item))
        elif isinstance(item, Mapping) and not isinstance(item, Record):
            words += [f"{flag}={pair}" for pair in _pairs(item, name)]
        else:
            words.append(f"{flag}={_text(item, name)}")
    if not words:
        raise refuse(name, repr(value), "it is empty", "leave it out, or give at least one")
    return words


def _option_value(name: str, row: dict[str, Any] | None, value: Any) -> Any:
    """A value of an option: a table where the option takes one, else its numbers."""
    if type(value) in _PLAIN:
        return value
    if row is None or not is_table(value):
        return _plain(value)
    if takes_table(row):
        return table_of(value, name)
    if len(value.shape) > 1:
        raise refuse(name, f"a {type(value).__name__}", "it takes no table", "give a column of it")
    return _plain(value)


def _option_words(verb: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    rows, refused = _rows(verb["name"].replace(" ", "_")), hidden(verb) | {"--help"}
    words: list[Any] = []
    for name, value in options.items():
        row = rows.get(name)
        if (row["name"] if row else "--" + name.rstrip("_").replace("_", "-")) in refused:
            raise refuse(name, "no such argument", f"headroom.{verb['name'].replace(' ', '_')} answers with an object",
                         "write its to_dict(), to_csv() or to_html()")
        flag = row["name"] if row else "--" + name.rstrip("_").replace("_", "-")
        takes = row["takes"] if row else "value"
        value = _option_value(name, row, value)
        if takes == "nothing" and value is not None and not isinstance(value, bool):
            raise refuse(name, repr(value), "it is a switch", "give True or False")
        if value is None and row is None:
            _refuse_unknown(verb["name"], flag)
        if value is None or (value is False and takes in ("nothing", "perhaps_value")):
            continue
        if value is True and takes in ("nothing", "perhaps_value"):
            words.append(flag)
        elif isinstance(value, Model):
            words.append((flag, value))
        elif takes == "values":
            words += _words_of_values(name, flag, row, value)
        else:
            if row is not None and takes == "value":
                _refuse_kind(verb["name"], name, row, value)
            text = _text(value, name)
            words += [f"{flag}={text}"] if text else [flag, ""]  # an empty value of its own, which takes no other in its place
    return words


def named(text: str, files: Mapping[str, str]) -> str:
    """The text with the names of models and tables in the place of the paths of their files."""
    for path, name in files.items():
        text = text.replace(path, name)
    return text


class Kept:
    """A result in the program, made in the forms that are asked for."""

    __slots__ = ("result", "files")

    def __init__(self, result: Any, files: Mapping[str, str]):
        self.result, self.files = result, files

    def values(self) -> dict[str, Any]:
        """Fields as `json.loads` reads them."""
        values: dict[str, Any] = json.loads(self.form("json")) if self.files else _program.values(self.result)
        return values

    def form(self, name: str) -> str:
        """The result as table, csv, html or json."""
        return named(_program.form(self.result, name), self.files)


class Question:
    """A question, and the further forms of its answer."""

    __slots__ = ("name", "positionals", "words", "command")

    def __init__(self, name: str, positionals: list[Any], words: list[Any], command: Iterable[str] = ()):
        self.name, self.positionals, self.words, self.command = name, positionals, words, list(command)

    def __getstate__(self):
        return (self.name, self.positionals, self.words, self.command)

    def __setstate__(self, state):
        self.name, self.positionals, self.words, self.command = state

    def ask(self, *form: str, forms: tuple[str, ...] = ()) -> tuple[int, str, str, tuple[str, str, str, str], list[str]]:
        """Exit code, output, the text on standard error with the parts of its line, as the command line has them, and the same result in
        further forms."""
        with words_of([*self.positionals, *self.words]) as (words, _):
            return _program.ask([*self.name.split(), *words, *form, "--quiet", *self.command], list(forms))

    def _once(self) -> bool:
        """Whether asking again measures, reads a stream or writes anew."""
        texts = [word for word in self.words if isinstance(word, str)]
        return (self.name.startswith("measure") or any(isinstance(value, str) and value == "-" for value in self.positionals)
                or any(word.endswith("=-") or _WRITES.match(word) for word in texts))

    def answered(self, forms: tuple[str, ...], keeps: bool = False) -> tuple[int, str, dict[str, str], Kept | None]:
        """Exit code, JSON, and the result in the forms; where `keeps`, the result itself in their place, if the verb can keep it."""
        with words_of([*self.positionals, *self.words]) as (given, files):
            words = [*self.name.split(), *given, "--format=json", "--quiet", *self.command]
            code, out, errors, parts, made, kept = _program.answer(words, list(forms)) if keeps else (*_program.ask(words, list(forms)), None)
        if kept is not None:
            return code, "", {}, Kept(kept, files)
        if not out:
            raise error_of(code, errors, parts, wording(self.name, files))
        return code, named(out, files), {form: named(text, files) for form, text in zip(forms, made)}, None

    def answer(self, kind: type[Answer], whole: bool = False, launch: Iterable[str] = ()) -> Answer:
        """The answer; `whole`: with its page, which else is made when it is asked for. `launch`: words that ask for its launch file."""
        forms = ("table", "csv", "html") if whole or self._once() else ("table", "csv")
        code, out, made, kept = self.answered(forms, keeps=True)
        try:
            values = None if kept is not None else json.loads(out)
        except ValueError:
            raise Error(f"headroom.{self.name.replace(' ', '_')}: no answer but text: {out.strip().splitlines()[0]}",
                        problem="no answer but text") from None
        if launch:
            code_of_file, out, errors, parts, _ = self.ask(*launch)
            if not out:
                raise error_of(code_of_file, errors, parts, wording(self.name))
            made["launch"] = out
        return kind(values, self, code, made, kept)

    def page_of(self, values: dict[str, Any]) -> str:
        """The page of an answer with these values.

        Errors: Error where the question has another answer by now: a file that it names has changed.
        """
        _, out, made, _ = self.answered(("html",))
        now = json.loads(out)
        if {**now, "stats": None} != {**values, "stats": None}:
            raise Error(f"headroom.{self.name}: a file of this question has changed since it was answered. ask again",
                        problem="a file of this question has changed since it was answered", hint="ask again")
        return made["html"]


_WRITES = re.compile(r"--(save|timeline|html|emit|out=)")


def wording(verb: str, files: Iterable[str] = ()) -> Wording:
    """Texts of a verb in the words of its function; `files` stand for models."""
    rows = table()
    arguments = [re.sub(r"[^A-Z_]", "", row["name"]) for row in rows[verb.replace(" ", "_")]["arguments"]]
    if verb in COMMANDED:
        arguments.append("COMMAND")
    return Wording(verb, [row["name"] for row in rows.values()], filter(None, arguments), list(files))


def _given_once(name: str, options: dict[str, Any]) -> None:
    if options.get(name) is not None:
        raise refuse(name, "given twice", "by its place and by its name", "keep one")


def _positionals(verb: dict[str, Any], given: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """The arguments without a name, in order; a second one may be the cluster."""
    rest, values = list(given), []  # values with the names of their arguments
    for row in verb["arguments"]:
        name = argument(row["name"])
        if row["many"]:
            if name in options:
                value = options.pop(name)
                rest += _several(value)
            for value in rest:
                values += [(name, each) for each in _several(value)]
            rest = []
        elif rest:
            _given_once(name, options)
            options.pop(name, None)
            values.append((name, rest.pop(0)))
        elif name in options:
            values.append((name, options.pop(name)))
    if rest and verb["arguments"] and verb["arguments"][0]["name"] == "MODEL":
        cluster = rest.pop(0)
        if cluster is not None:
            _given_once("cluster", options)
            options["cluster"] = cluster
    if rest:
        taken = [argument(row["name"]) for row in verb["arguments"]] + (["cluster"] if verb["arguments"][:1] and
                                                                        verb["arguments"][0]["name"] == "MODEL" else [])
        example = ": workers=64" if any(row["name"] == "--workers" for row in verb["options"]) else ""
        raise TypeError(f"headroom.{verb['name'].replace(' ', '_')} takes {len(taken)} arguments without a name ({', '.join(taken)}), "
                        f"{len(given)} were given. name the others{example}")
    return [_positional(verb, name, value) for name, value in values if value is not None]


_OF_FILES = ("tail", "trace", "calibrate", "graph")
_OF_NAMES = ("model", "cluster", "action", "name")  # arguments that are no tables


def _positional(verb: dict[str, Any], name: str, value: Any) -> Any:
    if type(value) is str:
        return value
    if verb["name"] in _OF_FILES and (isinstance(value, (int, float, io.IOBase)) or hasattr(value, "tolist") and not is_table(value)):
        raise refuse(name, f"a {type(value).__name__}", "it is a file",
                     "give its path; a table may be a frame of pandas or polars: pandas.Series(values, name='latency_ms')")
    if isinstance(value, bool) or name in _OF_NAMES and is_table(value):
        raise refuse(name, repr(value) if isinstance(value, bool) else f"a {type(value).__name__}", "no value of it", "give a name or a path")
    if name == "model" and isinstance(value, (list, tuple)) and not all(isinstance(each, str) for each in value):
        if len(value) != 1:
            raise refuse(name, f"{len(value)} models", "several go by their names alone", "ask for one configuration at a time")
        value = value[0]
    if is_table(value):
        return table_of(value, name, column=True)
    if isinstance(value, dict) and name != "model":
        return Model(from_hf(value).text, ".json", name)
    if isinstance(value, Record) and "name" in value:  # `answer.model`
        return value["name"]
    if any(kind.__module__ == "torch.nn.modules.module" for kind in type(value).__mro__):
        from ._torch import from_torch

        return from_torch(value)
    if verb["arguments"][0]["name"] == "MODEL" and (isinstance(value, Mapping) or hasattr(value, "to_dict")) and not isinstance(value, (dict, Record)):
        return from_hf(value)
    return value if isinstance(value, (str, dict, Model, os.PathLike)) else _text(value, name)


COMMANDED = ("measure scaling",)  # verbs that run a command, which the command line takes behind --


def _command(verb: dict[str, Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[list[str], tuple[Any, ...]]:
    """Words of the command that a verb runs, a text by a shell, and the other arguments without a name."""
    if verb["name"] not in COMMANDED:
        return [], arguments
    command = options.pop("command", None)
    if arguments and command is None:
        command, arguments = arguments[0], arguments[1:]
    if not command and options.get("example"):
        return [], arguments
    if not command:
        raise refuse("command", "missing", "it is run on each number of workers", f"headroom.{verb['name'].replace(' ', '_')}"
                     "(['./app', '{workers}'], workers=[1, 2, 4]), or a text for a shell")
    if isinstance(command, str):
        options["shell"] = True
        command = [command]
    return ["--", *map(_text, command)], arguments


def _signature(verb: dict[str, Any]) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters, taken = [], set()
    if verb["name"] in COMMANDED:
        parameters.append(kinds("command", kinds.POSITIONAL_OR_KEYWORD, default=None))
    for row in verb["arguments"]:
        kind = kinds.VAR_POSITIONAL if row["many"] else kinds.POSITIONAL_OR_KEYWORD
        parameters.append(kinds(argument(row["name"]), kind, **({} if row["many"] else {"default": None})))
        taken.add(argument(row["name"]))
    if "model" in taken and "cluster" not in taken:
        parameters.append(kinds("cluster", kinds.POSITIONAL_OR_KEYWORD, default=None))
        taken.add("cluster")
    for row in verb["options"]:
        name = parameter(row["name"])
        if row["name"] not in hidden(verb) and name not in taken:
            parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=None))
            taken.add(name)
    return inspect.Signature(parameters)


def documentation(verb: dict[str, Any]) -> str:
    """Docstring of a verb's function."""
    lines = [verb["summary"][:1].upper() + verb["summary"][1:] + ".", ""]
    if verb["name"] in COMMANDED:
        lines.append("command: a list of its words, or a text for a shell; {workers} in it is their number")
    for row in verb["arguments"]:
        lines.append(f"{argument(row['name'])}: {row['help']}")
    for row in verb["options"]:
        if row["name"] not in hidden(verb):
            lines.append(f"{parameter(row['name'])}: {row['help']}")
    return wording(verb["name"])("\n".join(lines))


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
        command, arguments = _command(verb, arguments, options)
        positionals = _positionals(verb, arguments, options)
        emit = _option_words(verb, {"emit": options.pop("emit")}) if "emit" in options else []
        question = Question(verb["name"], positionals, _option_words(verb, options), command)
        return question.answer(kind, launch=emit)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "headroom"
    call.__doc__ = documentation(verb)
    call.__signature__ = _signature(verb)  # type: ignore[attr-defined]
    return call
