"""Realization costs, swap costs and what identifies a neuron (Bürgin, Herbst, Lin & Jegelka; chapters 41–46)."""

from lmc_helpers.identifiability.costs import realization_cost, swap_costs
from lmc_helpers.identifiability.input_subspace import coherence

__all__ = ["coherence", "realization_cost", "swap_costs"]
