"""Models of PyTorch as lists of operators, read by running them on the meta device."""

from __future__ import annotations

import math
from typing import Any

from ._models import Model, from_hf

_VIEWS = (
    "alias", "as_strided", "detach", "expand", "permute", "reshape", "select", "slice", "split", "squeeze", "t", "transpose",
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
    def __init__(self, torch: Any, batch: int):
        self.torch, self.batch = torch, batch
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
        own = sum(p.numel() for key, p in module.named_parameters(recurse=False) if id(p) not in self.counted)
        self.counted.update(id(p) for p in module.parameters(recurse=False))
        self.operators.parameters += own
        trained = any(p.requires_grad for p in module.parameters(recurse=False))
        fixed = {} if trained or own == 0 else {"trained": False}
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
            for layer in range(module.num_layers):
                width = module.input_size if layer == 0 else module.hidden_size
                self.operators.add(name=f"{name} layer {layer}", kind="recurrent", **{"in": width}, out=module.hidden_size,
                                   height=int(inputs[0].shape[1 if module.batch_first else 0]), width=1, bias=module.bias, **fixed)
        elif own > 0:
            channels = module.weight.numel() if getattr(module, "weight", None) is not None else own
            positions = output.numel() // channels // self.batch
            self.operators.add(name=name, kind="normalisation", out=channels, height=max(1, positions), width=1, **fixed)
        else:
            self.elementwise(name, _elements(output, self.torch), _elements(inputs, self.torch))

    def known(self, module: Any) -> bool:
        nn = self.torch.nn
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear, nn.Embedding, nn.LSTM)):
            return True
        norms = tuple(kind for kind in (nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm,
                                        getattr(nn, "RMSNorm", None)) if kind is not None)
        if isinstance(module, norms):
            return True
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
                elif not name.rstrip("_").startswith(_VIEWS):
                    reader.elementwise(name, _elements(result, torch), _elements(args, torch))
            return result

    return Mode()


def from_torch(module: Any, *example: Any, batch: int = 1) -> Model:
    """Model of an `nn.Module`, for `plan` and `predict`.

    A module of transformers is read by its configuration (`from_hf`). Any other is run once on the meta device, without
    memory or time for its weights: each convolution, linear layer, embedding, LSTM and norm becomes an operator with its
    channels and positions, everything else one that reads and writes. It is planned data parallel; a sequence of the
    command line is a sample.

    example: inputs of a batch of `batch` samples: tensors, or shapes of floating-point tensors.

    Errors: ValueError where a matrix product of two activations (attention) or a parameter belongs to no known module.
    """
    config = getattr(module, "config", None)
    if config is not None and hasattr(config, "to_dict"):
        return from_hf(config)
    import copy

    import torch

    if not example:
        raise ValueError("from_torch: example inputs missing (operators are sized by them). from_torch(module, (8, 3, 224, 224), batch=8)")
    reader = _Reader(torch, batch)
    names = {id(each): name or type(each).__name__ for name, each in module.named_modules()}
    meta = copy.deepcopy(module).to("meta").eval()
    for each, original in zip(meta.modules(), module.modules()):
        names[id(each)] = names[id(original)]
    handles = []

    def enter(each: Any, inputs: Any) -> None:
        reader.inside += 1

    def leave(each: Any, inputs: Any, output: Any) -> None:
        reader.inside -= 1
        if reader.inside == 0:
            first = output[0] if isinstance(output, tuple) else output
            reader.module(names[id(each)], each, inputs, first)

    for each in meta.modules():
        if reader.known(each):
            handles += [each.register_forward_pre_hook(enter), each.register_forward_hook(leave)]
    inputs = [value.to("meta") if isinstance(value, torch.Tensor) else torch.empty(tuple(value), device="meta")
              for value in example]
    try:
        with torch.no_grad(), _mode(reader, torch):
            meta(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    if reader.refused:
        raise ValueError(f"from_torch: '{reader.refused[0]}' outside of a known layer ({len(reader.refused)} such; a product of two "
                         "activations, such as attention, is not in a list of operators). give from_hf(config) or a config.json")
    total = sum(p.numel() for p in {id(p): p for p in meta.parameters()}.values())
    if total != reader.operators.parameters:
        raise ValueError(f"from_torch: {total - reader.operators.parameters} of {total} parameters belong to no layer that was "
                         "read (a layer of an unknown type, or one that the example does not reach)")
    return Model(reader.operators.toml(type(module).__name__, 1), ".toml")
