#!/usr/bin/env bash
# One would guess: `load_tb_events` reads all steps of all runs, and with its strict checks (the default) refuses runs of unequal length:
#   what `reduce_events` then gives is a mean over all runs, at every step.
# What happens: 10,000 points of a curve are kept, drawn at random where there are more, and the check comes after the draw: runs of 12,000
#   and 15,000 steps count 10,000 each and pass for equal. Their draws have 8,002 steps in common; the mean has those, with gaps of up to 8
#   steps anywhere, and of twelve spikes that both runs have seven are left. Two runs of 12,000 draw the same 10,000. Below 10,000 all is as
#   said.
# Versions: tensorboard-reducer 0.4.0, tensorboard 2.21.0, numpy 2.4.6, pandas 3.1.1
# Why it matters: a spike, or the least loss of a run, is in the mean or not by the luck of a draw; training one run longer changes which
#   steps of all others count, and the check that is there to say so is silent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q tensorboard-reducer==0.4.0 tensorboard==2.21.0 numpy==2.4.6 pandas==3.1.1
"$folder/venv/bin/python" -W ignore - "$folder" <<'PYTHON'
import sys
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard_reducer import load_tb_events, reduce_events


def run(name, steps):
    """A run with a loss of 1, and of 100 at one step of a thousand."""
    folder = Path(sys.argv[1]) / "runs" / name
    writer = EventFileWriter(str(folder))
    for step in range(steps):
        value = Summary.Value(tag="loss", simple_value=100.0 if step % 1000 == 500 else 1.0)
        writer.add_event(Event(step=step, wall_time=step, summary=Summary(value=[value])))
    writer.close()
    return str(folder)


runs = {name: run(name, steps) for name, steps in dict(a=9000, b=9000, c=12000, d=12000, e=15000).items()}
found = {}
for pair in "ab", "cd", "ce":
    loaded = load_tb_events([runs[name] for name in pair])  # with its strict checks
    mean = reduce_events(loaded, ["mean"])["mean"]["loss"]
    found[pair] = len(mean), int(np.diff(mean.index).max()), int((mean == 100).sum())
    print(f"{pair}: {found[pair][0]} steps, the largest gap {found[pair][1]}, spikes left {found[pair][2]}")
try:
    load_tb_events([runs["a"], runs["c"]])
    refused = False
except ValueError as error:
    refused = "Unequal number of steps" in str(error)
print("9,000 and 12,000 steps are refused:", refused)
assert found["ab"] == (9000, 1, 9) and refused
assert found["cd"][0] == 10000 and 7900 < found["ce"][0] < 8100 and found["ce"][2] < 12
PYTHON
