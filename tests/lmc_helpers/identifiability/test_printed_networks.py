"""Numbers of fixed entries against the printed ones."""

from lmc_helpers.identifiability.printed_networks import RESNET, VIT, entries, fixed_entries, schemes, table_3
from lmc_helpers.networks.resnet import ResNet20


def test_entries_are_those_of_table_3():
    found = entries(RESNET)
    printed = {"stem": 12, "1.1.outer": 108, "2.0.inner": 162, "2.0.shortcut": 18, "3.2.inner": 216}
    printed |= {"3.0.shortcut": 24, "head": 24}
    assert all(found[f"{name}.weight"] == table_3(f"{name}.weight") == count for name, count in printed.items())
    assert set(entries(VIT).values()) == {8}
    small = entries(ResNet20(width=1, base=2, blocks=4, input_shape=(1, 8, 8)))
    assert (
        small["stem.weight"] == 4 and small["1.3.inner.weight"] == round(108 * 18 / 1152) and min(small.values()) == 1
    )
    fixed = RESNET.fixed_parts({"stem.weight": schemes(RESNET, "w", 2.0)["stem.weight"]}, 1)["stem.weight"]
    assert fixed[1][0].flatten(1).eq(0).sum(dim=1).unique().tolist() == [12]


def test_counts_of_fixed_entries():
    assert fixed_entries(784, 512) == (64, 64, 64, 256)
    assert fixed_entries(64, 8) == (5, 1, 1, 4) and fixed_entries(64, 8, 0.25) == (16, 2, 2, 2)
