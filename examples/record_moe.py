#!/usr/bin/env python3
"""Traces of a small mixture of experts, trained on CPUs by several processes: all-to-all exchanges over gloo, one file a rank.

    examples/record_moe.py FOLDER [--processes 2] [--skew 2.0]

Each process holds some of the experts. The router sends every token to one expert; `--skew` is added to the logit of the first
expert, so that its process has more to compute. PyTorch's profiler records three steps; then

    headroom trace FOLDER

reads them. Needs PyTorch 1.13 or later with gloo (Debian: python3-torch).
"""

import argparse
import os
import pathlib

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.profiler import ProfilerActivity, profile, schedule

WIDTH, HIDDEN, EXPERTS, LAYERS, TOKENS = 256, 1024, 4, 2, 1024


class Exchange(torch.autograd.Function):
    """Rows to the ranks that want them, and gradients back."""

    @staticmethod
    def forward(context, rows, sent, received):
        context.sizes = (sent, received)
        out = rows.new_empty(sum(received), rows.shape[1])
        dist.all_to_all_single(out, rows.contiguous(), received, sent)
        return out

    @staticmethod
    def backward(context, gradient):
        sent, received = context.sizes
        out = gradient.new_empty(sum(sent), gradient.shape[1])
        dist.all_to_all_single(out, gradient.contiguous(), sent, received)
        return out, None, None


class Mixture(torch.nn.Module):
    """A block of experts that are spread over the ranks, one expert a token."""

    def __init__(self, skew):
        super().__init__()
        self.router = torch.nn.Linear(WIDTH, EXPERTS)
        with torch.no_grad():
            self.router.bias[0] += skew
        self.own = EXPERTS // dist.get_world_size()
        self.experts = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.Linear(WIDTH, HIDDEN), torch.nn.GELU(), torch.nn.Linear(HIDDEN, WIDTH)) for _ in range(self.own))

    def forward(self, tokens):
        gates = torch.softmax(self.router(tokens), dim=-1)
        gate, expert = gates.max(dim=-1)
        order = torch.argsort(expert)
        counts = torch.bincount(expert, minlength=EXPERTS)
        theirs = torch.empty_like(counts)
        dist.all_to_all_single(theirs, counts)
        ranks = dist.get_world_size()
        sent = counts.view(ranks, self.own).sum(1).tolist()
        received = theirs.view(ranks, self.own).sum(1).tolist()
        rows = Exchange.apply(tokens[order], sent, received)
        kinds = torch.cat([torch.repeat_interleave(torch.arange(self.own), part) for part in theirs.view(ranks, self.own)])
        places = [torch.nonzero(kinds == one).squeeze(1) for one in range(self.own)]
        results = torch.cat([expert_of(rows[at]) for expert_of, at in zip(self.experts, places)])
        back = Exchange.apply(results[torch.argsort(torch.cat(places))], received, sent)
        return tokens + gate.unsqueeze(1) * back[torch.argsort(order)]


def train(rank, arguments):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(arguments.port)}
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", rank=rank, world_size=arguments.processes)
    layers = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), Mixture(arguments.skew)) for _ in range(LAYERS))
    shared = [value for name, value in layers.named_parameters() if "experts" not in name]
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3)) as profiler:
        for _ in range(5):
            tokens = torch.randn(TOKENS, WIDTH)
            for layer in layers:
                tokens = layer(tokens)
            tokens.square().mean().backward()
            gradients = torch.cat([value.grad.flatten() for value in shared])
            dist.all_reduce(gradients)
            at = 0
            for value in shared:
                value.grad.copy_(gradients[at:at + value.numel()].view_as(value) / arguments.processes)
                at += value.numel()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    profiler.export_chrome_trace(str(arguments.folder / f"rank{rank}.json"))
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=2, choices=[2, 4])
    parser.add_argument("--skew", type=float, default=2.0)
    parser.add_argument("--port", type=int, default=29511)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    multiprocessing.spawn(train, (arguments,), nprocs=arguments.processes)


if __name__ == "__main__":
    main()
