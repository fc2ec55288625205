"""The methods of the four papers on any two torch modules of one architecture, by the names of ``lmc_helpers``.

``lmc_helpers.match``, ``line``, ``repair`` and ``compare`` are what most readers need, then ``symmetry``, ``points``,
``orbits`` and ``asymmetric``.
"""
