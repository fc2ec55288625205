"""Results of executed chapters: records of one run, and of the same chapters run again.

=========  ======================================================
glued      values that a chapter gives to its text, and numbers in signs
measured   one part in several runs: differences, and the spread over seeds
narrowest  a criterion moves in one direction only
published  ``claims.json``
records    the claims that were checked, and how the chapters ran
repeats    stored runs with other seeds and settings
spreads    what they say, for the terminal and for the statistics page
standing   validity of a record: its basis, and what of it has changed
=========  ======================================================
"""
