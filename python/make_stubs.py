#!/usr/bin/python3
"""make_stubs.py FOLDER: writes __init__.pyi into the package in FOLDER, from the tables of its own extension module.

Functions come from the table that `--help` is made of, classes from the JSON schemas of the answers.
"""

import json
import keyword
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(folder.parent))
from headroom import _program  # noqa: E402
from headroom._errors import Wording  # noqa: E402
from headroom._verbs import COMMANDED, argument, class_name, documentation, hidden, names, parameter, table, takes_table  # noqa: E402

HEAD = '''# Written by python/make_stubs.py from the tables of the program.
from datetime import timedelta
from enum import Enum
from os import PathLike
from typing import Any, Iterable, Literal, Mapping, Optional, Protocol, Sequence, SupportsFloat, Tuple, Union

from . import units as units
from ._answers import Answer as Answer, Record as Record, Rows as Rows
from ._errors import (
    Error as Error, InfeasibleError as InfeasibleError, InsufficientError as InsufficientError,
    UnreadableError as UnreadableError, UsageError as UsageError,
)
from ._models import Model as Model, from_hf as from_hf
from .units import Quantity as Quantity

__version__: str

class Listed(Protocol):
    """Numbers of NumPy, pandas or PyTorch."""
    def tolist(self) -> Any: ...

class Table(Protocol):
    """A frame of pandas or polars."""
    @property
    def columns(self) -> Any: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...

Value = Union[
    str, SupportsFloat, Quantity, timedelta, Enum, Iterable[Union[str, SupportsFloat, Quantity]], Mapping[str, Any], Listed, "PathLike[str]", None
]
class Configuration(Protocol):
    """A configuration of transformers, or `answer.model`."""
    def to_dict(self) -> Any: ...

class watch:
    answer: Optional[TraceAnswer]
    folder: Optional[str]
    steps: int
    wait: int
    def __init__(self, steps: int = 10, wait: int = 3, folder: Union[str, "PathLike[str]", None] = None, quiet: bool = False) -> None: ...
    def __enter__(self) -> "watch": ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...
    def step(self) -> None: ...
    def hugging_face(self) -> Any: ...
    def lightning(self) -> Any: ...

def from_torch(module: Any, *example: Any, batch: Optional[int] = None) -> Model: ...

ModelLike = Union[str, Model, Mapping[str, Any], Configuration, Sequence[str], "PathLike[str]"]
'''
SPELLED = Wording("", (), (), ())  # options by the names of arguments
SCALARS = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None", "object": "Record"}


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^0-9A-Za-z]+", name))


