"""One look for every figure: panels, error bars, the glue to captions and prose, and figures that a reader can move.

:mod:`~lmc_helpers.figures.style` draws and stores figures, ``book.mplstyle`` is their style,
:mod:`~lmc_helpers.figures.moving` makes figures with a slider, from the panels of ``_moving_panels``,
and :mod:`~lmc_helpers.figures.counted` names the trained networks that diverged.
"""

from lmc_helpers.figures.counted import left_out
from lmc_helpers.figures.moving import Moving
from lmc_helpers.figures.style import BAND, COLOURS, band, card, keep, numbers, panels, recorded, show, table

__all__ = [
    "BAND",
    "COLOURS",
    "Moving",
    "band",
    "card",
    "keep",
    "left_out",
    "numbers",
    "panels",
    "recorded",
    "show",
    "table",
]
