"""Permutation points and saddles of deep networks (Brea, Şimşek, Illing & Gerstner; chapters 21–24)."""

from lmc_helpers.permutation_points.counts import count_ratio

__all__ = ["count_ratio"]
