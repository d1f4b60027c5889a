"""Models of PyTorch as lists of operators, read by running them on the meta device."""

from __future__ import annotations

import math
from typing import Any

from ._errors import refuse
from ._models import Model, from_hf

_VIEWS = (  # beginnings of names; `t` is one whole
    "alias", "as_strided", "detach", "expand", "permute", "reshape", "select", "slice", "split", "squeeze", "transpose",
    "unbind", "unfold", "unsqueeze", "view", "_unsafe_view", "empty", "arange", "ones", "zeros", "full", "scalar_tensor",
    "sym_size", "lift_fresh", "_to_copy", "split_with_sizes", "chunk", "native_dropout", "dropout",
)
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "matmul", "einsum", "_scaled_dot_product", "convolution")


def _toml_text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


class _Operators:
    """Operators in order, equal neighbours counted."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.parameters = 0

    def add(self, **row: Any) -> None:
        row["out"] = int(row["out"])
        if self.rows:
            last = {key: value for key, value in self.rows[-1].items() if key not in ("repeats", "name")}
            if last == {key: value for key, value in row.items() if key != "name"}:
                self.rows[-1]["repeats"] = self.rows[-1].get("repeats", 1) + 1
                return
        self.rows.append(row)

    def toml(self, name: str, length: int) -> str:
        def written(value: Any) -> str:
            if isinstance(value, bool):
                return "true" if value else "false"
            return _toml_text(value) if isinstance(value, str) else repr(value)

        rows = ",\n".join("    { " + ", ".join(f"{key} = {written(value)}" for key, value in row.items()) + " }"
                          for row in self.rows)
        return (f'name = {_toml_text(name)}\nkind = "convolutional"\nsource = ["TorchModule"]\n'
                f'source_detail = "torch.nn.Module, run once on the meta device"\nparameters = {self.parameters}\n\n'
                f"operator = [\n{rows},\n]\n")


def _sides(shape: Any) -> dict[str, int]:
    """Positions of an output of shape (batch, channels, ...)."""
    sides = [int(size) for size in shape[2:]]
    if not sides:
        return {"height": 1, "width": 1}
    return {"height": math.prod(sides[:-1]) or 1, "width": sides[-1]} if len(sides) > 1 else {"height": sides[0], "width": 1}


def _elements(values: Any, torch: Any) -> int:
    if isinstance(values, torch.Tensor):
        return values.numel()
    if isinstance(values, (list, tuple)):
        return sum(_elements(value, torch) for value in values)
    return 0


class _Reader:
    """Operators of a run on the meta device; `original` has the module of each copy, whose parameters are counted."""

    def __init__(self, torch: Any, batch: int, original: dict[int, Any]):
        self.torch, self.batch, self.original = torch, batch, original
        self.operators = _Operators()
        self.inside = 0
        self.counted: set[int] = set()
        self.refused: list[str] = []

    def elementwise(self, name: str, out: int, read: int) -> None:
        if out <= 0:
            return
        per_sample = max(1, out // self.batch)
        self.operators.add(name=name, kind="elementwise", out=per_sample, width=1, inputs=round(read / out, 6))

    def module(self, name: str, module: Any, inputs: Any, output: Any) -> None:
        nn = self.torch.nn
        held = list(self.original[id(module)].parameters(recurse=False))
        own = sum(p.numel() for p in held if id(p) not in self.counted)
        fixed: dict[str, Any] = {}
        if held and not any(p.requires_grad for p in held):
            fixed["trained"] = False
        if held and id(held[0]) in self.counted:  # tied, or used again
            fixed["shared"] = True
        self.counted.update(id(p) for p in held)
        self.operators.parameters += own
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            kernel = [int(size) for size in module.kernel_size]
            taps = {"kernel": math.prod(kernel[:-1]), "kernel_width": kernel[-1]} if len(kernel) > 1 else {
                "kernel": kernel[0], "kernel_width": 1}
            groups = {"groups": module.groups} if module.groups > 1 else {}
            self.operators.add(name=name, kind="convolution", **{"in": module.in_channels}, out=module.out_channels,
                               **taps, **_sides(output.shape), **groups, bias=module.bias is not None, **fixed)
        elif isinstance(module, nn.Linear):
            positions = output.numel() // module.out_features // self.batch
            self.operators.add(name=name, kind="linear", **{"in": module.in_features}, out=module.out_features,
                               height=max(1, positions), width=1, bias=module.bias is not None, **fixed)
        elif isinstance(module, nn.Embedding):
            positions = output.numel() // module.embedding_dim // self.batch
            self.operators.add(name=name, kind="embedding", **{"in": module.num_embeddings}, out=module.embedding_dim,
                               height=max(1, positions), width=1, **fixed)
        elif isinstance(module, nn.LSTM):
            directions = 2 if module.bidirectional else 1
            for layer in range(module.num_layers):
                width = module.input_size if layer == 0 else module.hidden_size * directions
                for _ in range(directions):
                    self.operators.add(name=f"{name} layer {layer}", kind="recurrent", **{"in": width}, out=module.hidden_size,
                                       height=int(inputs[0].shape[1 if module.batch_first else 0]), width=1, bias=module.bias, **fixed)
        elif held:
            channels = module.weight.numel() if getattr(module, "weight", None) is not None else sum(p.numel() for p in held)
            positions = output.numel() // channels // self.batch
            self.operators.add(name=name, kind="normalisation", out=channels, height=max(1, positions), width=1, **fixed)
        else:
            self.elementwise(name, _elements(output, self.torch), _elements(inputs, self.torch))

    def known(self, module: Any) -> bool:
        nn = self.torch.nn
        norms = tuple(kind for kind in (nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm,
                                        getattr(nn, "RMSNorm", None)) if kind is not None)
        for kind in (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear, nn.Embedding, nn.LSTM, *norms):
            if isinstance(module, kind):
                if isinstance(module, nn.LSTM) and module.proj_size > 0:
                    return False
                return bool(type(module).forward is kind.forward)  # a forward of its own may do anything
        if isinstance(module, (nn.Dropout, nn.Identity, nn.Flatten)):
            return False  # they read and write nothing when they are fused, or make a view
        return not any(True for _ in module.children()) and not any(True for _ in module.parameters(recurse=False)) \
            and type(module).__module__.startswith("torch.nn.")


def _mode(reader: _Reader, torch: Any) -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = str(func).split(".")[1] if "." in str(func) else str(func)
            if reader.inside == 0:
                if name.startswith(_PRODUCTS):
                    reader.refused.append(name)
                elif name.rstrip("_") != "t" and not name.startswith(_VIEWS):
                    reader.elementwise(name, _elements(result, torch), _elements(args, torch))
            return result

    return Mode()


def _by_config(module: Any, held: int) -> tuple[Model | None, int]:
    """The model that the configuration of a module describes, None where it has none or another number of parameters; that number."""
    import json

    from ._verbs import Question

    config = getattr(module, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        return None, 0
    model = from_hf(config)
    out = Question("predict", [model], ["--cluster=8xH100", "--workers=8"]).ask("--format=json")[1]
    described = int(json.loads(out)["model"]["parameters"]) if out else 0
    return (model if abs(described - held) <= 0.005 * held else None), described


def _on_meta(module: Any, torch: Any) -> Any:
    """A copy without memory for its weights, tied ones still tied."""
    import copy

    memo: dict[int, Any] = {}
    for held in module.parameters():
        memo[id(held)] = torch.nn.Parameter(torch.empty_like(held, device="meta"), requires_grad=held.requires_grad)
    for buffer in module.buffers():
        memo[id(buffer)] = torch.empty_like(buffer, device="meta")
    try:
        return copy.deepcopy(module, memo).eval()
    except Exception as error:
        raise refuse("module", f"cannot be copied: {str(error).splitlines()[0]}", "it is run once on the meta device",
                     "give from_hf(config), or a module without hooks that make tensors") from error


def _batch_of(inputs: list[Any], batch: int | None) -> int:
    sides = list(inputs[0].shape)
    if batch is None:
        if not sides:
            raise refuse("example", "a single number", "its first side is the batch", "give batch=8")
        return int(sides[0])
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1 or batch not in sides:
        raise refuse("batch", repr(batch), f"no side of the first example, which is {tuple(sides)}", f"leave it out, or give batch={sides[0] if sides else 1}")
    return batch


def from_torch(module: Any, *example: Any, batch: int | None = None) -> Model:
    """Model of an `nn.Module`, for `plan` and `predict`.

    A module of transformers whose configuration has its number of parameters (within 0.5 %) is read by it (`from_hf`). Any other is
    run once on the meta device, without memory or time for its weights: each convolution, linear layer, embedding, LSTM and norm
    becomes an operator with its channels and positions, everything else one that reads and writes. It is planned data parallel; a
    sequence of the command line is a sample. Tied weights count once; frozen ones have no gradients and no optimizer state.

    example: inputs of a batch: tensors, or shapes of floating-point tensors in the format of the module's weights.
    batch: samples of the example; its first side where it is left out.

    Errors: UsageError, a ValueError, where a matrix product of two activations (attention) or a parameter belongs to no known
    module, and where the example does not run.
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise refuse("module", f"a {type(module).__name__}", "", "give a torch.nn.Module")
    total = sum(p.numel() for p in module.parameters())  # tied ones once
    model, described = _by_config(module, total)
    frozen = sum(p.numel() for p in module.parameters() if not p.requires_grad)
    if model is not None:
        if frozen:
            raise refuse("module", f"trains {total - frozen} of {total} parameters", "its configuration does not say which",
                         "give from_hf(module.config) with train='lora:16' or the like")
        return model
    if not example:
        why = f"its configuration describes {described} parameters, the module has {total}" if described else "operators are sized by them"
        raise refuse("example", "inputs are missing", why, "from_torch(module, (8, 3, 224, 224))")
    dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.float32)
    try:
        inputs = [value.to("meta") if isinstance(value, torch.Tensor) else torch.empty(tuple(value), device="meta", dtype=dtype)
                  for value in example]
    except (TypeError, RuntimeError) as error:
        raise refuse("example", str(error).splitlines()[0], "", "give tensors, or shapes: (8, 3, 224, 224)") from error
    meta = _on_meta(module, torch)
    original = {id(each): of for each, of in zip(meta.modules(), module.modules())}
    names = {id(of): name or type(of).__name__ for name, of in module.named_modules()}
    reader = _Reader(torch, _batch_of(inputs, batch), original)
    handles = []

    def enter(each: Any, inputs: Any) -> None:
        reader.inside += 1

    def leave(each: Any, inputs: Any, output: Any) -> None:
        reader.inside -= 1
        if reader.inside == 0:
            first = output[0] if isinstance(output, tuple) else output
            reader.module(names[id(original[id(each)])], each, inputs, first)

    for each in meta.modules():
        if reader.known(each):
            handles += [each.register_forward_pre_hook(enter), each.register_forward_hook(leave)]
    try:
        with torch.no_grad(), _mode(reader, torch):
            meta(*inputs)
    except Exception as error:
        what = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise refuse("example", f"the module does not run on it: {what}", "it is run once on the meta device, where no value is known",
                     "check the shapes, or give from_hf(config)") from error
    finally:
        for handle in handles:
            handle.remove()
    if reader.refused:
        raise refuse("module", f"'{reader.refused[0]}' outside of a known layer, {len(reader.refused)} such",
                     "a product of two activations, such as attention, is not in a list of operators",
                     "give from_hf(config) or a config.json")
    if total != reader.operators.parameters:
        raise refuse("module", f"{total - reader.operators.parameters} of {total} parameters belong to no layer that was read",
                     "a layer of an unknown type, or one that the example does not reach")
    return Model(reader.operators.toml(type(module).__name__, 1), ".toml")
