"""Linear networks of square weights: minima, their components, and the barriers and paths between them.

The results of Zhao, Dehmamy, Walters & Yu on deep linear networks and on the residual network, chapters 31 and 32.

:mod:`~lmc_helpers.linear_nets.minimum`
    the loss, equation (1); the minimum as GL_h^{l−1} (Prop. 4.1), the signs that tell its 2^{l−1} components apart
    (Cor. 4.2), and paths inside a component; chapter 31.
:mod:`~lmc_helpers.linear_nets.between`
    straight lines and the pass of height σ_min(Y)² between two components; chapters 31 and 32.
``walks``
    walks inside the minimum, which tell what points are joined; chapters 31 and 32.
"""

from lmc_helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
