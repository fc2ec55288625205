#!/usr/bin/env bash
# One would guess: a network that comes back from an ONNX file has its weights in `parameters()`: it can be tuned, and a line over them from
#   one such network ends at the other. A matrix that two nodes of the graph share is one tensor, as it is in the file.
# What happens: only nodes with a torch layer of their own (Gemm, Conv, …) get parameters. What MatMul and Add read becomes buffers, and by
#   these exporters write linear layers on anything but flat batches. One and the same network has 67 parameters by Gemm and none
#   by MatMul: the line from a ends at a, off by the whole distance, and an optimizer refuses or, beside a convolution, trains that alone. A
#   shared matrix becomes one buffer for each use: set one of them and the two parts of the network differ.
# Versions: onnx2torch 1.5.15, onnx 1.23.2, torch 2.13.0, numpy 2.4.6
# Why it matters: distances, lines, averages and fine-tuning of converted transformers leave out most of the network, which one does not see
#   where some parameters, of norms and convolutions, are left. State dictionaries have all of it, shared matrices twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 onnx==1.23.2
"$folder/venv/bin/pip" install -q --no-deps onnx2torch==1.5.15
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys
import types

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

for name in ("torchvision", "torchvision.ops"):  # for two operators on boxes
    sys.modules[name] = types.ModuleType(name)
sys.modules["torchvision.ops"].roi_align = None
from onnx2torch import convert

torch.set_num_threads(1)
torch.set_grad_enabled(False)
x = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))


def network(seed, nodes, shapes, outputs):
    """The graph of these nodes, with drawn weights, converted."""
    rng = np.random.default_rng(seed)
    weights = [numpy_helper.from_array(rng.normal(size=shape).astype("float32"), name) for name, shape in shapes.items()]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in (("x", 4), ("y", outputs))]
    graph = helper.make_graph([helper.make_node(*node) for node in nodes], "network", ends[:1], ends[1:], weights)
    return convert(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))


shapes = {"v": (4, 8), "a": (8,), "w": (8, 3), "b": (3,)}
ways = {"Gemm": [("Gemm", ["x", "v", "a"], ["h"]), ("Relu", ["h"], ["r"]), ("Gemm", ["r", "w", "b"], ["y"])],
        "MatMul": [("MatMul", ["x", "v"], ["m"]), ("Add", ["m", "a"], ["h"]), ("Relu", ["h"], ["r"]), ("MatMul", ["r", "w"], ["s"]),
                   ("Add", ["s", "b"], ["y"])]}
found, outputs = {}, {}
for name, nodes in ways.items():
    a, b = (network(seed, nodes, shapes, 3) for seed in (0, 1))
    outputs[name], aim = a(x), b(x)
    count = sum(p.numel() for p in a.parameters())
    for p, q in zip(a.parameters(), b.parameters()):
        p.copy_(q)
    found[name] = count, sum(p.numel() for p in a.buffers()), ((a(x) - aim).norm() / (outputs[name] - aim).norm()).item()
    print(f"{name}: {count} parameters, {found[name][1]} numbers in buffers;",
          f"the line from a to b ends at {found[name][2]:.2f} of their distance from b")
tied = network(0, [("MatMul", ["x", "w"], ["h"]), ("Tanh", ["h"], ["r"]), ("MatMul", ["r", "w"], ["y"])], {"w": (4, 4)}, 4)
sizes = [tuple(buffer.shape) for buffer in tied.buffers()]
print("buffers for one shared matrix:", sizes)
assert torch.allclose(outputs["Gemm"], outputs["MatMul"], atol=1e-5)
assert found == {"Gemm": (67, 0, 0), "MatMul": (0, 67, 1)} and sizes == [(4, 4), (4, 4)]
PYTHON
