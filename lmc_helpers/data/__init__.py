"""Data sets, real and made.

- :mod:`~lmc_helpers.data.coherence_inputs`: two latents embedded into d coordinates with a chosen coherence (Bürgin et
  al., App. F.5, eqs. 275 to 277); chapter 45.
- :mod:`~lmc_helpers.data.digits`: handwritten digits of 8 × 8 pixels, from scikit-learn; chapters 24 and 46.
- :mod:`~lmc_helpers.data.gaussian_mixture`: Gaussian mixtures on a subspace (Bürgin et al., eq. (278));
  chapters 44 and 50.
"""
