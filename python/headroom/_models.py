"""Models that are no names: configurations as dictionaries or objects."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any, Iterator, Mapping

from ._errors import refuse


class Model:
    """A model by its configuration, as `plan`, `predict` and `inference` take it.

    `text` is the content of a file that the command line reads, `suffix` the end of its name, `name` its beginning.
    """

    __slots__ = ("text", "suffix", "name")

    def __init__(self, text: str, suffix: str = ".json", name: str = "model"):
        self.text, self.suffix, self.name = text, suffix, name

    def __repr__(self) -> str:
        return f"<headroom {self.name} of {len(self.text)} characters>"


def from_hf(config: Any) -> Model:
    """Model of a Hugging Face configuration: a `PretrainedConfig` of transformers, or a dictionary like config.json.

    What the configuration leaves to the defaults of its class is written out by transformers.
    """
    if not isinstance(config, Mapping) and not hasattr(config, "to_dict"):
        raise refuse("config", f"a {type(config).__name__}", "", "give a dictionary like config.json or a PretrainedConfig; "
                     "names and files go to the functions as they are")
    values = dict(config) if isinstance(config, Mapping) else config.to_dict()
    try:
        return Model(json.dumps(values, default=_plain))
    except (TypeError, ValueError) as error:
        raise refuse("config", "cannot be written as JSON", str(error), "give a dictionary like config.json") from error


def _plain(value: Any) -> Any:
    """A number or array of NumPy as JSON has it; anything else as its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def is_table(value: Any) -> bool:
    """Whether it is a frame or a series of pandas or polars."""
    return type(value).__module__.split(".")[0] in ("pandas", "polars") and hasattr(value, "shape")


def table_of(value: Any, name: str, column: bool = False) -> Model:
    """A frame as the file that an argument of this name takes; an index with a name is a column, except of a series that is one (`column`).

    Errors: UsageError for a column of durations.
    """
    named = isinstance(getattr(value, "name", None), str) and value.name != ""  # else its number would be read as a value
    is_series = len(value.shape) == 1
    frame = value.to_frame() if is_series else value
    for title, kind in zip(frame.columns, frame.dtypes):
        if str(kind).lower().startswith(("timedelta", "duration")):
            raise refuse(name, f"column {title!r} holds durations", "a table has numbers", "give their seconds: column.dt.total_seconds()")
    has_head = named if is_series else any(isinstance(title, str) for title in frame.columns)
    if not hasattr(frame, "to_csv"):
        return Model(frame.write_csv(include_header=has_head), ".csv", name)
    has_index = has_head and not (is_series and column) and any(title is not None for title in frame.index.names)
    return Model(frame.to_csv(index=has_index, header=has_head), ".csv", name)


@contextlib.contextmanager
def words_of(values: list[Any]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Arguments as words: a model or a table becomes a file for as long as the question takes; such files by their paths. An option of one is
    a pair of its flag and the model."""
    with contextlib.ExitStack() as stack:
        words, files = [], {}
        for value in values:
            if type(value) is str:
                words.append(value)
                continue
            if isinstance(value, dict):
                value = from_hf(value)
            flag, held = value if isinstance(value, tuple) else ("", value)
            if isinstance(held, Model):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="headroom-"))
                path = os.path.join(folder, held.name + held.suffix)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(held.text)
                files[path] = held.name + held.suffix
                value = f"{flag}={path}" if flag else path
            words.append(os.fspath(value) if isinstance(value, os.PathLike) else value)
        yield words, files
