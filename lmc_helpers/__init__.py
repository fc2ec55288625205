"""Linear mode connectivity and the symmetries of weight space, for two torch modules of one architecture.

====================================================  ==============================================================
names                                                 what they do
====================================================  ==============================================================
``symmetry, permuted, verify, random_permutations``   the interchangeable units of a module, found by a trace
``Symmetry, Axis``                                    the same as data: which axes of which parameters move together
``match``                                             a module's units in the order nearest to another's
``load_matching``                                     such an order, from a file
``interpolate, line``                                 the modules between two, and their losses: barriers
``Loss``                                              a loss that is no plain mean over examples, with its weight
``repair``                                            the statistics of a merged network's units set to its ends'
``compare``                                           barriers of a pair, direct, matched and repaired: a report
``merge``                                             many modules in one order, averaged and repaired
``pad``                                               two matched modules between their average and their ensemble
``plane, curve``                                      losses on the plane of three modules; a trained curve of two
``merge_path, permutation_point``                     two units of a layer moved together, and the point where they meet
``rescale, orbit_curve``                              positive rescalings and GL_h of a layer: the function is kept
``asymmetrise, WAsymmetric, Syre``                     fixed parts F and D in the weights of a module, by a scheme
``asymmetric_layer``                                  F, D and W of a layer, and the basis U of its inputs
``swap_costs, realization_cost, coherence``           the cost for units of such a layer to change places
``weight_matching, loss_barrier, refined_barrier``    the same on tensors
``limit``                                             a limit of time for the calls in a block
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

from lmc_helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
