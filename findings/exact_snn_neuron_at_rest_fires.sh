#!/usr/bin/env bash
# One would guess: a leaky neuron returns to its resting potential, `u_rest`: at rest and without input it is silent, and if resting
#   potential, threshold and reset are all moved by the same voltage it fires at the same times.
# What happens: `u_rest` is where the membrane starts, and nothing else: it decays to 0, whatever the resting potential. In millivolts,
#   rest and reset at -65 and threshold at -50, the neuron fires 50 times in 200 ms without any input, every 3.9 ms, and with three
#   impulses 59 times; with rest at 0 and threshold at 15 it fires never and 5 times, as an integration in small steps says for both. A
#   pacemaker, rest at 20 above the threshold, fires once for 10 times, and that is its fall through the threshold. Derivatives of spike
#   times by weights agree with differences, of the neuron that decays to 0.
# Versions: exact-snn-nn 3.2.3, numpy 2.4.6, torch 2.13.0
# Why it matters: parameters from a paper or from another simulator are in millivolts; the spikes then have little to do with the input,
#   and gradients checked by finite differences of the same class agree. With rest at 0, the default, the class is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q exact-snn-nn==3.2.3 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import numpy as np
from exact_snn.reset import ResetLIF

impulses, end = [(5., 120.), (20., 160.), (60., 200.)], 200.  # times in ms, currents in mV


def by_steps(inputs, rest, threshold, reset, step=.001):
    """Spike times of tau u' = rest - u + i with the library's time constants, 15 and 4 ms, in small steps."""
    u, i, spikes, left = rest, 0., [], sorted(inputs)
    for k in range(int(end / step)):
        while left and left[0][0] <= k * step + step / 2:
            i += left.pop(0)[1]
        u, i = u + step * (rest - u + i) / 15, i * np.exp(-step / 4)
        if u >= threshold:
            spikes.append((k + 1) * step)
            u = reset
    return spikes


spikes = {}
for name, rest, threshold in ("rest 0", 0, 15), ("rest -65", -65, -50), ("pacemaker", 20, 15):
    reset = min(rest, 0)
    neuron = ResetLIF(tm=15, ts=4, theta=threshold, u_rest=rest, u_reset=reset)
    for kind, inputs in ("without input", []), ("three impulses", impulses):
        library, steps = neuron.run(inputs, t_end=end), by_steps(inputs, rest, threshold, reset)
        spikes[name, kind] = library, steps
        print(f"{name}, threshold {threshold}, {kind}: {len(library)} spikes, {len(steps)} by steps; first",
              np.round(library[:4], 2), np.round(steps[:4], 2))
for kind in ("without input", "three impulses"):
    right, moved = spikes["rest 0", kind], spikes["rest -65", kind]
    assert len(right[0]) == len(right[1]) == len(moved[1])
    assert np.allclose(right[0], right[1], atol=.02) and np.allclose(right[1], moved[1], atol=.02)
    assert len(moved[0]) >= 50
assert len(spikes["rest 0", "three impulses"][0]) > 0 and len(spikes["rest 0", "without input"][0]) == 0
period = np.diff(spikes["rest -65", "without input"][0])
print(f"period without input {period.mean():.3f}, of a decay from -65 to -50 towards 0 {15 * np.log(65 / 50):.3f}")
assert np.allclose(period, 15 * np.log(65 / 50), atol=1e-6)
pacemaker = spikes["pacemaker", "without input"]
print(f"pacemaker: one spike, at a fall from 20 to 15 towards 0, {15 * np.log(20 / 15):.3f}; by steps {len(pacemaker[1])}")
assert np.allclose(pacemaker[0], 15 * np.log(20 / 15)) and len(pacemaker[1]) == 10

inputs, index = impulses, 0
neuron = ResetLIF(tm=15, ts=4, theta=-50, u_rest=-65, u_reset=-65)
slopes = np.array(neuron.sensitivity(inputs, index, t_end=40.)[1])
shifted = [neuron.run([(t, w + d * (k == index)) for k, (t, w) in enumerate(inputs)], t_end=40.) for d in (1e-4, -1e-4)]
differences = (np.array(shifted[0]) - np.array(shifted[1])) / 2e-4
print(f"derivatives of {len(slopes)} spike times by the first weight, off from differences by {np.abs(slopes - differences).max():.0e}")
assert np.abs(slopes - differences).max() < 1e-6
PYTHON
