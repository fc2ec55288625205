"""Verdicts on the papers' statements, chapters as they are shown, and the pages that are written from a run."""
