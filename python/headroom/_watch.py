"""Profiles some steps of a training loop on every rank, and says whether more accelerators would help that very job."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from typing import Any

from ._errors import refuse


class watch:
    """Profiles steps of a training loop, and prints the verdict of `headroom.trace` on rank 0.

        with headroom.watch(steps=10) as watched:
            for batch in loader:
                train(batch)
                watched.step()

    `step` is called at the end of each step, on every rank; the first `wait` steps (compiling, allocating, filling caches) are
    left out. After `steps` more the traces are written and read; the loop goes on. A loop that ends before is read as far as its
    steps were profiled whole; one that has none, or that another profiler watches, ends with a remark and no answer. A loop of Accelerate is watched like any other. As a callback: `Trainer(callbacks=[headroom.watch(steps=10).hugging_face()])`
    and `lightning.Trainer(callbacks=[headroom.watch(steps=10).lightning()])`; a step is one of the optimizer, whatever the accumulation.

    steps: steps that are profiled.
    wait: steps before them.
    folder: where the traces are kept, one file a rank; all ranks need the same one. When it is left out they are written to a temporary
        folder, read, and removed; ranks on other machines than rank 0's are then not read.
    quiet: print nothing; the answer is in `answer` on rank 0.
    """

    def __init__(self, steps: int = 10, wait: int = 3, folder: Any = None, quiet: bool = False):
        for name, value, least in (("steps", steps, 1), ("wait", wait, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise refuse(name, repr(value), "", f"give a whole number of at least {least}")
        self.steps, self.wait, self.quiet = steps, wait, quiet
        self.folder = None if folder is None else os.fspath(folder)
        self.answer = None
        self._seen = 0
        self._profiler: Any = None
        self._done = False

    def __enter__(self) -> "watch":
        if self.wait < 2:
            self._begin()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._abandon()
        elif not self._done:
            self._finish()

    def step(self) -> None:
        """The end of a step."""
        if self._done:
            return
        self._seen += 1
        if self._profiler is not None:
            self._profiler.step()
            if self._seen == self.wait + self.steps:
                self._finish()
        elif self._seen == self.wait - 1:
            self._begin()

    def _begin(self) -> None:
        """Starts the profiler; the last step of the wait is its warm-up."""
        from torch import profiler
        import torch

        enabled = getattr(torch.autograd, "_profiler_enabled", None)
        if enabled is not None and enabled():
            self._done = True
            self._say("another profiler is running: nothing was watched")
            return
        activities = [profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(profiler.ProfilerActivity.CUDA)
        self._profiler = profiler.profile(activities=activities, record_shapes=True,
                                          schedule=profiler.schedule(wait=0, warmup=min(self.wait, 1), active=self.steps, repeat=1))
        self._profiler.__enter__()

    def _abandon(self) -> None:
        self._done = True
        if self._profiler is not None:
            self._profiler.__exit__(None, None, None)
            self._profiler = None

    def _finish(self) -> None:
        profiled, self._profiler, self._done = self._profiler, None, True
        if profiled is None:
            return
        profiled.__exit__(None, None, None)
        rank, world = _rank_and_world()
        whole = self._seen - self.wait  # steps that were profiled from their begin to their end
        if whole < 1:
            if rank == 0:
                self._say(f"the loop ended after {self._seen} steps, of which the first {self.wait} are left out: nothing was profiled")
            return
        kept = self.folder is not None
        folder = _shared(self.folder if kept else tempfile.mkdtemp(prefix="headroom-watch-") if rank == 0 else None)
        try:
            os.makedirs(folder, exist_ok=True)
            file = os.path.join(folder, f"rank{rank}.json")
            profiled.export_chrome_trace(file)
            if whole < self.steps:
                _cut(file)
            _barrier()
            if rank == 0:
                self._read(folder, world, kept)
        finally:
            if not kept:
                _barrier()  # rank 0 has read it
                shutil.rmtree(folder, ignore_errors=True)

    def _say(self, text: str) -> None:
        if not self.quiet:
            print(f"headroom: {text}", file=sys.stderr)

    def _read(self, folder: str, world: int, kept: bool) -> None:
        from ._verbs import Question, answer_class

        found = len([name for name in os.listdir(folder) if name.startswith("rank") and name.endswith(".json")])
        if kept:
            self.folder = folder
        question = Question("trace", [folder], [])
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


def _barrier() -> None:
    distributed = _distributed()
    if distributed:
        distributed.barrier()
