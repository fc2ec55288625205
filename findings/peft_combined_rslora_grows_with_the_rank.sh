#!/usr/bin/env bash
# One would guess: an adapter that is combined alone, with weight 1, stays as it is: `add_weighted_adapter(["a"], [1.0], "copy")`.
# What happens: for rank-stabilised LoRA (use_rslora=True) the copy's update is sqrt(r) times as large: 4 times for r = 16, 8 times
#   for r = 64, with "linear", "cat" and "svd" alike. The factors take up a's scale alpha / sqrt(r), and the new adapter, made with
#   alpha = r to have the scale 1, is rank-stabilised too: its scale is r / sqrt(r).
# Versions: peft 0.21.2, transformers 5.24.0, torch 2.13.0, numpy 2.4.6
# Why it matters: rsLoRA is for high ranks, where the factor is largest; the combined network leaves the region that each adapter
#   was trained in, and this looks as if the adapters interfered. `merge_and_unload` of the single adapter is right.
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

inputs = torch.randn(5, 80, generator=torch.Generator().manual_seed(0))


def growth(rank, kind, stabilised):
    """Norm of the copy's update over the adapter's, and whether merging the adapter itself keeps the function."""
    torch.manual_seed(0)
    config = LoraConfig(r=rank, lora_alpha=16, use_rslora=stabilised, target_modules=["0"], init_lora_weights=False)
    model = get_peft_model(nn.Sequential(nn.Linear(80, 90)), config, adapter_name="a")
    model.add_weighted_adapter(["a"], [1.0], "copy", combination_type=kind, **({"svd_rank": rank} if kind == "svd" else {}))
    old, new = (model.base_model.model[0].get_delta_weight(name).detach() for name in ("a", "copy"))
    model.set_adapter("a")
    before = model(inputs)
    merged = torch.allclose(model.merge_and_unload(adapter_names=["a"])(inputs), before, atol=1e-3)
    return (new.norm() / old.norm()).item(), merged


for rank in (1, 4, 16, 64):
    for stabilised in (False, True):
        found = {kind: growth(rank, kind, stabilised) for kind in ("linear", "cat", "svd")}
        print(f"rank {rank:2}, use_rslora={stabilised}:", *(f"{kind} {ratio:.3f}" for kind, (ratio, _) in found.items()))
        expected = rank**.5 if stabilised else 1
        assert all(abs(ratio / expected - 1) < 1e-3 and merged for ratio, merged in found.values())
PYTHON
