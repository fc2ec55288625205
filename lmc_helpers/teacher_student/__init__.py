"""Two-layer ReLU networks that learn a two-layer teacher (Zhan, Li & Wu; chapters 11–19).

The student f(x) = Σ_{i<=m} σ(w_i·x) learns f*(x) = Σ_{j<=M} σ(e_j·x) on inputs uniform on the unit sphere of R^d.

========================  ==========================================================================================
file                      what it computes
========================  ==========================================================================================
``population``            the loss (3) in closed form by the kernel κ (8), its gradient and Hessian (chapter 11)
``minima``                the manifold of Lemma 2: distance to it, samples by Assumption 3, B.1 (chapters 11–15, 17, 19)
``overlap``               expected overlap T(m, M), eqs. (5)–(6), (12)–(16), exact; limit and minimum (chapters 12, 15)
``between_minima``        loss and barrier (9) between two minima, of many pairs, of wide networks (chapters 13–17, 19)
``barrier_limit``         the barrier for M → ∞ with m/M fixed, exact, and where it peaks: Fig. 3 (chapter 15)
``gradient_descent``      many networks trained at once by the exact gradient, B.1 (chapters 11, 13, 16–19)
``sparsity``              PQ index (11), zero rows, sharpness of minima: section 5 (chapters 16–19)
========================  ==========================================================================================

The chapters are those of the part; 51, 56, 61 and 62 use some of the files too. Algorithm 1 itself and other matchings
of rows are in :mod:`lmc_helpers.matching`, barriers along any line in :mod:`lmc_helpers.barrier`.
"""

from lmc_helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
