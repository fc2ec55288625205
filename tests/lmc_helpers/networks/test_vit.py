"""Vision transformers against nn.MultiheadAttention and nn.LayerNorm, and the sizes of the paper."""

import pytest
import torch
from oracles.networks import DOUBLE, fill, numbers, perturbed, weights_of
from torch import nn

from lmc_helpers.networks.vit import ViT


class Transformer(nn.Module):
    """Pre-norm blocks around nn.MultiheadAttention; patches by a convolution."""

    def __init__(self, patch, d, depth, heads, hidden, channels, tokens, classes):
        super().__init__()
        kind = {"dtype": DOUBLE}
        self.embed = nn.Conv2d(channels, d, patch, patch, **kind)
        self.first, self.places = nn.Parameter(torch.zeros(d, **kind)), nn.Parameter(torch.zeros(tokens, d, **kind))
        self.blocks = nn.ModuleList(
            nn.ModuleDict({
                "norm1": nn.LayerNorm(d, **kind),
                "mix": nn.MultiheadAttention(d, heads, batch_first=True, **kind),
                "norm2": nn.LayerNorm(d, **kind),
                "up": nn.Linear(d, hidden, **kind),
                "down": nn.Linear(hidden, d, **kind),
            })
            for _ in range(depth)
        )  # fmt: skip
        self.norm, self.head = nn.LayerNorm(d, **kind), nn.Linear(d, classes, **kind)

    def forward(self, x):
        tokens = self.embed(x).flatten(2).mT
        h = torch.cat([self.first.expand(len(x), 1, -1), tokens], dim=1) + self.places
        self.stream, self.patterns, self.hidden = [], [], []
        for block in self.blocks:
            self.stream.append(h)
            r = block["norm1"](h)
            mixed, pattern = block["mix"](r, r, r, average_attn_weights=False)
            h = h + mixed
            self.patterns.append(pattern)
            self.stream.append(h)
            self.hidden.append(nn.functional.gelu(block["up"](block["norm2"](h))))
            h = h + block["down"](self.hidden[-1])
        self.stream.append(h[:, :1])
        return self.head(self.norm(h)[:, 0])

    def tensors(self):
        found = weights_of(self.embed, "patch") | {"class": self.first, "places": self.places}
        for k, block in enumerate(self.blocks):
            found |= weights_of(block["norm1"], f"{k}.attention", "gain", "shift")
            found |= weights_of(block["mix"].out_proj, f"{k}.out")
            found |= weights_of(block["norm2"], f"{k}.mlp", "gain", "shift")
            found |= weights_of(block["up"], f"{k}.up") | weights_of(block["down"], f"{k}.down")
        return found | weights_of(self.norm, "norm", "gain", "shift") | weights_of(self.head, "head")

    def fill(self, params):
        """Queries, keys and values are stacked in torch; any bias of the keys leaves the function as it is."""
        d = len(self.first)
        for k, block in enumerate(self.blocks):
            parts = ("query", "key", "value")
            W = [params.pop(f"{k}.{name}.weight").reshape(d, d) for name in parts]
            b = [params.pop(f"{k}.{name}.bias", numbers(d)).reshape(d) for name in parts]
            block["mix"].in_proj_weight.data, block["mix"].in_proj_bias.data = torch.cat(W), torch.cat(b)
        fill(self.tensors(), params)


@pytest.mark.parametrize(("heads", "depth", "shape"), [(3, 2, (2, 4, 6)), (1, 1, (1, 2, 2)), (6, 3, (3, 6, 4))])
def test_vit_is_that_of_torch(heads, depth, shape):
    model = ViT(2, 12, depth, heads, 2, 0.3, shape, 3)
    stack, x, record = perturbed(model), numbers(5, *shape), {}
    outputs = stack.forward(x, record)
    net = Transformer(2, 12, depth, heads, 24, shape[0], model.tokens, 3)
    for i in range(3):
        net.fill({name: value[i] for name, value in stack.params.items()})
        torch.testing.assert_close(outputs[i], net(x), rtol=0, atol=1e-12)
        stream = torch.cat([h.flatten(0, 1) for h in net.stream])
        torch.testing.assert_close(record["stream"][i], stream, rtol=0, atol=1e-12)
        for k in range(depth):
            pattern = net.patterns[k].movedim(1, -1).flatten(0, 2)
            torch.testing.assert_close(record[f"heads {k}"][i], pattern, rtol=0, atol=1e-12)
            torch.testing.assert_close(record[f"hidden {k}"][i], net.hidden[k].flatten(0, 1), rtol=0, atol=1e-12)


def test_patterns_of_heads_do_not_see_the_symmetry_inside_a_head():
    model = ViT(2, 12, 1, 3, 2, 0.3, (2, 4, 6), 3)
    stack, x, before, after = perturbed(model, 1), numbers(5, 2, 4, 6), {}, {}
    A = numbers(3, 4, 4)  # one map a head
    moved = dict(stack.params)
    for name, M in (("query", A), ("key", A.inverse().mT)):
        moved[f"0.{name}.weight"] = M @ stack.params[f"0.{name}.weight"]
    moved["0.query.bias"] = (A @ stack.params["0.query.bias"][..., None])[..., 0]
    outputs = model.forward(stack.params, x, before)
    torch.testing.assert_close(model.forward(moved, x, after), outputs, rtol=0, atol=1e-10)
    torch.testing.assert_close(after["heads 0"], before["heads 0"], rtol=0, atol=1e-10)


def test_the_vit_of_the_paper():
    model = ViT()
    with torch.device("meta"):
        net = Transformer(4, 384, 8, 6, 1536, 3, 65, 10)
    keys = 8 * 384  # biases of the keys, which we leave out
    assert model.parameters() == sum(p.numel() for p in net.parameters()) - keys == 14_241_418
    assert len(model.maps()) == 2 + 8 * 6 and model.tokens == 65
    assert model.map_shape("3.out.weight") == (384, 384) and model.map_shape("patch.weight") == (384, 3, 4, 4)
    assert model.map_shape("0.up.weight") == (1536, 384)
    sizes = model.symmetry().sizes
    assert (sizes["stream"], sizes["heads 7"], sizes["hidden 7"], len(sizes)) == (384, 6, 1536, 17)
    drawn = ViT(depth=1).initial([1]).params
    assert drawn["0.up.weight"].std().item() == pytest.approx(0.02, rel=0.02) and drawn["0.up.bias"].eq(0).all()
    assert drawn["0.mlp.gain"].eq(1).all() and drawn["places"].std().item() == pytest.approx(0.02, rel=0.05)
