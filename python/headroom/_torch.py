"""Models of PyTorch as lists of operators, read by running them on the meta device."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from typing import Any

from ._errors import UsageError, refuse
from ._models import Model, from_hf

_VIEWS = (  # beginnings of names; `t` is one whole
    "alias", "as_strided", "detach", "expand", "permute", "reshape", "select", "slice", "split", "squeeze", "transpose",
    "unbind", "unfold", "unsqueeze", "view", "_unsafe_view", "empty", "arange", "ones", "zeros", "full", "scalar_tensor",
    "sym_size", "lift_fresh", "_to_copy", "split_with_sizes", "chunk", "native_dropout", "dropout",
)
_LARGEST_REST = 0.02  # share of the parameters that may belong to no layer
_LARGEST_FROZEN = 0.005  # share of them that a configuration need not state as frozen, such as a table of positions
_WEIGHED = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}  # products by the place of their first factor
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "matmul", "einsum", "_scaled_dot_product", "convolution")
_KEPT = ("gelu", "silu", "mish", "hardswish", "leaky_relu", "elu", "softplus")  # activations whose input and output are both kept for the backward pass


def _toml_text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


class _Operators:
    """Operators in order, equal neighbours counted."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.parameters = 0
        self.rest = 0  # parameters of layers that their records cannot hold
        self.first_trained: int | None = None  # row of the first layer with a trained parameter

    def add(self, **row: Any) -> None:
        row["out"] = int(row["out"])
        if self.rows:
            last = {key: value for key, value in self.rows[-1].items() if key not in ("repeats", "name")}
            if last == {key: value for key, value in row.items() if key != "name"}:
                self.rows[-1]["repeats"] = self.rows[-1].get("repeats", 1) + 1
                return
        self.rows.append(row)

    def toml(self, name: str, rest: int) -> str:
        """The record of a model, with `rest` parameters of no operator."""
        def written(value: Any) -> str:
            if isinstance(value, bool):
                return "true" if value else "false"
            return _toml_text(value) if isinstance(value, str) else repr(value)

        rows = ",\n".join("    { " + ", ".join(f"{key} = {written(value)}" for key, value in row.items()) + " }" for row in self.rows)
        return (f'name = {_toml_text(name)}\nkind = "convolutional"\nsource = ["TorchModule"]\n'
                f'source_detail = "torch.nn.Module, run once on the meta device"\nparameters = {self.parameters + rest}\n\n'
                f"operator = [\n{rows},\n]\n" + (f"\n[architecture]\nother_parameters = {rest}\n" if rest else ""))


def _sides(shape: Any) -> dict[str, int]:
    """Positions of an output of shape (batch, channels, ...)."""
    sides = [int(size) for size in shape[2:]]
    if not sides:
        return {"height": 1, "width": 1}
    return {"height": math.prod(sides[:-1]) or 1, "width": sides[-1]} if len(sides) > 1 else {"height": sides[0], "width": 1}


def _refuse_one_sample(name: str, given: Any, sides: int) -> None:
    """Refuses the input of a layer that PyTorch takes for one sample without a side of the batch."""
    if hasattr(given, "dim") and given.dim() < sides:
        raise refuse("example", f"{name} gets {tuple(given.shape)}, a single sample", "the first side of an input is the batch",
                     "give the example one more side")


def _elements(values: Any, torch: Any) -> int:
    if isinstance(values, torch.Tensor):
        return values.numel()
    if isinstance(values, (list, tuple)):
        return sum(_elements(value, torch) for value in values)
    return 0


