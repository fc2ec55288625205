"""Symmetry groups of networks, their orbits and curves (Zhao, Dehmamy, Walters & Yu; chapters 33–36)."""
