"""The page on data states the files and checksums that the package asks for."""

import re

from lmc_helpers.data._cifar10 import CIFAR10
from lmc_helpers.data._mnist import MNIST


def test_the_page_has_every_checksum_and_every_name(root):
    text = (root / "book" / "data.md").read_text(encoding="utf-8")
    archives = [*MNIST.archives, *CIFAR10.archives]
    members = {path.rpartition("/")[2]: sha for archive in archives for path, sha in archive.members}
    assert dict(re.findall(r"^\| `(\S+)` \| `([0-9a-f]{64})` \|$", text, re.MULTILINE)) == members
    assert all(archive.name in text for archive in archives)
