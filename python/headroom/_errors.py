"""Refusals as exceptions: the words of the command line as Python spells them, with their parts."""

from __future__ import annotations

import keyword
import os
import re
from typing import Any, Iterable


class Error(Exception):
    """A question that has no answer.

    `where` names the argument or place, `problem` the fault, `why` the reason, `hint` the remedy; each may be empty.
    `exit_code` is that of the command line.
    """

    exit_code = 1

    def __init__(self, line: str, where: str = "", problem: str = "", why: str = "", hint: str = "",
                 exit_code: int | None = None):
        super().__init__(line)
        self.where, self.problem, self.why, self.hint = where, problem, why, hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __reduce__(self) -> Any:
        return (type(self), (str(self), self.where, self.problem, self.why, self.hint, self.exit_code))


class UsageError(Error, ValueError):
    """An argument that is unknown, missing or not understood."""

    exit_code = 2


class InfeasibleError(Error):
    """Nothing that was asked for can be done."""

    exit_code = 3


class UnreadableError(Error, ValueError):
    """A file that is missing or not understood."""

    exit_code = 4


class InsufficientError(Error, ValueError):
    """Too little data for an answer."""

    exit_code = 5


def refuse(where: str, problem: str, why: str = "", hint: str = "") -> UsageError:
    """The exception for an argument, its line as the command line writes it: `where: problem (why). hint`."""
    line = f"{where}: {problem}" + (f" ({why})" if why else "") + (f". {hint}" if hint else "")
    return UsageError(line, where, problem, why, hint)


_BY_CODE = {kind.exit_code: kind for kind in (UsageError, InfeasibleError, UnreadableError, InsufficientError)}


def parameter(option: str) -> str:
    """`--global-batch` -> `global_batch`; `--from` -> `from_`."""
    name = option.lstrip("-").replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:(=| )('[^']*'|[$]?[0-9][^\s;()']*[^\s,;().?']|[0-9]"
                     r"|[a-z][\w-]*[0-9][\w-]*|[\w/-]+[.](?:toml|csv|json|html)))?")


def _argument(found: re.Match[str]) -> str:
    """`--workers 8` -> `workers=8`, `--mtbf 50700h` -> `mtbf='50700h'`, `--log FILE` -> `log FILE`."""
    name, value = parameter(found[1]), found[3]
    if value is None:
        return name + (found[2] or "")
    plain = value.startswith("'") or re.fullmatch(r"[0-9]+(?:[.][0-9]+)?", value)
    return f"{name}={value if plain else repr(value)}"


class Wording:
    """Texts of a verb's command line in the words of its function.

    `arguments` are the verb's names of arguments without a name (`MODEL`), `files` the paths of files that stand for models.
    """

    def __init__(self, verb: str, verbs: Iterable[str], arguments: Iterable[str], files: Iterable[str]):
        self.function = "headroom." + verb.replace(" ", "_")
        self.files = files
        names = sorted(verbs, key=len, reverse=True)
        self._help = re.compile(rf"see headroom ({'|'.join(names)}) --help")
        self._verb = re.compile(rf"(?<![\w./-])headroom ({'|'.join(names)})(?: (list|show|search|[a-z-]+:[0-9]+)(?: ([a-z]+))?)?(?![\w-])")
        self._arguments = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, arguments)) or '(?!)'})(?![\w-])")

    def _call(self, found: re.Match[str]) -> str:
        function, given = "headroom." + found[1].replace(" ", "_"), [repr(word) for word in found.groups()[1:] if word]
        return f"{function}({', '.join(given)})" if given else function

    @staticmethod
    def _meant(found: re.Match[str]) -> str:
        value = f"{parameter(found[1])}={found[2].strip()!r}" if found[2] else f"'{parameter(found[1])}'"
        return "did you mean " + value

    def __call__(self, text: str) -> str:
        for path in self.files:
            text = text.replace(path, os.path.splitext(os.path.basename(path))[0])
        text = re.sub(r"^command line: unknown option '(--[\w-]+)' \([^)]*\)",
                      lambda found: f"{parameter(found[1])}: no such argument ({self.function} does not take it)", text)
        text = re.sub(r"^command line: ", f"{self.function}: ", text)
        text = self._help.sub(lambda found: f"see help(headroom.{found[1].replace(' ', '_')})", text)
        text = self._verb.sub(self._call, text)
        text = re.sub(r"did you mean '(--[\w-]+)( [^']+)?'", self._meant, text)
        return self._arguments.sub(lambda found: found[1].lower(), _OPTION.sub(_argument, text))

    def parts(self, parts: tuple[str, str, str, str]) -> tuple[str, str, str, str]:
        """Those of a line."""
        where, problem, why, hint = parts
        unknown = re.fullmatch(r"unknown option '(--[\w-]+)'", problem)
        if where == "command line" and unknown:
            return parameter(unknown[1]), "no such argument", f"{self.function} does not take it", self(hint)
        return self.function if where == "command line" else self(where), self(problem), self(why), self(hint)


def error_of(code: int, text: str, parts: tuple[str, str, str, str], wording: Wording) -> Error:
    """The exception for an exit code, the text on standard error and the parts of its line."""
    line = wording(text.strip().splitlines()[-1]) if text.strip() else f"headroom: exit code {code}"
    if not parts[0] and (found := re.fullmatch(r"(.+?): (.+?)(?: \((.+)\))?(?:[.] (.+))?", line)):
        return _BY_CODE.get(code, Error)(line, found[1], found[2], found[3] or "", found[4] or "", exit_code=code)
    return _BY_CODE.get(code, Error)(line, *wording.parts(parts), exit_code=code)
