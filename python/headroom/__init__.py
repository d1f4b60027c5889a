"""Predicts step time, memory and cost of distributed training before anyone rents a machine.

Every verb of the command line is a function: its arguments have the names of the options, its result the fields of
`--format json`.

    >>> import headroom
    >>> plan = headroom.plan("llama-3-70b", "dgx-h100", workers=[256, 1024], tokens="2T")
    >>> plan.curve[0].step_seconds
"""

from __future__ import annotations

import sys as _sys

from ._answers import Answer, Record, Rows
from ._errors import Error, InsufficientError, InfeasibleError, UnreadableError, UsageError
from ._models import from_hf
from ._verbs import function as _function, names as _names

__all__ = [
    "Answer", "Record", "Rows", "Error", "InsufficientError", "InfeasibleError", "UnreadableError", "UsageError",
    "estimate_memory", "from_hf", "from_torch", "units", "watch", *_names(),
]


def estimate_memory(model, cluster=None, **options):
    """Memory of one accelerator, by kind of state; the arguments of `predict`."""
    return _sys.modules[__name__].predict(model, cluster, **options).memory


def __getattr__(name):
    # Verbs are made when they are first used, so that an import stays short; what needs PyTorch is imported by its first use.
    if name == "from_torch":
        from ._torch import from_torch as value
    elif name == "watch":
        from ._watch import watch as value
    elif name == "units":
        from importlib import import_module
        value = import_module(".units", __name__)
    elif name == "__version__":
        value = _version()
    else:
        value = _function(name)
        if value is None:
            raise AttributeError(f"module 'headroom' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})


def _version():
    from ._program import ask
    return ask(["--version"])[1].split()[1]
