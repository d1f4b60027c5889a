"""Refusals as exceptions: the same words as the command line, with their parts."""

from __future__ import annotations

from typing import Any


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


_BY_CODE = {kind.exit_code: kind for kind in (UsageError, InfeasibleError, UnreadableError, InsufficientError)}


def error_of(code: int, text: str, parts: tuple[str, str, str, str]) -> Error:
    """The exception for an exit code, the text on standard error and the parts of its line."""
    line = text.strip().splitlines()[-1] if text.strip() else f"headroom: exit code {code}"
    return _BY_CODE.get(code, Error)(line, *parts, exit_code=code)
