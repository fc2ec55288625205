#!/usr/bin/env bash
# One would guess: `StochasticWeightAveraging(swa_epoch_start=6)` for ten epochs ends with the mean of the weights at the ends of
#   epochs 6 to 10, or 7 to 10.
# What happens: it collects at the *start* of each epoch from the sixth on. The network that `fit` leaves is the mean of the ends of
#   epochs 5 to 9: the first was reached before the averaging, at the old rate, and the last epoch is trained and thrown away. With
#   `swa_epoch_start=10` the result is the network after nine epochs; with 1 (averaging from the start) its first term is the random
#   initialisation.
# Versions: lightning 2.6.0, torch 2.13.0, numpy 2.4.6
# Why it matters: an average is compared with "the last checkpoint", which is not among its terms, and with averages of the same
#   epochs by torch's own `AveragedModel`, updated after each epoch, which are others; for the average of the last epochs one has to
#   train one more.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q lightning==2.6.0 torch==2.13.0 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, StochasticWeightAveraging
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
x = torch.randn(64, 5, generator=torch.Generator().manual_seed(0))
loader = DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=16)


class Small(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))

    def training_step(self, batch, index):
        return nn.functional.mse_loss(self.layers(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), .05)


def vector(module):
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()]).clone()


class Ends(Callback):
    """Weights after 0, 1, 2 … epochs."""

    def on_fit_start(self, trainer, module):
        self.after = [vector(module)]

    def on_train_epoch_end(self, trainer, module):
        self.after.append(vector(module))


def averaged(start, epochs=10):
    """First and last of the epochs whose ends have the final network as their mean, and how far it is from the two means guessed."""
    torch.manual_seed(1)
    module, ends = Small(), Ends()
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, accelerator="cpu")
    average = StochasticWeightAveraging(swa_lrs=.05, swa_epoch_start=start, annealing_epochs=1)
    Trainer(max_epochs=epochs, callbacks=[ends, average], **quiet).fit(module, loader)
    after, final = torch.stack(ends.after), vector(module)
    assert len(after) == epochs + 1

    def off(first, last):
        return ((after[first : last + 1].mean(0) - final).norm() / (after[0] - after[-1]).norm()).item()

    found = [(i, j) for i in range(epochs + 1) for j in range(i, epochs + 1) if off(i, j) < 1e-5]
    print(f"swa_epoch_start={start:2}: mean of the weights after", *(f"{i} to {j}" for i, j in found), f"of {epochs} epochs;",
          f"the mean after {start} to {epochs} is {off(start, epochs):.3f} of the whole way off")
    return found


assert [averaged(start) for start in (1, 6, 10)] == [[(0, 9)], [(5, 9)], [(9, 9)]]
PYTHON
