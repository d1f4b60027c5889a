"""Models that are no names: configurations as dictionaries or objects."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any, Iterator

from ._errors import refuse


class Model:
    """A model by its configuration, as `plan`, `predict` and `inference` take it.

    `text` is the content of a file that the command line reads, `suffix` the end of its name.
    """

    __slots__ = ("text", "suffix")

    def __init__(self, text: str, suffix: str = ".json"):
        self.text, self.suffix = text, suffix

    def __repr__(self) -> str:
        return f"<headroom model of {len(self.text)} characters>"


def from_hf(config: Any) -> Model:
    """Model of a Hugging Face configuration: a `PretrainedConfig` of transformers, or a dictionary like config.json.

    What the configuration leaves to the defaults of its class is written out by transformers.
    """
    if not isinstance(config, dict) and not hasattr(config, "to_dict"):
        raise refuse("config", f"a {type(config).__name__}", "", "give a dictionary like config.json or a PretrainedConfig; "
                     "names and files go to the functions as they are")
    values = config if isinstance(config, dict) else config.to_dict()
    return Model(json.dumps(values, default=_plain))


def _plain(value: Any) -> Any:
    """A number or array of NumPy as JSON has it; anything else as its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextlib.contextmanager
def words_of(values: list[Any]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Arguments as words: a model becomes a file for as long as the question takes; such files by their paths."""
    with contextlib.ExitStack() as stack:
        words, files = [], {}
        for value in values:
            if isinstance(value, dict):
                value = from_hf(value)
            if isinstance(value, Model):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="headroom-"))
                path = os.path.join(folder, "model" + value.suffix)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(value.text)
                files[path] = "model" + value.suffix
                value = path
            words.append(os.fspath(value) if isinstance(value, os.PathLike) else value)
        yield words, files
