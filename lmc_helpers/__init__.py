"""Linear mode connectivity and the symmetries of weight space, for two torch modules of one architecture.

====================================================  ==============================================================
names                                                 what they do
====================================================  ==============================================================
``symmetry, permuted, verify, random_permutations``   the interchangeable units of a module, found by a trace
``Symmetry, Axis``                                    the same as data: which axes of which parameters move together
``match``                                             a module's units in the order nearest to another's
``interpolate, line``                                 the modules between two, and their losses: barriers
``repair``                                            the statistics of a merged network's units set to its ends'
``compare``                                           barriers of a pair, direct, matched and repaired: a report
``merge_path, permutation_point``                     two units of a layer moved together, and the point where they meet
``rescale, orbit_curve``                              positive rescalings and GL_h of a layer: the function is kept
``asymmetrise, WAsymmetric, Syre``                     fixed parts F and D in the weights of a module, by a scheme
``asymmetric_layer``                                  F, D and W of a layer, and the basis U of its inputs
``swap_costs, realization_cost, coherence``           what it costs units of such a layer to change places
``weight_matching, loss_barrier, refined_barrier``    the same on tensors
``theory``                                            the closed forms of the four papers
====================================================  ==============================================================

Names are imported when they are first used. The mathematics behind them is in the modules of this package.

Examples
--------
>>> import torch
>>> import lmc_helpers as lmc
>>> net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
>>> lmc.symmetry(net, torch.ones(2, 4)).sizes
{'0': 8}
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers
    import lmc_helpers.theory as theory
    from lmc_helpers.barrier import loss_barrier, refined_barrier
    from lmc_helpers.identifiability.asymmetric import Syre, WAsymmetric, asymmetrise
    from lmc_helpers.identifiability.costs import realization_cost, swap_costs
    from lmc_helpers.identifiability.input_subspace import coherence
    from lmc_helpers.matching import weight_matching
    from lmc_helpers.modules.asymmetric import asymmetric_layer
    from lmc_helpers.modules.compare import compare
    from lmc_helpers.modules.line import interpolate, line
    from lmc_helpers.modules.match import match
    from lmc_helpers.modules.orbits import orbit_curve, rescale
    from lmc_helpers.modules.points import merge_path, permutation_point
    from lmc_helpers.modules.repair import repair
    from lmc_helpers.modules.symmetry import permuted, symmetry, verify
    from lmc_helpers.networks.permutations import Axis, Symmetry, random_permutations

_NAMES = {  # by the module that defines them
    "barrier": ("loss_barrier", "refined_barrier"),
    "identifiability.asymmetric": ("Syre", "WAsymmetric", "asymmetrise"),
    "identifiability.costs": ("realization_cost", "swap_costs"),
    "identifiability.input_subspace": ("coherence",),
    "matching": ("weight_matching",),
    "modules.asymmetric": ("asymmetric_layer",),
    "modules.compare": ("compare",),
    "modules.line": ("interpolate", "line"),
    "modules.match": ("match",),
    "modules.orbits": ("orbit_curve", "rescale"),
    "modules.points": ("merge_path", "permutation_point"),
    "modules.repair": ("repair",),
    "modules.symmetry": ("permuted", "symmetry", "verify"),
    "networks.permutations": ("Axis", "Symmetry", "random_permutations"),
    "theory": ("theory",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

# fmt: off
__all__ = [
    "Axis", "Symmetry", "Syre", "WAsymmetric", "asymmetric_layer", "asymmetrise", "coherence", "compare", "interpolate",
    "line", "loss_barrier", "match", "merge_path", "orbit_curve", "permutation_point", "permuted",
    "random_permutations", "realization_cost", "refined_barrier", "repair", "rescale", "swap_costs", "symmetry",
    "theory", "verify", "weight_matching",
]
# fmt: on


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("lmc")
        except PackageNotFoundError:  # a source folder that is not installed
            return "0+unknown"
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES[name]}")
    return module if name == "theory" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
