"""Experiments on trained networks, most of them for one chapter; parameters in, arrays out.

- :mod:`~lmc_helpers.experiments.asymmetric_mlps`: pairs of asymmetric MLPs on images, what matches their units and the
  lines between them (Bürgin et al., section 6, Q1 and Q2, F.1, G.1); chapters 53 and 56.
- :mod:`~lmc_helpers.experiments.averaged_images`: networks that see images at a lower resolution; chapter 55.
- :mod:`~lmc_helpers.experiments.chord_pairs`: pairs of trained ReLU networks whose layers and losses are compared with
  the bound of Prop. 5.2 (Bürgin et al., section 5); chapter 46.
- :mod:`~lmc_helpers.experiments.coherence_points`: points of the coherence experiment, losses on the lines between
  students (Bürgin et al., Fig. 6, App. F.5); chapter 45.
- :mod:`~lmc_helpers.experiments.coherence_students`: the students themselves, trained in the two dimensions that they
  see; chapter 45.
- :mod:`~lmc_helpers.experiments.every_permutation`: objective and loss half-way of all (m!)² permutations of two hidden
  layers; chapter 56.
- :mod:`~lmc_helpers.experiments.exchangeable_neurons`: neurons of the coherence experiment that see equal numbers of
  copies, and students matched within such classes; chapter 45.
- :mod:`~lmc_helpers.experiments.extremes`: the extreme of several readings, with its interval; chapters 53 to 55.
- :mod:`~lmc_helpers.experiments.four_lenses`: pairs of classifiers of small images as lists of neurons, which four
  papers look at; chapter 61.
- :mod:`~lmc_helpers.experiments.image_layers`: what the layers of MLPs on images read, principal subspaces and their
  coherence (Bürgin et al., F.7, G.5); chapter 54.
- :mod:`~lmc_helpers.experiments.image_networks`: pairs of CNNs, ResNets and transformers on images, and the lines
  between them (Zhan et al., Fig. 15; Bürgin et al., section 6, F.2, G.4); chapter 55.
- :mod:`~lmc_helpers.experiments.image_swaps`: swap costs of the layers of MLPs on images, eq. (16), and by ridge
  regression (F.7, G.3); chapter 54.
- :mod:`~lmc_helpers.experiments.matched_pairs`: MLPs trained in pairs, for matchers; chapter 56.
- :mod:`~lmc_helpers.experiments.matched_students`: matchers on teacher–student minima, beside the best of all m!;
  chapter 56.
- :mod:`~lmc_helpers.experiments.matches`: what matchers make of pairs of MLPs; chapter 56.
- :mod:`~lmc_helpers.experiments.measured_pairs`: what is measured of pairs of asymmetric MLPs as runs, one a variant;
  chapter 53.
- :mod:`~lmc_helpers.experiments.merge_runs`: merges of two neurons of trained classifiers as runs, one a pair;
  chapter 52.
- :mod:`~lmc_helpers.experiments.merged_classifiers`: classifiers of images whose neurons are merged, with all pixels
  (Brea et al., section 5, Fig. 3); chapter 52.
- :mod:`~lmc_helpers.experiments.mixture_pairs`: pairs of W-asymmetric networks on Gaussian mixtures (Bürgin et al.,
  section 6, Q3, and App. F); chapters 44 and 50.
- :mod:`~lmc_helpers.experiments.mixture_swaps`: swap costs of their layers, eq. (16), and by ridge regression (Fig. 5,
  App. G.3); chapter 44.
- :mod:`~lmc_helpers.experiments.peaks`: heights relative to a peak whose place the same samples tell; chapter 51.
- :mod:`~lmc_helpers.experiments.switched_neurons`: neurons that one run uses and another does not, and what the middle
  of the line lacks; chapter 45.
- :mod:`~lmc_helpers.experiments.visibility`: which latents a masked neuron sees, S_i = Uᵀ Diag(d_i)² U of eq. (9), and
  the exact laws of its rank and cost (App. F.5); chapter 45.
- :mod:`~lmc_helpers.experiments.width_barriers`: networks of many widths and depths in pairs, and the lines between
  them (Zhan, Li & Wu, Figs. 7, 8, 14); chapter 51.
- :mod:`~lmc_helpers.experiments.width_curves`: readings of their barriers over the width, an end against the peak, its
  place, what an order of the units leaves; chapter 51.
"""
