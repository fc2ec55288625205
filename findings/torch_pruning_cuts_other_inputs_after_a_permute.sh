#!/usr/bin/env bash
# One would guess: structured pruning by a traced dependency graph removes, with a channel, what reads that channel. A channel that
#   the next layer multiplies by 0 can go without a change of the function, or the tool refuses.
# What happens: after a permute to channels-last and a flatten, the graph still counts inputs channel by channel. Of the next layer
#   it removes nine inputs in a row, of three positions and all four channels, instead of every fourth. The check of the group is
#   passed, the shapes fit, and outputs change by .9 of their norm. Without the permute the channel goes without a trace.
# Versions: torch-pruning 1.6.1, torch 2.13.0, numpy 2.4.6
# Why it matters: channels-last heads and patch layers are common in vision; the loss of accuracy is put down to pruning, and
#   fine-tuning hides it. Removing a dead channel and comparing outputs tells.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch-pruning==1.6.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import torch
import torch_pruning as tp
from torch import nn


class Net(nn.Module):
    """Four channels on 3 × 3 positions and a linear head, which does not read channel 2."""

    def __init__(self, channels_last):
        super().__init__()
        self.conv, self.head, self.channels_last = nn.Conv2d(1, 4, 3), nn.Linear(36, 3), channels_last
        with torch.no_grad():
            self.head.weight[:, self.inputs_of(2)] = 0

    def inputs_of(self, channel):
        order = torch.arange(36).view(3, 3, 4)[..., channel] if self.channels_last else torch.arange(36).view(4, 3, 3)[channel]
        return order.flatten()

    def forward(self, images):
        hidden = self.conv(images).relu()
        return self.head((hidden.permute(0, 2, 3, 1) if self.channels_last else hidden).flatten(1))


images = torch.randn(64, 1, 5, 5, generator=torch.Generator().manual_seed(0))
change = {}
for channels_last in (False, True):
    torch.manual_seed(1)
    network = Net(channels_last).eval()
    before = network(images).detach()
    other = images.clone()
    graph = tp.DependencyGraph().build_dependency(network, example_inputs=other)
    group = graph.get_pruning_group(network.conv, tp.prune_conv_out_channels, idxs=[2])
    assert graph.check_pruning_group(group)
    removed = next(sorted(indices) for dependency, indices in group if dependency.target.module is network.head)
    group.prune()
    change[channels_last] = ((network(images) - before).norm() / before.norm()).item()
    own = Net(channels_last).inputs_of(2).tolist()
    print(f"channels last {channels_last!s:5}: head's inputs of channel 2:", *own, " removed:", *removed,
          f" outputs change by {change[channels_last]:.1e} of their norm")
assert change[False] < 1e-5 and change[True] > .1
PYTHON
