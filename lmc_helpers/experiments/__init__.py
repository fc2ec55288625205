"""Trained pairs of networks that several chapters share; parameters in, arrays out.

- :mod:`~lmc_helpers.experiments.asymmetric_mlps`: pairs of asymmetric MLPs on images, what matches their units and the
  lines between them (Bürgin et al., section 6, Q1 and Q2, F.1, G.1); chapter 53.
- :mod:`~lmc_helpers.experiments.averaged_images`: networks that see images at a lower resolution; chapter 55.
- :mod:`~lmc_helpers.experiments.chord_pairs`: pairs of trained ReLU networks whose layers and losses are compared with
  the bound of Prop. 5.2 (Bürgin et al., section 5); chapter 46.
- :mod:`~lmc_helpers.experiments.coherence_points`: points of the coherence experiment, losses on the lines between
  students (Bürgin et al., Fig. 6, App. F.5); chapter 45.
- :mod:`~lmc_helpers.experiments.coherence_students`: the students themselves, trained in the two dimensions that they
  see; chapter 45.
- :mod:`~lmc_helpers.experiments.exchangeable_neurons`: neurons of these students that see equal numbers of copies, and
  students matched within such classes; chapter 45.
- :mod:`~lmc_helpers.experiments.image_networks`: pairs of CNNs, ResNets and transformers on images, and the lines
  between them (Zhan et al., Fig. 15; Bürgin et al., section 6, F.2, G.4); chapter 55.
- :mod:`~lmc_helpers.experiments.mixture_pairs`: pairs of W-asymmetric networks on Gaussian mixtures (Bürgin et al.,
  section 6, Q3, and App. F); chapters 44 and 50.
- :mod:`~lmc_helpers.experiments.mixture_swaps`: swap costs of their layers, eq. (16), and by ridge regression (Fig. 5,
  App. G.3); chapter 44.
- :mod:`~lmc_helpers.experiments.switched_neurons`: neurons that one run uses and another does not, and what the middle
  of the line lacks; chapter 45.
- :mod:`~lmc_helpers.experiments.visibility`: which latents a masked neuron sees, S_i = Uᵀ Diag(d_i)² U of eq. (9), and
  the exact laws of its rank and cost (App. F.5); chapter 45.
"""