class _Reader:
    """Operators of a run on the meta device; `original` has the module of each copy, whose parameters are counted."""

    def __init__(self, torch: Any, batch: int, original: dict[int, Any], weights: dict[int, Any]):
        self.torch, self.batch, self.original = torch, batch, original
        self.weights = weights  # by the storage of their copies
        self.operators = _Operators()
        self.inside = 0
        self.counted: set[int] = set()
        self.refused: list[str] = []

    def elementwise(self, name: str, out: int, read: int, kept: bool = False) -> None:
        """An operator that reads and writes. `kept`: its output is memory of its own until the backward pass; the record has that of norms
        alone, so it is one without weights (`shared`)."""
        if out <= 0:
            return
        per_sample = max(1, out // self.batch)
        if kept:
            self.operators.add(name=name, kind="normalisation", out=per_sample, height=1, width=1, shared=True)
            return
        self.operators.add(name=name, kind="elementwise", out=per_sample, width=1, inputs=round(read / out, 6))

    def held(self, module: Any, inside: bool = False) -> dict[str, Any]:
        """Counts the parameters of a module, and those of the modules inside of it; whether they are frozen, or counted before (tied, or
        used again)."""
        return self.fixed(list(self.original[id(module)].parameters(recurse=inside)))

    def fixed(self, held: list[Any]) -> dict[str, Any]:
        """Counts these parameters; whether they are frozen, or counted before."""
        fixed: dict[str, Any] = {}
        if held and not any(p.requires_grad for p in held):
            fixed["trained"] = False
        elif held and self.operators.first_trained is None:
            self.operators.first_trained = len(self.operators.rows)
        new = sum({id(p): p.numel() for p in held if id(p) not in self.counted}.values())
        if held and id(held[0]) in self.counted:
            fixed["shared"] = True
            self.operators.rest += new  # such as the bias of an output head with the weights of the embedding
        else:
            self.operators.parameters += new
        self.counted.update(id(p) for p in held)
        return fixed

    def exact(self, fixed: dict[str, Any], held: int, described: int) -> dict[str, Any]:
        """Puts parameters of a layer that holds others than its record describes among those of no operator; frozen ones stay, which are few
        (norms) and would else be trained."""
        if fixed or held == described:
            return fixed
        self.operators.parameters -= held
        self.operators.rest += held
        return {"shared": True}

    def linear(self, name: str, inputs: int, out: int, positions: int, bias: bool, fixed: dict[str, Any]) -> None:
        self.operators.add(name=name, kind="linear", **{"in": inputs}, out=out, height=max(1, positions), width=1, bias=bias, **fixed)

    def module(self, name: str, module: Any, inputs: Any, output: Any) -> None:
        nn = self.torch.nn
        if isinstance(module, nn.MultiheadAttention):
            self.attention(name, module, inputs, output)
            return
        fixed = self.held(module, inside=hasattr(module, "parametrizations"))
        own = list(module.parameters(recurse=hasattr(module, "parametrizations")))
        held = sum(p.numel() for p in own)
        output = output[0] if isinstance(output, tuple) else output
        sides = 2 + len(getattr(module, "kernel_size", ())) if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)) else \
            3 if isinstance(module, nn.RNNBase) else 2
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.RNNBase, nn.RNNCellBase, nn.Linear)):
            _refuse_one_sample(name, inputs[0], sides)
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            kernel = [int(size) for size in module.kernel_size]
            taps = {"kernel": math.prod(kernel[:-1]), "kernel_width": kernel[-1]} if len(kernel) > 1 else {"kernel": kernel[0], "kernel_width": 1}
            groups = {"groups": module.groups} if module.groups > 1 else {}
            fixed = self.exact(fixed, held, math.prod(module.weight.shape) + (module.out_channels if module.bias is not None else 0))
            self.operators.add(name=name, kind="convolution", **{"in": module.in_channels}, out=module.out_channels,
                               **taps, **_sides(output.shape), **groups, bias=module.bias is not None, **fixed)
        elif isinstance(module, nn.Linear):
            positions = output.numel() // module.out_features // self.batch
            fixed = self.exact(fixed, held, module.in_features * module.out_features + (module.out_features if module.bias is not None else 0))
            self.linear(name, module.in_features, module.out_features, positions, module.bias is not None, fixed)
        elif isinstance(module, nn.Embedding):
            positions = output.numel() // module.embedding_dim // self.batch
            self.operators.add(name=name, kind="embedding", **{"in": module.num_embeddings}, out=module.embedding_dim,
                               height=max(1, positions), width=1, **fixed)
        elif isinstance(module, (nn.RNNBase, nn.RNNCellBase)):
            self.recurrent(name, module, inputs, fixed)
        elif own:
            channels = module.weight.numel() if getattr(module, "weight", None) is not None else sum(p.numel() for p in own)
            positions = output.numel() // channels // self.batch
            fixed = self.exact(fixed, held, 2 * channels)
            self.operators.add(name=name, kind="normalisation", out=channels, height=max(1, positions), width=1, **fixed)
        else:
            kept = isinstance(module, (nn.GELU, nn.SiLU, nn.Mish, nn.Hardswish, nn.LeakyReLU, nn.ELU, nn.Softplus))
            self.elementwise(name, _elements(output, self.torch), _elements(inputs, self.torch), kept and not getattr(module, "inplace", False))

    def recurrent(self, name: str, module: Any, inputs: Any, fixed: dict[str, Any]) -> None:
        """An LSTM as one operator; gates of a GRU, of a plain recurrence and of cells as a product of the inputs of all steps, and one of
        the state each step."""
        nn = self.torch.nn
        gates = 3 if isinstance(module, (nn.GRU, nn.GRUCell)) else 4 if isinstance(module, (nn.LSTM, nn.LSTMCell)) else 1
        is_cell = isinstance(module, nn.RNNCellBase)
        out, layers, directions = module.hidden_size, 1, 1
        positions = steps = 1
        if not is_cell:
            layers, directions = module.num_layers, 2 if module.bidirectional else 1
            steps = int(inputs[0].shape[1 if module.batch_first and inputs[0].dim() == 3 else 0])
            positions = max(1, inputs[0].numel() // module.input_size // self.batch)  # where a sample is several sequences, of all of them
        for layer in range(layers):
            width = module.input_size if layer == 0 else out * directions
            part = name if is_cell else f"{name} layer {layer}"
            for _ in range(directions):
                if isinstance(module, nn.LSTM):
                    self.operators.add(name=part, kind="recurrent", **{"in": width}, out=out, height=steps, width=1, bias=module.bias, **fixed)
                    continue
                self.linear(part, width, gates * out, positions, bool(module.bias), fixed)
                for step in range(steps):
                    again = {**fixed, "shared": True} if step > 0 else fixed
                    self.linear(f"{part}, state", out, gates * out, positions // steps, bool(module.bias), again)
                self.operators.add(name=f"{part}, gates", kind="elementwise", out=positions * gates * out, width=1, inputs=1.0)

    def attention(self, name: str, module: Any, inputs: Any, output: Any) -> None:
        """The four products with weights, and the two of activations: their weights are none (`shared`). Scores are written and read where
        they are asked for (`need_weights`), else one kernel makes the output."""
        fixed = self.held(module, inside=True)
        query, key, value = inputs
        _refuse_one_sample(name, query, 3)
        hidden, bias = module.embed_dim, module.in_proj_bias is not None
        asking, asked, valued = (each.numel() // each.shape[-1] // self.batch for each in inputs)
        if module._qkv_same_embed_dim and asking == asked == valued:
            self.linear(f"{name}.in_proj", hidden, 3 * hidden, asking, bias, fixed)
        else:
            for each, width, positions in (("q", hidden, asking), ("k", module.kdim, asked), ("v", module.vdim, valued)):
                self.linear(f"{name}.{each}_proj", width, hidden, positions, bias, fixed)
        keys = int(key.shape[1 if module.batch_first and key.dim() == 3 else 0])
        product = {"kind": "convolution", "kernel": 1, "kernel_width": 1, "height": max(1, asking), "width": 1, "bias": False, "shared": True}
        if isinstance(output, tuple) and output[1] is not None:
            heads = module.num_heads
            self.operators.add(name=f"{name}, scores", **{"in": hidden}, out=heads * keys, groups=heads, **product)
            self.elementwise(f"{name}, softmax", asking * heads * keys * self.batch, asking * heads * keys * self.batch)
            self.operators.add(name=f"{name}, values", **{"in": heads * keys}, out=hidden, groups=heads, **product)
        else:
            self.operators.add(name=f"{name}, scores and values", **{"in": 2 * keys}, out=hidden, **product)
        self.linear(f"{name}.out_proj", hidden, hidden, asking, module.out_proj.bias is not None, fixed)

    def weight_of(self, factor: Any) -> Any:
        """The parameter that a factor is a view of, None where it is none."""
        return self.weights.get(factor.untyped_storage()._cdata) if hasattr(factor, "untyped_storage") else None

    def product(self, name: str, args: Any) -> bool:
        """A matrix product outside of a known layer: of activations, or of one with a whole parameter, which is a linear layer. Result: whether it
        is one of these."""
        if name not in _WEIGHED:
            return False
        left, right = args[_WEIGHED[name]:][:2]
        added = self.weight_of(args[0]) if _WEIGHED[name] else None
        if name == "bmm" and left.shape[0] == 1 and self.weight_of(right) is not None:  # einsum with a weight
            name, left, right = "mm", left[0], right[0]
        if name.endswith("bmm"):
            groups = left.shape[0] // self.batch
            if left.shape[0] % self.batch or self.weight_of(left) is not None or self.weight_of(right) is not None or added is not None:
                return False
            self.activations(name, left.shape[2], right.shape[2], groups, left.shape[1])
            return True
        weight = self.weight_of(right)
        if weight is None or self.weight_of(left) is not None or weight.numel() != right.numel() or left.shape[0] % self.batch:
            return False
        if added is not None and added.numel() != right.shape[1]:
            added = None  # a bias put together from several parameters, or an activation
        fixed = self.fixed([weight] if added is None else [weight, added])
        self.linear(name, int(right.shape[0]), int(right.shape[1]), left.shape[0] // self.batch, added is not None, fixed)
        return True

    def activations(self, name: str, inner: int, out: int, groups: int, positions: int) -> None:
        """Products of two activations, `groups` a sample: weights of such a convolution are none (`shared`)."""
        self.operators.add(name=name, kind="convolution", **{"in": int(inner) * groups}, out=int(out) * groups, kernel=1, kernel_width=1,
                           height=int(positions), width=1, bias=False, shared=True, **({"groups": groups} if groups > 1 else {}))

    def fused_attention(self, query: Any, key: Any, value: Any) -> None:
        """Scores and values in one kernel, which keeps no scores."""
        asking, width, asked, out = (int(side) for side in (*query.shape[-2:], *value.shape[-2:]))
        heads = query.numel() // (asking * width) // self.batch
        inner = asked * (width + out)
        name = "attention, scores and values"
        if inner % out == 0:
            self.activations(name, inner // out, heads * out, 1, asking)
        else:
            self.activations(name, asked, heads * (width + out), 1, asking)

    def unread(self, module: Any) -> int:
        """Parameters of the module that belong to no layer that was read."""
        return sum(p.numel() for p in module.parameters()) - self.operators.parameters - self.operators.rest

    def known(self, module: Any) -> bool:
        nn = self.torch.nn
        norms = tuple(kind for kind in (nn.SyncBatchNorm, nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm, nn.LayerNorm,
                                        nn.GroupNorm, getattr(nn, "RMSNorm", None)) if kind is not None)
        for kind in (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear, nn.Embedding, nn.MultiheadAttention, nn.LSTM, nn.GRU, nn.RNN, nn.LSTMCell,
                     nn.GRUCell, nn.RNNCell, *norms):
            if isinstance(module, kind):
                if getattr(module, "proj_size", 0) > 0 or getattr(module, "bias_k", None) is not None or getattr(module, "add_zero_attn", False):
                    return False
                return bool(type(module).forward is kind.forward)  # a forward of its own may do anything
        if isinstance(module, nn.modules.dropout._DropoutNd):
            return bool(module.p > 0)
        if isinstance(module, (nn.Identity, nn.Flatten)):
            return False  # they make a view
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
                    if not reader.product(name, args):
                        reader.refused.append(name)
                elif name.rstrip("_") != "t" and not name.startswith(_VIEWS):
                    reader.elementwise(name, _elements(result, torch), _elements(args, torch), name in _KEPT)
            return result

    return Mode()


def _attention_mode(reader: _Reader, torch: Any) -> Any:
    """Reads calls of `scaled_dot_product_attention`, which on the meta device is written out."""
    try:
        from torch.overrides import TorchFunctionMode
    except ImportError:
        return contextlib.nullcontext()
    attention = getattr(torch.nn.functional, "scaled_dot_product_attention", None)

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if func is not attention or reader.inside > 0:
                return func(*args, **named)
            reader.inside += 1
            try:
                return func(*args, **named)
            finally:
                reader.inside -= 1
                inputs = [*args[:3], *(named[name] for name in ("query", "key", "value")[len(args):])]
                reader.fused_attention(*inputs)

    return Mode()


def _by_config(module: Any, held: int) -> tuple[Model | None, int]:
    """The model that the configuration of a module describes, None where it has none or another number of parameters; that number."""
    import json

    from ._verbs import Question

    config = getattr(module, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        return None, 0
    kinds = [kind.__name__ for kind in type(module).__mro__ if kind.__module__.startswith("transformers.")]
    model = from_hf({**config.to_dict(), "architectures": kinds[:1] or None})
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
        return copy.deepcopy(module, memo)
    except Exception as error:
        raise refuse("module", f"cannot be copied: {str(error).splitlines()[0]}", "it is run once on the meta device",
                     "give from_hf(config), or a module without hooks that make tensors") from error


def _brief(value: Any, most: int = 100) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def _note_inputs(attention: Any, given: dict[int, Any]) -> None:
    """Makes a copy of an attention put its query, key and value into `given` at each call; hooks get no arguments by name."""
    forward, parameters = attention.forward, inspect.signature(attention.forward)

    def noting(*arguments: Any, **named: Any) -> Any:
        bound = parameters.bind(*arguments, **named).arguments
        given[id(attention)] = (bound["query"], bound["key"], bound["value"])
        return forward(*arguments, **named)

    attention.forward = noting


def _batch_of(inputs: list[Any], batch: int | None) -> int:
    sides = list(inputs[0].shape)
    if batch is None:
        if not sides:
            raise refuse("example", "a single number", "its first side is the batch", "give batch=8")
        return int(sides[0])
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1 or batch not in sides:
        raise refuse("batch", repr(batch), f"no side of the first example, which is {tuple(sides)}", f"leave it out, or give batch={sides[0] if sides else 1}")
    return batch


def _read(module: Any, inputs: list[Any], batch: int | None, training: bool, torch: Any) -> _Reader:
    """Operators of a run of the module, as in training or as in evaluation."""
    meta = _on_meta(module, torch).train(training)
    original = {id(each): of for each, of in zip(meta.modules(), module.modules())}
    names = {id(of): name or type(of).__name__ for name, of in module.named_modules()}
    weights = {copied.untyped_storage()._cdata: of for copied, of in zip(meta.parameters(), module.parameters()) if hasattr(copied, "untyped_storage")}
    reader = _Reader(torch, _batch_of(inputs, batch), original, weights)
    handles = []

    def enter(each: Any, inputs: Any) -> None:
        reader.inside += 1

    def leave(each: Any, inputs: Any, output: Any) -> None:
        reader.inside -= 1
        if reader.inside == 0:
            reader.module(names[id(original[id(each)])], each, given.pop(id(each), inputs), output)

    given: dict[int, Any] = {}  # query, key and value of an attention, which may have been given by name
    for each in filter(reader.known, meta.modules()):
        if isinstance(each, torch.nn.MultiheadAttention):
            _note_inputs(each, given)
        if isinstance(each, torch.nn.SyncBatchNorm):  # which runs on a GPU alone
            each.forward = functools.partial(torch.nn.BatchNorm2d.forward, each)
        handles += [each.register_forward_pre_hook(enter), each.register_forward_hook(leave)]
    try:
        with torch.no_grad(), _attention_mode(reader, torch), _mode(reader, torch):
            meta(*inputs)
    except Exception as error:
        if isinstance(error, UsageError):
            raise
        what = _brief((str(error).splitlines() or [""])[0].split(". ")[0] or type(error).__name__)
        hint = ("make its tensors on the device of the input, or keep them by register_buffer" if "device" in what and "meta" in what else
                "check the shapes; a module that values steer, such as a router, goes by from_hf(config)")
        raise refuse("example", f"the module does not run on it: {what}", "it is run once on the meta device, where no value is known", hint) from error
    finally:
        for handle in handles:
            handle.remove()
    return reader


def from_torch(module: Any, *example: Any, batch: int | None = None) -> Model:
    """Model of an `nn.Module`, for `plan` and `predict`.

    A module of transformers whose configuration has its number of parameters (within 0.5 %) is read by it (`from_hf`). Any other is
    run once on the meta device, without memory or time for its weights: each convolution, linear layer, embedding, norm, LSTM, GRU,
    RNN (and their cells) and `nn.MultiheadAttention` becomes operators with its channels and positions; so do `scaled_dot_product_attention`,
    products of two activations within a sample, and products with a whole parameter. Everything else reads and writes. It is planned data
    parallel; a sequence of the command line is a sample. The module runs as in evaluation, and as in training where evaluation leaves parameters
    out (auxiliary heads). What a parametrization computes is not counted. Tied weights count once; frozen ones have no gradients and no optimizer state, and layers
    before the first trained one no backward pass. The
    products of an attention are priced at the rate of plain matrix products, which kernels of attention do not reach.

    example: inputs of a batch: tensors, or shapes of floating-point tensors in the format of the module's weights.
    batch: samples of the example; its first side where it is left out.

    Errors: UsageError, a ValueError, where another matrix product (of samples with each other, with a part of a parameter) or more than 2 % of
    the parameters belong to no known module, and where the example does not run.
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise refuse("module", f"a {type(module).__name__}", "", "give a torch.nn.Module")
    lazy = [name for name, held in (*module.named_parameters(), *module.named_buffers()) if hasattr(held, "materialize")]
    if lazy:
        raise refuse("module", f"{lazy[0]} has no shape yet", "a lazy layer takes it from the first data", "run the module once on real data before")
    total = sum(p.numel() for p in module.parameters())  # tied ones once
    model, described = _by_config(module, total)
    frozen = sum(p.numel() for p in module.parameters() if not p.requires_grad)
    if model is not None:
        if frozen > _LARGEST_FROZEN * total:
            raise refuse("module", f"trains {total - frozen} of {total} parameters", "its configuration does not say which",
                         "give from_hf(module.config), with train='lora:16' or the like where those alone are trained")
        return model
    if not example:
        why = f"its configuration describes {described} parameters, the module has {total}" if described else "operators are sized by them"
        raise refuse("example", "inputs are missing", why, "from_torch(module, (8, 3, 224, 224))")
    dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.float32)
    try:
        inputs = [value.to("meta") if isinstance(value, torch.Tensor) else torch.empty(tuple(value), device="meta", dtype=dtype) for value in example]
    except (TypeError, RuntimeError) as error:
        raise refuse("example", f"{_brief(example)} is not a tensor, nor a shape", "", "give each input as a tensor, or as its shape: "
                     "from_torch(module, (8, 3, 224, 224))") from error
    if any(0 in value.shape for value in inputs):
        raise refuse("example", f"{[tuple(value.shape) for value in inputs]} is empty", "one of its sides is 0", "give a batch of data")
    reader = _read(module, inputs, batch, False, torch)
    if module.training and reader.unread(module) > _LARGEST_REST * total:
        with contextlib.suppress(UsageError):
            reader = _read(module, inputs, batch, True, torch)  # heads that help in training alone
    if reader.refused:
        why = ("a convolution of an unknown type, such as a transposed one" if "convolution" in reader.refused[0] else
               "a product of samples with each other, or with a part of a parameter or a computed weight")
        raise refuse("module", f"'{reader.refused[0]}' outside of a known layer, {len(reader.refused)} such", why,
                     "use layers of torch.nn (nn.MultiheadAttention), or give from_hf(config) or a config.json")
    if not reader.operators.rows:
        raise refuse("module", "nothing was read", "it has no layer, and reads and writes nothing", "give a module of layers of torch.nn")
    if frozen == total:
        raise refuse("module", "no parameter is trained", f"all {total} are frozen" if total else "it has none", "module.requires_grad_(True) trains all")
    if all(id(p) in reader.counted for p in module.parameters() if p.requires_grad):  # else a table of positions may come first
        for row in reader.operators.rows[:reader.operators.first_trained]:
            row["backward"] = False
    rest = total - reader.operators.parameters  # tables of positions, tokens of a class: added, not multiplied
    if reader.unread(module) > _LARGEST_REST * total:
        raise refuse("module", f"{reader.unread(module)} of {total} parameters belong to no layer that was read",
                     "a layer of an unknown type, or one that the example does not reach", "give from_hf(config), or a module of layers of torch.nn")
    return Model(reader.operators.toml(type(module).__name__, rest), ".toml")
