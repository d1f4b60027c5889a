"""The package with the real PyTorch: models read from modules, a training loop watched on two processes."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import headroom

try:
    import torch
    from torch import nn
except ImportError:
    torch = None


WEIGHTS = torch is not None and hasattr(torch.Tensor, "untyped_storage")


def residual_network():
    """A small network of residual blocks."""

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.first, self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.norms = nn.ModuleList([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)])
            self.relu = nn.ReLU()

        def forward(self, x):
            return self.relu(x + self.norms[1](self.second(self.relu(self.norms[0](self.first(x))))))

    return nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3), Block(64), Block(64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Modules(unittest.TestCase):
    def test_parameters_and_operations_by_hand(self):
        module = residual_network()
        model = headroom.from_torch(module, (4, 3, 32, 32), batch=4)
        answer = headroom.predict(model, "dgx-h100", workers=8, global_batch=64)
        self.assertEqual(answer.model.parameters, sum(p.numel() for p in module.parameters()))
        inside = 16 * 16
        products = 3 * 64 * 49 * inside + 4 * 64 * 64 * 9 * inside + 64 * 10
        stated = sum(2.0 * row["in"] * row["out"] * row.get("kernel", 1) * (row.get("kernel_width") or row.get("kernel", 1))
                     * row.get("height", 1) * row.get("width", 1) * row.get("repeats", 1)
                     for row in operators(model) if row["kind"] in ("convolution", "linear"))
        self.assertEqual(stated, 2.0 * products)
        self.assertEqual([row["kind"] for row in operators(model)].count("normalisation"), 4)

    def test_the_module_is_left_as_it_was(self):
        module = residual_network().train()
        before = {name: value.clone() for name, value in module.state_dict().items()}
        headroom.from_torch(module, (4, 3, 32, 32), batch=4)
        self.assertTrue(module.training)
        self.assertEqual({p.device.type for p in module.parameters()}, {"cpu"})
        self.assertTrue(all(torch.equal(before[name], value) for name, value in module.state_dict().items()))
        self.assertFalse(any(each._forward_hooks for each in module.modules()))

    def test_attention_and_unknown_parameters_are_refused(self):
        class Contrast(nn.Module):
            def forward(self, x):
                return x @ x.t()  # of samples with each other

        class Experts(nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = nn.Parameter(torch.ones(4, 8, 8))

            def forward(self, x):
                return torch.bmm(x, self.weights)

        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(8))

            def forward(self, x):
                return x * self.scale

        with self.assertRaisesRegex(ValueError, "'mm' outside of a known layer"):
            headroom.from_torch(Contrast(), (2, 8))
        with self.assertRaisesRegex(ValueError, "'bmm' outside of a known layer" if WEIGHTS else "parameters belong to no layer"):
            headroom.from_torch(Experts(), (4, 2, 8), batch=4)
        with self.assertRaisesRegex(ValueError, "nothing was read"):
            headroom.from_torch(nn.Identity(), (2, 8))
        with self.assertRaisesRegex(ValueError, "8 of 8 parameters belong to no layer"):
            headroom.from_torch(Scaled(), (2, 8))
        with self.assertRaisesRegex(ValueError, "example: inputs are missing"):
            headroom.from_torch(residual_network())


    def parameters_of(self, module, *example, **more):
        return headroom.predict(headroom.from_torch(module, *example, **more), "dgx-h100", workers=8, global_batch=64).model.parameters

    def test_weights_that_are_used_twice_count_once(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.one = nn.Linear(512, 512)

            def forward(self, x):
                for _ in range(12):
                    x = self.one(x)
                return x

        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = nn.Embedding(1000, 64), nn.Linear(64, 1000, bias=False)
                self.head.weight = self.table.weight

            def forward(self, x):
                return self.head(self.table(x))

        self.assertEqual(self.parameters_of(Twice(), (8, 512)), 512 * 512 + 512)
        twelve = operators(headroom.from_torch(Twice(), (8, 512)))
        self.assertEqual(sum(row.get("repeats", 1) for row in twelve), 12)
        self.assertEqual(self.parameters_of(Tied(), torch.zeros(8, 16, dtype=torch.long)), 64000)

    def products_of(self, module, *example):
        """FLOPs of a sample's products by the record."""
        rows = operators(headroom.from_torch(module, *example))
        plain = sum(2.0 * row["in"] / row.get("groups", 1) * row["out"] * row.get("kernel", 1) * row.get("kernel_width", 1) * row.get("height", 1)
                    * row.get("repeats", 1) for row in rows if row["kind"] in ("convolution", "linear"))
        return plain + sum(8.0 * row["out"] * (row["in"] + row["out"]) * row["height"] for row in rows if row["kind"] == "recurrent")

    def test_attention_by_hand(self):
        class Attention(nn.Module):
            def __init__(self, weights):
                super().__init__()
                self.attention, self.weights = nn.MultiheadAttention(512, 8, batch_first=True), weights

            def forward(self, x):
                return self.attention(x, x, value=x, need_weights=self.weights)[0]

        by_hand = 128 * 2 * 4 * 512 * 512 + 4 * 128 * 128 * 512
        for weights in (True, False):
            with self.subTest(weights=weights):
                module = Attention(weights)
                self.assertEqual(self.parameters_of(module, (8, 128, 512)), 4 * 512 * 512 + 4 * 512)
                self.assertEqual(self.products_of(module, (8, 128, 512)), by_hand)
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True), 6)
        self.assertEqual(self.parameters_of(encoder, (8, 128, 512)), sum(p.numel() for p in encoder.parameters()))
        self.assertEqual(self.products_of(encoder, (8, 128, 512)), 6 * (by_hand + 128 * 2 * 2 * 512 * 2048))
        self.assertEqual({row["shared"] for row in operators(headroom.from_torch(encoder, (8, 128, 512))) if "scores" in row["name"]}, {True})

    def test_keys_of_another_length_and_width(self):
        class Cross(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(256, 4, kdim=64, vdim=96, batch_first=True)

            def forward(self, q, k, v):
                return self.attention(query=q, key=k, value=v)[0]

        shapes = (8, 20, 256), (8, 30, 64), (8, 30, 96)
        module = Cross()
        self.assertEqual(self.parameters_of(module, *shapes), sum(p.numel() for p in module.parameters()))
        self.assertEqual(self.products_of(module, *shapes), 2 * (2 * 20 * 256 * 256 + 30 * 64 * 256 + 30 * 96 * 256) + 4 * 20 * 30 * 256)

    def test_recurrences_by_hand(self):
        for module, gates in ((nn.GRU(256, 512, 2, batch_first=True), 3), (nn.RNN(256, 512, 2, batch_first=True), 1), (nn.LSTM(256, 512, 2, batch_first=True), 4)):
            with self.subTest(module=module):
                self.assertEqual(self.parameters_of(module, (8, 50, 256)), sum(p.numel() for p in module.parameters()))
                self.assertEqual(self.products_of(module, (8, 50, 256)), 50 * 2 * gates * (256 * 512 + 3 * 512 * 512))

        class Cells(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.GRUCell(64, 128)

            def forward(self, x):
                state = torch.zeros(x.shape[0], 128, device=x.device)
                for step in range(x.shape[1]):
                    state = self.cell(x[:, step], state)
                return state

        self.assertEqual(self.parameters_of(Cells(), (8, 30, 64)), 3 * 128 * (64 + 128 + 2))
        self.assertEqual(self.products_of(Cells(), (8, 30, 64)), 30 * 2 * 3 * 128 * (64 + 128))

    def test_tables_of_positions_belong_to_no_layer(self):
        class Placed(nn.Module):
            def __init__(self):
                super().__init__()
                self.positions, self.layer = nn.Parameter(torch.zeros(1, 16, 64)), nn.Linear(64, 4096)

            def forward(self, x):
                return self.layer(x + self.positions)

        self.assertEqual(self.parameters_of(Placed(), (8, 16, 64)), 16 * 64 + 64 * 4096 + 4096)

    def test_activations_that_keep_their_output(self):
        def kept(activation):
            model = headroom.from_torch(nn.Sequential(nn.Linear(512, 2048), activation, nn.Linear(2048, 512)), (8, 512))
            return headroom.predict(model, "dgx-h100", workers=1, global_batch=4096, micro_batch=4096, zero=0, recompute="none").memory.activations_bytes

        self.assertAlmostEqual(kept(nn.GELU()) / kept(nn.ReLU()), (2048 + 2048 + 512) / (2048 + 512))
        self.assertEqual(kept(nn.SiLU(inplace=True)), kept(nn.ReLU()))

    def test_lstm_of_two_directions_and_products_of_its_own(self):
        module = nn.LSTM(32, 64, num_layers=2, bidirectional=True, batch_first=True)
        self.assertEqual(self.parameters_of(module, (4, 10, 32)), sum(p.numel() for p in module.parameters()))

    @unittest.skipIf(torch is None or not WEIGHTS, "this PyTorch does not tell whose storage a tensor has")
    def test_products_with_a_weight_outside_of_layers(self):
        class Double(nn.Linear):
            def forward(self, x):
                return super().forward(super().forward(x))

        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.weight = nn.Embedding(1000, 64), nn.Parameter(torch.zeros(64, 64))

            def forward(self, x):
                return nn.functional.linear(self.table(x) @ self.weight, self.table.weight)

        self.assertEqual(self.parameters_of(Double(8, 8), (4, 8)), 72)
        self.assertEqual(self.products_of(Double(8, 8), (4, 8)), 2 * 2 * 8 * 8)
        tokens = torch.zeros(8, 16, dtype=torch.long)
        self.assertEqual(self.parameters_of(Tied(), tokens), 64 * 1000 + 64 * 64)
        self.assertEqual(self.products_of(Tied(), tokens), 16 * 2 * 64 * (64 + 1000))

    def test_attention_by_functions(self):
        class Attention(nn.Module):
            def __init__(self, kind):
                super().__init__()
                self.kind, self.inputs, self.out = kind, nn.Linear(64, 192), nn.Linear(64, 64)

            def forward(self, x):
                q, k, v = (each.view(*x.shape[:2], 4, 16).transpose(1, 2) for each in self.inputs(x).split(64, 2))
                if self.kind == "fused":
                    mixed = nn.functional.scaled_dot_product_attention(q, k, value=v, is_causal=True)
                elif self.kind == "einsum":
                    mixed = torch.einsum("bhts,bhsd->bhtd", torch.einsum("bhtd,bhsd->bhts", q, k).softmax(-1), v)
                else:
                    mixed = (q @ k.transpose(-2, -1)).softmax(-1) @ v
                return self.out(mixed.transpose(1, 2).reshape(x.shape))

        for kind in ("written out", "einsum", *(["fused"] if hasattr(nn.functional, "scaled_dot_product_attention") else [])):
            with self.subTest(kind=kind):
                self.assertEqual(self.parameters_of(Attention(kind), (8, 32, 64)), 4 * 64 * 64 + 4 * 64)
                self.assertEqual(self.products_of(Attention(kind), (8, 32, 64)), 32 * 2 * 4 * 64 * 64 + 4 * 32 * 32 * 64)

    def test_layers_that_hold_other_parameters_than_their_kind(self):
        class Biased(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = nn.Embedding(1000, 64), nn.Linear(64, 1000)
                self.head.weight = self.table.weight  # its bias is its own

            def forward(self, x):
                return self.head(self.table(x))

        self.assertEqual(self.parameters_of(Biased(), torch.zeros(8, 16, dtype=torch.long)), 64000 + 1000)
        if hasattr(nn, "RMSNorm"):
            self.assertEqual(self.parameters_of(nn.Sequential(nn.Linear(64, 64), nn.RMSNorm(64)), (8, 64)), 64 * 64 + 64 + 64)
            self.assertEqual(self.parameters_of(nn.RMSNorm(64), (8, 64)), 64)
        if hasattr(nn.utils.parametrizations, "weight_norm"):
            normed = nn.utils.parametrizations.weight_norm(nn.Conv1d(64, 64, 3))
            self.assertEqual(self.parameters_of(normed, (8, 64, 100)), 3 * 64 * 64 + 64 + 64)

    def test_frozen_weights_have_no_gradients(self):
        def gradients(frozen):
            module = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 8))
            module[0].requires_grad_(not frozen)
            model = headroom.from_torch(module, (8, 256))
            answer = headroom.predict(model, "dgx-h100", workers=8, global_batch=64, zero=0)
            return answer.memory.gradients_bytes, answer.memory.weights_bytes

        whole, frozen = gradients(False), gradients(True)
        self.assertAlmostEqual(frozen[0] / whole[0], (256 * 8 + 8) / (256 * 256 + 256 + 256 * 8 + 8))
        self.assertEqual(frozen[1], whole[1])

    def test_layers_before_the_first_trained_one_have_no_backward_pass(self):
        def answer(frozen, table=False):
            backbone = nn.Sequential(*(nn.Conv2d(64, 64, 3, padding=1) for _ in range(8)))
            backbone.requires_grad_(not frozen)
            module = nn.Sequential(backbone, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
            if table:
                module.register_parameter("prompt", nn.Parameter(torch.zeros(4)))
            model = headroom.from_torch(module, (8, 64, 64, 64))
            return headroom.predict(model, "dgx-h100", workers=8, global_batch=512, micro_batch=64)

        whole, frozen = answer(False), answer(True)
        ratio = frozen.breakdown.compute_seconds / whole.breakdown.compute_seconds
        self.assertTrue(0.25 < ratio < 0.45, ratio)  # a forward pass of three passes
        self.assertLess(frozen.memory.activations_bytes, whole.memory.activations_bytes / 100)
        # a trained parameter of no layer may stand before all of them
        self.assertGreater(answer(True, table=True).breakdown.compute_seconds, 1.5 * frozen.breakdown.compute_seconds)

    def test_an_example_without_a_side_of_the_batch(self):
        for layer, shape in ((nn.Conv2d(16, 32, 3), (16, 30, 30)), (nn.Conv1d(16, 32, 3), (16, 30)), (nn.LSTM(32, 64), (10, 32)), (nn.GRUCell(32, 64), (32,)),
                             (nn.Linear(16, 32), (16,)), (nn.TransformerEncoderLayer(64, 4), (10, 64))):
            with self.subTest(layer=layer), self.assertRaisesRegex(headroom.UsageError, "^example: .* a single sample"):
                headroom.from_torch(layer, shape)

    def test_heads_that_help_in_training_alone(self):
        class Helped(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.head, self.helper = nn.Linear(64, 64), nn.Linear(64, 10), nn.Linear(64, 10)

            def forward(self, x):
                x = self.body(x)
                return (self.head(x), self.helper(x)) if self.training else self.head(x)

        self.assertEqual(self.parameters_of(Helped(), (8, 64)), 64 * 64 + 64 + 2 * (64 * 10 + 10))
        self.assertEqual(self.products_of(Helped(), (8, 64)), 2 * (64 * 64 + 2 * 64 * 10))
        with self.assertRaisesRegex(headroom.UsageError, "650 of 5460 parameters belong to no layer"):
            headroom.from_torch(Helped().eval(), (8, 64))

    @unittest.skipIf(torch is None or not WEIGHTS, "this PyTorch does not tell whose storage a tensor has")
    def test_a_bias_of_several_parameters(self):
        class Joined(nn.Module):
            def __init__(self):
                super().__init__()
                self.inputs, self.q, self.v = nn.Linear(128, 384, bias=False), nn.Parameter(torch.zeros(128)), nn.Parameter(torch.zeros(128))

            def forward(self, x):
                return nn.functional.linear(x, self.inputs.weight, torch.cat([self.q, torch.zeros_like(self.v), self.v]))

        self.assertEqual(self.parameters_of(Joined(), (8, 10, 128)), 128 * 384 + 256)
        self.assertEqual(self.products_of(Joined(), (8, 10, 128)), 10 * 2 * 128 * 384)

    def test_nothing_to_train(self):
        with self.assertRaisesRegex(headroom.UsageError, "^module: no parameter is trained .all 72 are frozen"):
            headroom.from_torch(nn.Linear(8, 8).requires_grad_(False), (4, 8))
        with self.assertRaisesRegex(headroom.UsageError, "^example: .* is empty"):
            headroom.from_torch(nn.Linear(8, 8), (0, 8))
        with self.assertRaises(headroom.UsageError) as caught:
            headroom.from_torch(nn.Linear(8, 8), [torch.zeros(4, 8)])
        self.assertNotIn("\n", str(caught.exception))

    def test_layers_without_a_shape_yet(self):
        with self.assertRaisesRegex(headroom.UsageError, "^module: weight has no shape yet"):
            headroom.from_torch(nn.LazyLinear(8), (4, 16))

    def test_norms_of_other_kinds(self):
        for norm in (nn.SyncBatchNorm(16), nn.InstanceNorm2d(16, affine=True)):
            with self.subTest(norm=norm):
                self.assertEqual(self.parameters_of(nn.Sequential(nn.Conv2d(3, 16, 3), norm), (4, 3, 32, 32)), 3 * 16 * 9 + 16 + 32)

    @unittest.skipIf(torch is None or not WEIGHTS, "this PyTorch does not tell whose storage a tensor has")
    def test_einsum_with_a_whole_weight(self):
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.zeros(64, 4, 8))

            def forward(self, x):
                return torch.einsum("btd,dhk->bthk", x, self.weight)

        self.assertEqual(self.parameters_of(Heads(), (8, 10, 64)), 64 * 32)
        self.assertEqual(self.products_of(Heads(), (8, 10, 64)), 10 * 2 * 64 * 32)

    def test_attention_with_a_key_of_zeros(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(64, 4, batch_first=True, add_zero_attn=True)

            def forward(self, x):
                return self.attention(x, x, x)[0]

        if WEIGHTS:
            self.assertEqual(self.products_of(Attention(), (8, 10, 64)), 10 * 2 * 4 * 64 * 64 + 4 * 10 * 11 * 64)

    def test_the_batch_is_that_of_the_example(self):
        module = nn.Linear(64, 64)
        self.assertEqual(operators(headroom.from_torch(module, (16, 64))), operators(headroom.from_torch(module, (16, 64), batch=16)))
        for batch in (7, 0, -1, 16.0, "16", True):
            with self.subTest(batch=batch), self.assertRaises(headroom.UsageError) as caught:
                headroom.from_torch(module, (16, 64), batch=batch)
            self.assertEqual(caught.exception.where, "batch")

    def test_what_is_no_module_or_does_not_run(self):
        with self.assertRaisesRegex(headroom.UsageError, "^module: a int"):
            headroom.from_torch(42)
        with self.assertRaisesRegex(headroom.UsageError, "^example: the module does not run on it"):
            headroom.from_torch(nn.Linear(8, 8), (4, 9))
        for config in ("llama-3-8b", 42):
            with self.assertRaisesRegex(headroom.UsageError, "^config: a "):
                headroom.from_hf(config)
        half = nn.Linear(8, 8).to(torch.bfloat16)
        self.assertEqual(self.parameters_of(half, (4, 8)), 72)


def operators(model):
    """Rows of the record that a module became."""
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    return tomllib.loads(model.text)["operator"]


LOOP = """
    import os, sys, torch, headroom
    from torch import distributed, nn
    distributed.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/store", rank=int(sys.argv[2]), world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with headroom.watch(steps=4, wait=2, folder=sys.argv[1] + "/traces", quiet=True) as watched:
        for _ in range(8):
            model(torch.randn(32, 64)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            watched.step()
    if distributed.get_rank() == 0:
        answer = watched.answer
        print(len(answer.ranks) if "ranks" in answer else answer.workers, answer.complete)
        print(answer, file=sys.stderr)
    distributed.barrier()  # none leaves while another still talks to it
    distributed.destroy_process_group()
"""


@unittest.skipIf(torch is None or not torch.distributed.is_available(), "PyTorch with distributed training is not installed")
class Watched(unittest.TestCase):
    def test_two_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(LOOP), folder, str(rank)], env={**os.environ, "OMP_NUM_THREADS": "1"},
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
            outputs = [rank.communicate(timeout=600) for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0, 0], outputs)
            self.assertEqual(outputs[0][0].split(), ["2", "True"], outputs[0][1])
            self.assertEqual(sorted(os.listdir(folder + "/traces")), ["rank0.json", "rank1.json"])

    def test_a_profiler_of_one_rank_leaves_no_other_waiting(self):
        blocked = textwrap.dedent(LOOP).replace("with headroom.watch(", "from torch import profiler\nimport contextlib\n"
                                                "with profiler.profile() if sys.argv[2] == '0' else contextlib.nullcontext(), headroom.watch(")
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen([sys.executable, "-c", blocked.replace("print(len(answer.ranks) if \"ranks\" in answer else answer.workers, answer.complete)",
                                                                            "print(answer is None)"), folder, str(rank)],
                                      env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
            outputs = [rank.communicate(timeout=600) for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0, 0], outputs)
            self.assertEqual(outputs[0][0].split(), ["True"])

    def test_a_watch_never_ends_the_loop(self):
        def loop(*all_watched):
            for _ in range(8):
                torch.ones(64, 64) @ torch.ones(64, 64)
                for watched in all_watched:
                    watched.step()

        with headroom.watch(steps=2, wait=1, quiet=True) as outer, headroom.watch(steps=2, wait=1, quiet=True) as inner:
            loop(outer, inner)
        self.assertTrue(outer.answer.complete)
        self.assertIsNone(inner.answer)
        late = torch.profiler.schedule(wait=1, warmup=1, active=3)
        with torch.profiler.profile(schedule=late) as profiler, headroom.watch(steps=2, wait=4, quiet=True) as watched:
            for _ in range(8):
                torch.ones(64, 64) @ torch.ones(64, 64)
                profiler.step()
                watched.step()
        with headroom.watch(steps=2, wait=1, quiet=True) as watched:  # the profiler that was in the way has ended
            loop(watched)
        first = watched.answer
        with watched:
            loop(watched)
        self.assertTrue(watched.answer.complete)
        self.assertIsNot(watched.answer, first)
        for wait in (0, 1, 3):
            alone = headroom.watch(steps=2, wait=wait, quiet=True)  # without `with`
            loop(alone)
            self.assertTrue(alone.answer.complete)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "file")
            with open(file, "w"):
                pass
            with self.assertRaisesRegex(headroom.UsageError, "folder.*it is a file"):
                headroom.watch(folder=file)
            with headroom.watch(steps=2, wait=1, quiet=True, folder=os.path.join(folder, "later", "traces")) as watched:
                with open(os.path.join(folder, "later"), "w"):
                    pass
                loop(watched)
            self.assertIsNone(watched.answer)

    def test_a_watch_that_was_dropped_is_not_in_the_way(self):
        watched = headroom.watch(steps=20, wait=1, quiet=True)
        for _ in range(4):
            watched.step()
        del watched
        with headroom.watch(steps=2, wait=1, quiet=True) as watched:
            for _ in range(4):
                torch.ones(64, 64) @ torch.ones(64, 64)
                watched.step()
        self.assertTrue(watched.answer.complete)
        for folder in (5, b"traces", ""):
            with self.assertRaisesRegex(headroom.UsageError, "^folder: .*it is no path"):
                headroom.watch(folder=folder)

    def test_traces_of_an_earlier_watch_are_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("rank0.json", "rank1.json", "mine.json"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write("of another run")
            with headroom.watch(steps=2, wait=1, quiet=True, folder=folder) as watched:
                for _ in range(3):
                    torch.ones(64, 64) @ torch.ones(64, 64)
                    watched.step()
            self.assertTrue(watched.answer.complete)
            self.assertEqual(sorted(os.listdir(folder)), ["mine.json", "rank0.json"])

    def test_a_loop_that_ends_early_or_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            with headroom.watch(steps=50, wait=1, folder=folder, quiet=True) as watched:
                for _ in range(3):
                    torch.ones(64, 64) @ torch.ones(64, 64)
                    watched.step()
            self.assertTrue(watched.answer.complete)
            with self.assertRaises(KeyError), headroom.watch(steps=2, wait=0, quiet=True) as watched:
                raise KeyError("of the loop")
            self.assertIsNone(watched.answer)
        for steps in (0, "ten", True):
            with self.assertRaises(headroom.UsageError):
                headroom.watch(steps=steps)

    def loop(self, loops, **more):
        with tempfile.TemporaryDirectory() as folder:
            with headroom.watch(folder=folder, quiet=True, **more) as watched:
                for _ in range(loops):
                    torch.ones(64, 64) @ torch.ones(64, 64)
                    watched.step()
            return watched.answer

    def test_only_whole_steps_count(self):
        self.assertIsNone(self.loop(2, wait=3))
        self.assertIsNone(self.loop(3, wait=3))
        for steps in (4, 6):
            self.assertEqual(self.loop(steps, wait=3).ranks[0].steps, steps - 3)

    def test_a_folder_of_its_own_is_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                with headroom.watch(wait=1, steps=2, quiet=True) as watched:
                    for _ in range(4):
                        torch.ones(64, 64) @ torch.ones(64, 64)
                        watched.step()
                self.assertEqual([name for name in os.listdir(folder) if name.startswith("headroom")], [])  # torch may leave its own
            finally:
                tempfile.tempdir = before
        self.assertTrue(watched.answer.complete)
        self.assertIsNone(watched.folder)
        self.assertIn("<html", watched.answer.to_html()[:500])

    def test_another_profiler_is_left_alone(self):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as other:
            self.assertIsNone(self.loop(6, wait=1, steps=2))
        self.assertTrue(other.key_averages())

def data(rows, width):
    torch.manual_seed(1)
    return torch.randn(rows, width)


def missing(*names):
    """Names of the packages that cannot be imported here."""
    found = []
    for name in names:
        try:
            __import__(name)
        except ImportError:
            found.append(name)
    return found


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Callbacks(unittest.TestCase):
    """Each of the real trainers, with the real package: two steps are left out, three are profiled."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def need(self, *names):
        if absent := missing(*names):
            self.skipTest(f"{', '.join(absent)}: not installed (make python-packages)")

    def check(self, watched):
        self.assertTrue(watched.answer.complete)
        self.assertEqual(os.listdir(watched.folder), ["rank0.json"])
        with open(f"{watched.folder}/rank0.json") as file:
            steps = {event["name"] for event in json.load(file)["traceEvents"] if str(event.get("name", "")).startswith("ProfilerStep")}
        self.assertEqual(len(steps), 3, steps)

    def test_trainer_of_transformers(self):
        self.need("transformers", "accelerate")
        import transformers

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(16, 16)

            def forward(self, x, labels=None):
                return {"loss": self.layer(x).square().mean()}

        rows = [{"x": row, "labels": torch.zeros(1)} for row in data(64, 16)]
        for accumulated in (1, 2):
            watched = headroom.watch(steps=3, wait=2, folder=f"{self.folder}/traces{accumulated}", quiet=True)
            settings = transformers.TrainingArguments(self.folder, max_steps=7, per_device_train_batch_size=4, report_to=[], use_cpu=True,
                                                      gradient_accumulation_steps=accumulated, disable_tqdm=True, save_strategy="no")
            transformers.Trainer(Model(), settings, train_dataset=rows, callbacks=[watched.hugging_face()]).train()
            self.check(watched)

    def test_a_training_of_transformers_that_failed(self):
        self.need("transformers", "accelerate")
        import transformers

        class Model(nn.Module):
            def __init__(self, most):
                super().__init__()
                self.layer, self.left = nn.Linear(16, 16), most

            def forward(self, x, labels=None):
                self.left -= 1
                if self.left < 0:
                    raise KeyError("of the loop")
                return {"loss": self.layer(x).square().mean()}

        def train(watched, most=99):
            settings = transformers.TrainingArguments(self.folder, max_steps=7, per_device_train_batch_size=4, report_to=[], use_cpu=True,
                                                      disable_tqdm=True, save_strategy="no")
            rows = [{"x": row, "labels": torch.zeros(1)} for row in data(64, 16)]
            transformers.Trainer(Model(most), settings, train_dataset=rows, callbacks=[watched.hugging_face()]).train()

        for again in (lambda first: first, lambda first: headroom.watch(steps=3, wait=2, folder=f"{self.folder}/other", quiet=True)):
            watched = headroom.watch(steps=3, wait=2, folder=f"{self.folder}/traces", quiet=True)
            with self.assertRaises(KeyError):
                train(watched, most=3)  # in the middle of the steps that are profiled
            second = again(watched)
            train(second)
            self.check(second)
            self.assertLess(second.answer.ranks[0].steps, 4)

    def test_trainer_of_lightning(self):
        self.need("lightning")
        import lightning

        class Module(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(16, 16)

            def training_step(self, batch, index):
                if batch.isnan().any():
                    raise KeyError("of the loop")
                return self.layer(batch).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.01)

        def train(rows, watched, **more):
            trainer = lightning.Trainer(max_steps=7, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                        enable_model_summary=False, default_root_dir=self.folder, callbacks=[watched.lightning()], **more)
            trainer.fit(Module(), torch.utils.data.DataLoader(rows, batch_size=4))

        for accumulated in (1, 2):
            watched = headroom.watch(steps=3, wait=2, folder=f"{self.folder}/traces{accumulated}", quiet=True)
            train(data(64, 16), watched, accumulate_grad_batches=accumulated)
            self.check(watched)
        watched = headroom.watch(steps=3, wait=1, folder=f"{self.folder}/none", quiet=True)
        with self.assertRaises(KeyError):
            train(torch.full((64, 16), float("nan")), watched)
        self.assertIsNone(watched.answer)
        watched = headroom.watch(steps=2, wait=1, folder=f"{self.folder}/after", quiet=True)
        train(data(64, 16), watched)  # the profiler of the loop that failed is over
        self.assertTrue(watched.answer.complete)

    def test_a_loop_of_accelerate(self):
        self.need("accelerate")
        from accelerate import Accelerator

        accelerator = Accelerator(cpu=True)
        module = nn.Linear(16, 16)
        module, optimizer, loader = accelerator.prepare(module, torch.optim.SGD(module.parameters(), lr=0.01),
                                                        torch.utils.data.DataLoader(data(32, 16), batch_size=4))
        with headroom.watch(steps=3, wait=2, folder=f"{self.folder}/traces", quiet=True) as watched:
            for batch in loader:
                accelerator.backward(module(batch).square().mean())
                optimizer.step()
                optimizer.zero_grad()
                watched.step()
        self.check(watched)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Configurations(unittest.TestCase):
    def test_configurations_of_transformers(self):
        if missing("transformers"):
            self.skipTest("transformers: not installed (make python-packages)")
        import transformers

        small = {"vocab_size": 512, "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
        for kind, more in (("Llama", {"num_key_value_heads": 2}), ("Mistral", {"num_key_value_heads": 2}), ("Qwen2", {"num_key_value_heads": 2})):
            with self.subTest(kind=kind):
                config = getattr(transformers, f"{kind}Config")(**small, **more)
                config.architectures = [f"{kind}ForCausalLM"]
                real = getattr(transformers, f"{kind}ForCausalLM")(config)
                answer = headroom.predict(headroom.from_hf(config), "dgx-h100", workers=8, global_batch=8, sequence_length=64)
                self.assertEqual(answer.model.parameters, sum(p.numel() for p in real.parameters()))


if __name__ == "__main__":
    unittest.main()
