"""The code that the README and the page *Use it on your networks* show runs as it stands."""

import re
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]


def blocks(path: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_page_and_the_readme_run():
    names: dict = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for code in [*blocks("book/your_networks.md"), *blocks("README.md")]:
            exec(code, names)
    direct = names["lmc"].line(names["net_a"], names["net_b"], names["loss"], names["data"])
    again = names["lmc"].line(names["net_a"], names["b"], names["loss"], names["data"])
    assert 0 <= again.barrier < direct.barrier
