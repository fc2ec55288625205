#!/usr/bin/env bash
# One would guess: where no client moves, at rate 0, the server's network stays as it is, whatever the algorithm. FedDyn draws each client to
#   the server's network with strength alpha: a large one holds it fast. FedNova mends what unequal numbers of local steps do: where all
#   clients take as many, it is FedAvg.
# What happens: FedDyn's server sums the networks of k clients and subtracts its own once, not k times. With ten clients that return what they
#   got, the network is 28 times as long after four rounds and 1,090 times after eight; with training it is the same, a loss of 62 where
#   FedAvg has .39 and FedDyn as published .15. Its clients compute the penalty from a copy of the weights that keeps no graph: alpha changes no
#   digit of what they return, be it .1 or 50. With a sample of clients FedNova's default takes their mean step times the number of
#   clients over that of the sample: one client of ten makes ten times its step, three of ten 3.3 times.
# Versions: fedlab 1.3.0, torch 2.13.0, numpy 2.4.6
# Why it matters: both are there to be compared with FedAvg, and samples of a tenth are usual. FedDyn then loses by a wrong sum, and FedNova's rate
#   is another one. With one client in each round FedDyn's sum is right; FedNova with option="uniform" is FedAvg here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q munch==4.0.0 pillow==13.0.0 pynvml==13.0.1 scikit-learn==1.9.1 pandas tqdm torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/pip" install -q --no-deps fedlab==1.3.0  # torchvision is needed by its data sets only
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import copy
import random
import sys
from unittest.mock import MagicMock

for name in ("torchvision", "torchvision.transforms", "torchvision.datasets"):
    sys.modules[name] = MagicMock()
import torch
from fedlab.contrib import algorithm
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
clients, rounds, rate = 10, 8, .1
x = torch.randn(1000, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
network = nn.Linear(8, 3)
start = parameters_to_vector(network.parameters()).detach()


class Data:
    """A tenth of the examples for each client, in one order."""

    def get_dataloader(self, client, batch_size=None):
        """Batches of one client."""
        return DataLoader(TensorDataset(x[client::clients], y[client::clients]), batch_size=batch_size)


def federation(name, ratio=1., rate=rate, server=None, client=None):
    """Server's parameters after each round, and the first that a client sent; messages of the package itself aside."""
    handler = getattr(algorithm, name + "ServerHandler")(network, rounds, ratio, logger=MagicMock())
    trainer = getattr(algorithm, name + "SerialClientTrainer")(network, clients, logger=MagicMock())
    trainer.setup_dataset(Data())
    trainer.setup_optim(epochs=1, batch_size=10, lr=rate, **(client or {}))
    handler.num_clients = clients
    if server is not None:
        handler.setup_optim(**server)
    random.seed(0)
    path, first = [], None
    while not handler.if_stop:
        package = handler.downlink_package
        trainer.local_process(package, handler.sample_clients())
        for upload in trainer.uplink_package:
            first = upload[0] if first is None else first
            handler.load(upload)
        path.append(handler.model_parameters.clone())
    return path, first


def as_published(alpha):
    """FedDyn by its formulas, with the same steps of SGD, and what the first client sends in the first round."""
    server, memory, slopes, first = start.clone(), torch.zeros_like(start), [torch.zeros_like(start) for _ in range(clients)], None
    for _ in range(rounds):
        sent = []
        for client in range(clients):
            local = copy.deepcopy(network)
            vector_to_parameters(server.clone(), local.parameters())
            optimizer = torch.optim.SGD(local.parameters(), rate)
            for inputs, targets in Data().get_dataloader(client, 10):
                weights = parameters_to_vector(local.parameters())
                optimizer.zero_grad()
                (nn.functional.cross_entropy(local(inputs), targets) - slopes[client] @ weights
                 + alpha / 2 * (weights - server).square().sum()).backward()
                optimizer.step()
            sent.append(parameters_to_vector(local.parameters()).detach())
            slopes[client] -= alpha * (sent[-1] - server)
        first = sent[0] if first is None else first
        memory -= alpha / clients * sum(vector - server for vector in sent)
        server = sum(sent) / clients - memory / alpha
    return server, first


def loss(vector):
    """Cross-entropy of all examples."""
    other = copy.deepcopy(network)
    vector_to_parameters(vector.clone(), other.parameters())
    return nn.functional.cross_entropy(other(x), y).item()


for name, server, client in (("FedAvg", None, {}), ("FedProx", None, {"mu": 1.}), ("FedNova", {}, {}), ("FedDyn", {"alpha": .1}, {"alpha": .1})):
    path = federation(name, rate=0., server=server, client=client)[0]
    lengths = [(vector.norm() / start.norm()).item() for vector in path]
    print(f"{name}, no client moves: length over that of the start, by rounds:", *[f"{length:.4g}" for length in lengths])
    assert name == "FedDyn" or max(abs(length - 1) for length in lengths) < 1e-5
single = federation("FedDyn", .1, 0., {"alpha": .1}, {"alpha": .1})[0][-1]
print("with one client in each round", (single.norm() / start.norm()).item())
assert (single - start).norm() < 1e-5 and 10 < lengths[3] < 40 and 500 < lengths[7] < 2000

sent = {}
for alpha in (.1, 50.):
    path, sent[alpha] = federation("FedDyn", server={"alpha": alpha}, client={"alpha": alpha})
    if alpha == .1:
        losses = [loss(vector) for vector in (federation("FedAvg")[0][-1], as_published(alpha)[0], path[-1])]
        print("with training: loss after 8 rounds {:.3f} by FedAvg, {:.3f} by FedDyn as published, {:.1f} by the package".format(*losses))
moves = [(vector - start).norm().item() for vector in (sent[.1], sent[50.], as_published(.1)[1], as_published(5.)[1])]
print("a client's first move: {:.6f} with alpha .1, {:.6f} with 50; as published {:.3f} with .1, {:.3f} with 5".format(*moves))
assert torch.equal(sent[.1], sent[50.]) and moves[3] < .6 * moves[2]
assert losses[2] > 50 > 1 > losses[0] and losses[1] < losses[0]

for ratio in (.1, .3, 1.):
    steps = [federation(name, ratio, server=server)[0][0] - start
             for name, server in (("FedAvg", None), ("FedNova", {}), ("FedNova", {"option": "uniform"}))]
    scale = [(step @ steps[0] / (steps[0] @ steps[0])).item() for step in steps]
    print(f"{ratio} of the clients in each round: first step of FedNova {scale[1]:.3f} times FedAvg's, with option uniform {scale[2]:.3f}")
    assert (steps[1] - steps[0] / ratio).norm() < 1e-4 * steps[1].norm() and (steps[2] - steps[0]).norm() < 1e-4 * steps[0].norm()
PYTHON
