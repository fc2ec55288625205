"""The closed forms of the four papers, in one place; the derivations are in the modules that define them.

=======================  =============================================================================  ==============
name                     formula                                                                        paper
=======================  =============================================================================  ==============
``kappa``                E σ(u·x) σ(v·x) of unit vectors, by their cosine                               Zhan, (8)
``population_loss``      L(W) of a two-layer ReLU student of M teachers, by κ                           Zhan, (3)
``expected_overlap``     T(m, M) = 1 − M/(2m) ``E|X − Y|``, X and Y ~ Bin(m − M, 1/M)                   Zhan, (13)
``overlap_limit``        1 − ν/(1 + ν) e^(−2ν) (I₀(2ν) + I₁(2ν)), ν = r − 1, for M → ∞ and m/M → r      Zhan, (16)
``minimiser_limit``      r* = 1 + ν*, ν* I₁(2ν*) = I₀(2ν*): where the overlap is least                  Zhan, Fig. 2
``leftover_cost``        g(r) = lim (1/M) Σ (a + b − √(a² + b²)) over unmatched rows                    Zhan, 4
``barrier_limits``       lim d B/M² = g(r)²/(8π), after Algorithm 1 and for the direct line             Zhan, Fig. 3
``limit_peak``           the r at which the limit of the permuted barrier is largest                    Zhan, Fig. 3
``expected_pq``          E (1 − S²/(mM)), S = Σ_i √x_i: the sparsity of uniform minima                  Zhan, (11)
``even_sharpness``       (k/M) μ_M/d: the least sharpness of minima with k rows that are not 0          Zhan, 5
``count_ratio``          T(K, n) = l! S(n, l)/n!, l = n − K: permutation points to minima               Brea, Prop. 1
``pair_inertia``         (ρ + ν₋, n − ρ + ν₀, ρ + ν₊), ρ = rank J: what a doubled neuron adds           Brea, 4.2
``component``            the signs of det(W_1 X), det W_2, …, det W_(l−1)                               Zhao, Cor. 4.2
``obstruction``          σ_min(Y)²: the pass between components of a linear network's minimum           Zhao, 4
``curvature``            κ = ``√(‖γ'‖²‖γ''‖² − ⟨γ', γ''⟩²) / ‖γ'‖³``                                    Zhao, 6
``coherence``            ν = max_i (UUᵀ)_ii                                                             Bürgin, (11)
``realization_cost``     √((a − v)ᵀ S⁺ (a − v)), S = Uᵀ diag(d)² U, v = Uᵀf                             Bürgin, (10)
``cost_table``           T_ij: the squared cost of neuron j's function on neuron i                      Bürgin, (10)
``output_sensitivity``   Δ_π = Σ_i (T_iπ(i) − T_ii)                                                     Bürgin, (14)
``swap_costs``           Δ_(ij) = T_ij − T_ii + T_ji − T_jj                                             Bürgin, (16)
=======================  =============================================================================  ==============

Papers: Zhan, Li & Wu; Brea, Şimşek, Illing & Gerstner; Zhao, Dehmamy, Walters & Yu; Bürgin, Herbst, Lin & Jegelka.

Examples
--------
>>> import lmc_helpers as lmc
>>> round(lmc.theory.expected_overlap(m=128, M=64), 4), round(lmc.theory.overlap_limit(2), 4)
(0.7398, 0.7381)
"""

from lmc_helpers.identifiability import coherence, cost_table, output_sensitivity, realization_cost, swap_costs
from lmc_helpers.linear_nets import component, obstruction
from lmc_helpers.orbits.curves import curvature
from lmc_helpers.permutation_points import count_ratio, pair_inertia
from lmc_helpers.teacher_student import (
    barrier_limits,
    even_sharpness,
    expected_overlap,
    expected_pq,
    kappa,
    leftover_cost,
    limit_peak,
    minimiser_limit,
    overlap_limit,
    population_loss,
)

__all__ = [
    "barrier_limits",
    "coherence",
    "component",
    "cost_table",
    "count_ratio",
    "curvature",
    "even_sharpness",
    "expected_overlap",
    "expected_pq",
    "kappa",
    "leftover_cost",
    "limit_peak",
    "minimiser_limit",
    "obstruction",
    "output_sensitivity",
    "overlap_limit",
    "pair_inertia",
    "population_loss",
    "realization_cost",
    "swap_costs",
]
