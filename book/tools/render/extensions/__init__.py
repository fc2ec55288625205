"""Sphinx extensions. Jupyter Book imports them by their file names."""
