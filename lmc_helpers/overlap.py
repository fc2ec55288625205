"""The expected overlap of two minima, where readers look for it; the mathematics is in ``teacher_student.overlap``."""

from lmc_helpers.teacher_student import expected_overlap, simulate_overlap

__all__ = ["expected_overlap", "simulate_overlap"]
