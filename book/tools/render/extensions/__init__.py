"""Sphinx extensions. Jupyter Book imports them by their file names.

==============  ========================================
sphinx_boxes    exercises, and anchors of figures
sphinx_claims   verdicts in the text
sphinx_html     additions to the theme's HTML
sphinx_labels   references by authors and year
sphinx_numbers  theorems and figures numbered by chapter
==============  ========================================
"""
