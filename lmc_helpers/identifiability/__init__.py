"""Realization costs, swap costs and the identification of neurons (Bürgin, Herbst, Lin & Jegelka; chapters 41 to 57).

An asymmetric layer W_eff = F + D ⊙ W has fixed parts, hence two neurons may need different weights for the same
function. The modules:

===================  ==============================================================  ===================  ==============
file                 what                                                            of the paper         chapters
===================  ==============================================================  ===================  ==============
input_subspace       the inputs' basis U, Gram matrices S_i, classes, coherence ν    (9), (11), Prop 4.2  41 to 45
asymmetric           how F and D are drawn, for any weight of a torch module         (2), Table 1         41–44, 47, 50
costs                realization costs T_ij, swap costs and their three terms        (10), (14), (16)     41–44, 47, 48
relaxed_swaps        swap costs from relaxed costs                                   App. E, F.7          44
gaussian_mixture     pairs of networks on Gaussian mixtures, their swap costs        section 6, App. F    44, 50
printed_networks     numbers of fixed entries; variants of MLPs and their training   section 6, App. F    44, 53–57
===================  ==============================================================  ===================  ==============

Layers and bases may have different precisions; all computations are in float64.
"""

from lmc_helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
