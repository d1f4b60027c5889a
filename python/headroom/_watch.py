"""Profiles some steps of a training loop on every rank, and says whether more accelerators would help that very job."""

from __future__ import annotations

import contextlib
import json
import operator
import os
import re
import shutil
import sys
import tempfile
import weakref
from typing import Any

from ._errors import Error, refuse


_TRACE = re.compile(r"rank[0-9]+[.]json")  # of one rank


class watch:
    """Profiles steps of a training loop, and prints the verdict of `headroom.trace` on rank 0.

        with headroom.watch(steps=10) as watched:
            for batch in loader:
                train(batch)
                watched.step()

    `step` is called at the end of each step, on every rank; the first `wait` steps (compiling, allocating, filling caches) are
    left out. After `steps` more the traces are written and read; the loop goes on. A loop that ends before is read as far as its
    steps were profiled whole; one that has none, or that another profiler watches on any rank, ends with a remark and no answer, as does one
    whose traces cannot be written or read: the loop goes on. A watch that is entered again watches again. A loop of Accelerate is watched like any other. As a callback: `Trainer(callbacks=[headroom.watch(steps=10).hugging_face()])`
    and `lightning.Trainer(callbacks=[headroom.watch(steps=10).lightning()])`; a step is one of the optimizer, whatever the accumulation.

    steps: steps that are profiled.
    wait: steps before them.
    folder: where the traces are kept, one file a rank; all ranks need the same one. When it is left out they are written to a temporary
        folder, read, and removed; ranks on other machines than rank 0's are then not read.
    quiet: print nothing; the answer is in `answer` on rank 0.
    """

    _running: Any = None  # weak reference to the watch of this process that profiles
    _of_trainer = False  # a callback of the Trainer of transformers, which does not say that a training failed

    def __init__(self, steps: int = 10, wait: int = 3, folder: Any = None, quiet: bool = False):
        for name, value, least in (("steps", steps, 1), ("wait", wait, 0)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
                raise refuse(name, repr(value), "", f"give a whole number of at least {least}")
        self.steps, self.wait, self.quiet = operator.index(steps), operator.index(wait), quiet
        if folder is not None and (not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder)):
            raise refuse("folder", repr(folder), "it is no path", "give a folder")
        self.folder = None if folder is None else os.fspath(folder)
        if self.folder is not None and os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise refuse("folder", repr(self.folder), "it is a file", "give a folder")
        self.answer: Any = None
        self._profiler: Any = None
        self._start()

    def _start(self) -> None:
        self._seen = 0
        self._skipped = self.wait  # steps before the first that is profiled
        self._begun = self._done = False

    def __enter__(self) -> "watch":
        if self._profiler is None:
            self._start()
            self.answer = None
        if self.wait < 2:
            self._begin()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._abandon()
        elif not self._done:
            self._finish()

    def __del__(self) -> None:
        if getattr(self, "_profiler", None) is not None:  # dropped in the middle of a loop: its profiler would be in the way of the next
            with contextlib.suppress(Exception):
                self._abandon()

    def step(self) -> None:
        """The end of a step."""
        if self._done:
            return
        self._seen += 1
        if self._begun:
            self._try("step")
            if self._seen == self._skipped + self.steps:
                self._finish()
        elif self._seen >= self.wait - 1:
            self._skipped = max(self.wait, self._seen + 1)  # without `with`, the first step has passed
            self._begin()

    @staticmethod
    def _profiling() -> "watch | None":
        return None if watch._running is None else watch._running()

    def _begin(self) -> None:
        """Starts the profiler; the last step of the wait is its warm-up."""
        from torch import profiler
        import torch

        self._begun = True
        enabled = getattr(torch.autograd, "_profiler_enabled", None)
        if watch._profiling() is not None or (enabled is not None and enabled()):
            return  # and takes part in what the ranks do together
        activities = [profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(profiler.ProfilerActivity.CUDA)
        self._profiler = profiler.profile(activities=activities, record_shapes=True,
                                          schedule=profiler.schedule(wait=0, warmup=min(self._skipped, 1), active=self.steps, repeat=1))
        watch._running = weakref.ref(self)
        self._try("__enter__")

    def _try(self, name: str) -> None:
        """Calls a method of the profiler, which is dropped where another one has started meanwhile."""
        try:
            if self._profiler is not None:
                getattr(self._profiler, name)()
        except RuntimeError:
            self._profiler, watch._running = None, None

    def _stop(self) -> Any:
        """Ends the profiler; result: it, or None where none ran."""
        self._done = True
        profiled, self._profiler = self._profiler, None
        if profiled is not None:
            watch._running = None
            profiled.__exit__(None, None, None)
        return profiled

    def _abandon(self) -> None:
        self._stop()

    def _finish(self) -> None:
        profiled = self._stop()
        rank, world = _rank_and_world()
        whole = self._seen - self._skipped  # steps that were profiled from their begin to their end
        ranks = _gathered("" if profiled is not None or not self._begun else "another profiler is running")
        if whole < 1 or any(ranks):
            if rank == 0:
                self._say(f"{next(filter(None, ranks))}: nothing was watched" if any(ranks) else
                          "no step was counted: call step() at the end of each step of the loop" if self._seen == 0 else
                          f"the loop ended after {self._seen} steps, of which the first {self._skipped} are left out: nothing was profiled")
            return
        kept = self.folder is not None
        folder = _shared(self._emptied() if rank == 0 else None)
        fault = ""
        try:
            os.makedirs(folder, exist_ok=True)
            file = os.path.join(folder, f"rank{rank}.json")
            profiled.export_chrome_trace(file)
            if whole < self.steps:
                _cut(file)
        except (OSError, RuntimeError, ValueError) as error:
            fault = f"rank {rank} cannot write its trace: {error}"
        faults = list(filter(None, _gathered(fault)))
        try:
            if rank == 0 and faults:
                self._say(f"{faults[0]}: nothing was read")
            elif rank == 0:
                self._read(folder, world, kept)
        except (OSError, Error) as error:
            self._say(f"the traces cannot be read: {error}")
        finally:
            if not kept:
                _barrier()  # rank 0 has read it
                shutil.rmtree(folder, ignore_errors=True)

    def _emptied(self) -> str:
        """The folder of the traces, without those of an earlier watch."""
        if self.folder is None:
            return tempfile.mkdtemp(prefix="headroom-watch-")
        for name in os.listdir(self.folder) if os.path.isdir(self.folder) else []:
            if _TRACE.fullmatch(name):
                os.remove(os.path.join(self.folder, name))
        return self.folder

    def _say(self, text: str) -> None:
        if not self.quiet:
            print(f"headroom: {text}", file=sys.stderr)

    def _read(self, folder: str, world: int, kept: bool) -> None:
        from ._verbs import Question, answer_class

        files = sorted((name for name in os.listdir(folder) if _TRACE.fullmatch(name)), key=lambda name: int(name[4:-5]))
        found = len(files)
        question = Question("trace", [os.path.join(folder, name) for name in files], [])
        self.answer = question.answer(answer_class("trace"), whole=not kept)
        if not self.quiet:
            missing = "" if found == world else (f"{found} of {world} ranks are in {folder}: the others wrote on other machines"
                                                 f"{'' if kept else '; give folder= a folder that all share'}\n")
            print(f"headroom: {missing}{self.answer}", file=sys.stderr)

    def hugging_face(self) -> Any:
        """Callback for the Trainer of transformers."""
        from transformers import TrainerCallback

        watched = self

        class Watch(TrainerCallback):
            def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
                failed = watch._profiling()
                if failed is not None and failed._of_trainer:
                    failed._abandon()
                watched._of_trainer = True
                watched.__enter__()

            def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
                watched.step()

            def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
                watched.__exit__(None, None, None)

        return Watch()

    def lightning(self) -> Any:
        """Callback for the Trainer of Lightning."""
        try:
            from lightning.pytorch.callbacks import Callback
        except ImportError:
            from pytorch_lightning.callbacks import Callback

        watched = self

        class Watch(Callback):
            def on_train_start(self, trainer: Any, module: Any) -> None:
                self.at = trainer.global_step
                watched.__enter__()

            def on_train_batch_end(self, trainer: Any, module: Any, *more: Any) -> None:
                if trainer.global_step != self.at:  # a batch that only accumulates gradients is no step
                    self.at = trainer.global_step
                    watched.step()

            def on_train_end(self, trainer: Any, module: Any) -> None:
                watched.__exit__(None, None, None)

            def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:
                watched.__exit__(type(exception), exception, None)

        return Watch()


def _cut(file: str) -> None:
    """Leaves out of a trace what follows the last step that ended: a step that the end of the loop cut off."""
    with open(file, encoding="utf-8") as text:
        trace = json.load(text)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    begins = [event["ts"] for event in events if str(event.get("name", "")).startswith("ProfilerStep#")]
    kept = [event for event in events if not begins or event.get("ph") == "M" or event.get("ts", 0) < max(begins)]
    if isinstance(trace, dict):
        trace["traceEvents"] = kept
    with open(file, "w", encoding="utf-8") as text:
        json.dump(trace if isinstance(trace, dict) else kept, text)


def _distributed() -> Any:
    from torch import distributed

    return distributed if distributed.is_available() and distributed.is_initialized() else None


def _rank_and_world() -> tuple[int, int]:
    distributed = _distributed()
    return (distributed.get_rank(), distributed.get_world_size()) if distributed else (0, 1)


def _shared(folder: str | None) -> str:
    distributed = _distributed()
    box = [folder]
    if distributed:
        distributed.broadcast_object_list(box, src=0)
    return str(box[0])


def _gathered(text: str) -> list[str]:
    """A text of each rank."""
    distributed = _distributed()
    if not distributed:
        return [text]
    texts: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(texts, text)
    return texts


def _barrier() -> None:
    distributed = _distributed()
    if distributed:
        distributed.barrier()
