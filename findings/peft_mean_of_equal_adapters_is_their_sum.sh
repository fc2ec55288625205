#!/usr/bin/env bash
# One would guess: the mean of k copies of one LoRA adapter, `add_weighted_adapter(["a"] * k, [1 / k] * k, "mean",
#   combination_type="linear")`, is that adapter; in general "linear" gives the weighted sum of the updates or, as a file of rank r
#   cannot hold it, the product of the averaged factors.
# What happens: neither. Each factor is multiplied by the *root* of its weight, so that cross terms count: the mean of k copies is
#   k times the adapter, and the mean of two adapters is twice the product of the two mean factors. "dare_linear" (density 1) and
#   "magnitude_prune" do the same; "ties" gives the k-th part of the adapter. "cat" and "svd" give the mean.
# Versions: peft 0.21.2, transformers 5.24.0, torch 2.13.0, numpy 2.4.6
# Why it matters: adapters that were fine-tuned from one start are alike, so that their cross terms are large; their "mean" is a step
#   of up to twice the length, and a comparison of merging methods compares lengths.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q peft==0.21.2 transformers==5.24.0 torch==2.13.0 numpy==2.4.6
HF_HUB_OFFLINE=1 "$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import torch
from peft import LoraConfig, get_peft_model
from torch import nn

torch.manual_seed(0)
config = LoraConfig(r=4, lora_alpha=8, target_modules=["0"], init_lora_weights=False)
model = get_peft_model(nn.Sequential(nn.Linear(10, 20)), config, adapter_name="a")
model.add_adapter("b", config)
layer = model.base_model.model[0]


def combined(names, weights, kind, **options):
    """The update of the combined adapter."""
    model.add_weighted_adapter(names, weights, "new", combination_type=kind, **options)
    update = layer.get_delta_weight("new").detach()
    model.delete_adapter("new")
    return update


a, b = (layer.get_delta_weight(name).detach() for name in "ab")
share = {}
for kind, options in {"linear": {}, "dare_linear": {"density": 1.0}, "magnitude_prune": {"density": 1.0}, "ties": {"density": 1.0},
                      "svd": {"svd_rank": 4}, "cat": {}}.items():
    updates = [combined(["a"] * k, [1 / k] * k, kind, **options) for k in (1, 2, 3)]
    share[kind] = [(update.norm() / a.norm()).item() for update in updates]
    assert all(torch.allclose(update, s * a, atol=1e-4) for update, s in zip(updates, share[kind]))  # multiples of the adapter
    print(f"{kind:16} mean of 1, 2, 3 copies of a, as a multiple of a:", *(f"{s:.3f}" for s in share[kind]))
mean = combined(["a", "b"], [.5, .5], "linear")
factors = [(layer.lora_A[name].weight.detach(), layer.lora_B[name].weight.detach()) for name in "ab"]
(down_a, up_a), (down_b, up_b) = factors
product = layer.scaling["a"] * (up_a + up_b) / 2 @ (down_a + down_b) / 2
print("mean of a and b: multiple of the product of mean factors", round((mean.norm() / product.norm()).item(), 4),
      "; distance from the mean update, in its norms", round(((mean - (a + b) / 2).norm() / ((a + b) / 2).norm()).item(), 2))
for kind in ("linear", "dare_linear", "magnitude_prune"):
    assert all(abs(s - k) < 1e-4 for k, s in enumerate(share[kind], 1))
assert all(abs(s - 1 / k) < 1e-4 for k, s in enumerate(share["ties"], 1))
assert max(abs(s - 1) for kind in ("svd", "cat") for s in share[kind]) < 1e-4
assert torch.allclose(mean, 2 * product, atol=1e-4)
PYTHON
