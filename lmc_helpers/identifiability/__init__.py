"""Realization costs, swap costs and what identifies a neuron (Bürgin, Herbst, Lin & Jegelka; chapters 41 to 50).

An asymmetric layer W_eff = F + D ⊙ W has fixed parts, so that a function may cost one neuron a larger weight than
another. The files, with what they compute and the chapters of this part that use them:

===================  ==============================================================  ===================  ==============
file                 what                                                            of the paper         chapters
===================  ==============================================================  ===================  ==============
input_subspace       the inputs' basis U, Gram matrices S_i, classes, coherence ν    (9), (11), Prop 4.2  41 to 45
asymmetric           how F and D are drawn, for any weight of a torch module         (2), Table 1         41–44, 47, 50
costs                realization costs T_ij, swap costs, determined ReLU neurons     (10), (14), (16)     41–44, 47, 48
swaps                the three terms of a swap, the cheapest reassignment            (16), (17), Thm 4.5  42, 44
gram_concentration   how far S_i is from its mean                                    Thm 4.4, (63)        41 to 43
centre_gap           the smallest gap between centres, and its law                   Thm 4.6, Fig. 11     43, 48
masked_centres       the gap if every entry is masked independently                  Thm 4.6              43
gap_exponent         how fast the gap shrinks between two widths                     Thm 4.6, Fig. 11     43
feature_hardness     how well networks near random features approximate one neuron   App. C.4             49
homogeneous_targets  why networks without biases miss a target with one              Thms C.9, C.10       49
input_sensitivity    what reindexed inputs cost                                      section 4.4, (137)   48
relaxed_costs        costs with an approximation error allowed                       (254), Thm E.4, E.5  47
relaxed_swaps        swap costs from relaxed costs                                   App. E, F.7          44
chord_deviation      how far a layer strays from its chord                           (30), Thm 5.1, D.1   46
===================  ==============================================================  ===================  ==============
"""

from lmc_helpers.identifiability.costs import realization_cost, swap_costs
from lmc_helpers.identifiability.input_subspace import coherence

__all__ = ["coherence", "realization_cost", "swap_costs"]
