"""Sphinx extensions. Jupyter Book imports them by their file names, so that these say whose they are.

==================  ========================================
sphinx_boxes        exercises, and anchors of figures
sphinx_claims       verdicts in the text
sphinx_labels       references by authors and year
sphinx_moving       the script of figures that move
sphinx_numbers      theorems and figures numbered by chapter
sphinx_numerals     numbers as people write them
sphinx_offline      no request to the network
sphinx_pictures     sizes of figures
sphinx_punctuation  what follows a formula stays on its line
==================  ========================================
"""
