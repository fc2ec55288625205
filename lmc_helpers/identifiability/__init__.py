"""Realization costs, swap costs and what identifies a neuron (Bürgin, Herbst, Lin & Jegelka; chapters 41 to 49).

An asymmetric layer W_eff = F + D ⊙ W has fixed parts, so that a function may cost one neuron a larger weight than
another. The files, with what they compute:

===================  ==============================================================  ===================  =======
"""

from lmc_helpers.identifiability.costs import realization_cost, swap_costs
from lmc_helpers.identifiability.input_subspace import coherence

__all__ = ["coherence", "realization_cost", "swap_costs"]
