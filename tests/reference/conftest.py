"""nbval compares boxes by their words and within a tolerance, on any processor; all other outputs to the letter."""

from nbval.plugin import IPyNbCell

from book.tools.reference import boxes, disagreements


def pytest_itemcollected(item):
    if isinstance(item, IPyNbCell):
        item.compare_outputs = lambda *outputs: compare(item, *outputs)


def compare(cell, found, stored):
    if said := disagreements(stored, found):
        cell.comparison_traceback = said
        return False
    others = [[output for output in outputs if output not in boxes(outputs)] for outputs in (found, stored)]
    return IPyNbCell.compare_outputs(cell, *others)
