#!/usr/bin/env bash
# One would guess: layers that are named are found by their names in a `.weights.h5` file, as parameters are in a state dictionary: a
#   model with the same names and shapes gets each layer's own weights, or `load_weights` refuses.
# What happens: the file knows layers by class and position: dense, dense_1. The order is the list's, or that in which the graph is
#   walked. Two branches called "audio" and "image", joined in the other order, load each other's weights, as do two layers of one
#   list; outputs change by more than their norm, and nothing is said. A plain attribute is the exception: it is stored under its own
#   name.
# Versions: keras 3.15.1, torch 2.13.0 (as its backend), numpy 2.4.6
# Why it matters: a rewritten model that "still loads" may be the old one with layers exchanged, which looks like a bad checkpoint. An
#   average over such files pairs branches that have nothing in common.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q keras==3.15.1 torch==2.13.0 numpy==2.4.6
export KERAS_HOME=$folder KERAS_BACKEND=torch
"$folder/venv/bin/python" -W ignore - "$folder" 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import sys

import keras
import numpy as np
from keras import layers

x = np.random.default_rng(0).normal(size=(100, 4)).astype("float32")
names = ["audio", "image"]


def branches(order):
    """A branch for each half of the input, and their sum, in some order."""
    entry = keras.Input((4,))
    half = {"audio": entry[:, :2], "image": entry[:, 2:]}
    branch = {name: layers.Dense(4, activation="tanh", name=name)(half[name]) for name in names}
    return keras.Model(entry, layers.Add(name="sum")([branch[name] for name in order]))


class Chain(keras.Model):
    """audio, then image, kept in a list or as attributes in some order."""

    def __init__(self, order, listed):
        super().__init__()
        made = {name: layers.Dense(4, activation="tanh", name=name) for name in order}
        if listed:
            self.blocks = list(made.values())
        else:
            for name in order:
                setattr(self, name, made[name])
        self.pick = lambda name: next(layer for layer in self._flatten_layers() if layer.name == name)

    def call(self, inputs):
        return self.pick("image")(self.pick("audio")(inputs))


def kernels(model):
    return {layer.name: layer.get_weights()[0] for layer in model._flatten_layers() if layer.name in names}


def outputs(model):
    return keras.ops.convert_to_numpy(model(x))


found = {}
for kind, make in (("branches", branches), ("list", lambda order: Chain(order, True)), ("attributes", lambda order: Chain(order, False))):
    for order in (names, names[::-1]):
        saved, loaded = make(names), make(order)
        outputs(saved), outputs(loaded)  # builds them
        saved.save_weights(f"{sys.argv[1]}/{kind}.weights.h5")
        loaded.load_weights(f"{sys.argv[1]}/{kind}.weights.h5")
        own, other = kernels(saved), kernels(loaded)
        found[kind, order == names] = [next(k for k in names if np.array_equal(own[k], other[name])) for name in names]
        change = np.linalg.norm(outputs(loaded) - outputs(saved)) / np.linalg.norm(outputs(saved))
        print(f"{kind:10} {'same' if order == names else 'other'} order: audio and image have the weights of", *found[kind, order == names],
              f" outputs changed by {change:.2f}")
assert all(found[kind, True] == names for kind in ("branches", "list", "attributes"))
assert found["branches", False] == found["list", False] == names[::-1] and found["attributes", False] == names
PYTHON
