"""Recipes, ensembles trained as one batched computation, and checkpoints."""