class Stubs:
    def __init__(self):
        self.classes = {}  # name -> (docstring, {field: (type, description)})

    def type_of(self, node, prefix):
        if "$ref" in node:
            return prefix + pascal(node["$ref"].rsplit("/", 1)[-1])
        for key in ("allOf", "anyOf", "oneOf"):
            if key in node:
                return self.union([self.type_of(part, prefix) for part in node[key]])
        if "enum" in node:
            return "Literal[" + ", ".join(repr(value) for value in node["enum"]) + "]"
        if "const" in node:
            return f"Literal[{node['const']!r}]"
        kinds = node.get("type", "any")
        return self.union([self.plain(kind, node, prefix) for kind in (kinds if isinstance(kinds, list) else [kinds])])

    def plain(self, kind, node, prefix):
        if kind == "array":
            item = self.type_of(node["items"], prefix) if isinstance(node.get("items"), dict) else "Any"
            size = node.get("minItems")
            if size and size == node.get("maxItems") and size < 8:
                return "Tuple[" + ", ".join([item] * size) + "]"
            return f"Rows[{item}]" if "$ref" in node.get("items", {}) else f"Tuple[{item}, ...]"
        return SCALARS.get(kind, "Any")

    @staticmethod
    def union(parts):
        flat = list(dict.fromkeys(parts))
        if len(flat) == 1:
            return flat[0]
        rest = [part for part in flat if part != "None"]
        inner = rest[0] if len(rest) == 1 else f"Union[{', '.join(rest)}]"
        return f"Optional[{inner}]" if "None" in flat else inner

    def add(self, name, nodes, prefix, base):
        fields = {}
        for node in nodes:
            for field, value in node.get("properties", {}).items():
                kind = self.type_of(value, prefix)
                if field in fields:
                    kind = self.union([fields[field][0], kind]) if fields[field][0] != kind else kind
                fields[field] = (kind, value.get("description", fields.get(field, ("", ""))[1]), value.get("unit"))
        self.classes[name] = (base, fields)

    def add_verb(self, verb):
        code, text, errors, *_ = _program.ask(["schema", *table()[verb]["name"].split()])
        if code != 0:
            raise SystemExit(errors)
        schema = json.loads(text)
        prefix = class_name(verb)[: -len("Answer")]
        for name, node in schema.get("definitions", {}).items():
            self.add(prefix + pascal(name), [node], prefix, "Record")
        forms = schema.get("anyOf") or [schema]
        self.add(class_name(verb), forms, prefix, "Answer")

    def text(self):
        out = []
        for name, (base, fields) in self.classes.items():
            out.append(f"\nclass {name}({base}):")
            for field, (kind, words, unit) in fields.items():
                if not field.isidentifier():
                    continue
                out.append("    @property")
                out.append(f"    def {field + '_' if keyword.iskeyword(field) else field}(self) -> {kind}:")
                out.append('        """' + SPELLED(words).replace("\\", "\\\\").replace('"', "'") + (f" [{unit}]" if unit else "") + '"""')
            if not fields:
                out.append("    pass")
        return "\n".join(out)


def kind_of(option):
    """Type of an option's argument."""
    if option["takes"] == "nothing":
        return "Optional[bool]"
    return "Union[Value, Table]" if takes_table(option) else "Value"


def function_text(verb):
    row = table()[verb]
    parameters, taken = [], set()
    many = False
    if row["name"] in COMMANDED:
        parameters.append("command: Union[str, Sequence[str], None] = None")
    for one in row["arguments"]:
        name = argument(one["name"])
        kind = "ModelLike" if name == "model" else "Value"
        if one["many"]:
            parameters.append(f"*{name}: Union[Value, ModelLike, Table]")
            many = True
        else:
            parameters.append(f"{name}: Optional[{kind}] = None" if kind == "ModelLike" else f"{name}: Value = None")
        taken.add(name)
    if "model" in taken and "cluster" not in taken:
        parameters.append("cluster: Value = None")
        taken.add("cluster")
    options = []
    for one in row["options"]:
        name = parameter(one["name"])
        if one["name"] in hidden(row) or name in taken:
            continue
        taken.add(name)
        options.append(f"{name}: {kind_of(one)} = None")
    if options and not many:
        parameters.append("*")
    parameters += options
    words = documentation(row).splitlines()
    doc = "\n    ".join(line.replace("\\", "\\\\").replace('"""', "'''") for line in words)
    return f'def {verb}(\n    ' + ",\n    ".join(parameters) + f",\n) -> {class_name(verb)}:\n    \"\"\"{doc}\n    \"\"\"\n"


stubs = Stubs()
for each in names():
    stubs.add_verb(each)
functions = "\n".join(function_text(each) for each in names())
memory = function_text("predict").replace("def predict(", "def estimate_memory(").replace("-> PredictAnswer:", "-> PredictMemory:")
memory = re.sub(r'"""(?s:.*)"""', '"""Memory of one accelerator, by kind of state; the arguments of `predict`."""', memory)
target = folder / "__init__.pyi"
text = HEAD + stubs.text() + "\n\n" + functions + "\n" + memory
if not target.exists() or target.read_text() != text:
    target.write_text(text)
