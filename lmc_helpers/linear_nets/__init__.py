"""Minima of deep linear networks and their components (Zhao, Dehmamy, Walters & Yu; chapters 31, 32)."""

from lmc_helpers.linear_nets.minimum import component, path_in_minimum

__all__ = ["component", "path_in_minimum"]
