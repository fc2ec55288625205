"""Two-layer ReLU networks that learn a two-layer teacher (Zhan, Li & Wu; chapters 11–19)."""

from lmc_helpers.teacher_student.minima import sample_minima
from lmc_helpers.teacher_student.population import kappa, population_loss

__all__ = ["kappa", "population_loss", "sample_minima"]
