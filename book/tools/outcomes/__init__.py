"""What executed chapters found: records of one run, and of the same chapters run again.

=========  ======================================================
glued      what a chapter gives to its text, and numbers in signs
measured   one part in several runs: differences, and the spread over seeds
published  ``claims.json``
records    the claims that were checked, and how the chapters ran
repeats    what runs with other seeds and settings store
standing   whether a record stands: what it rests on, and what of that has changed
=========  ======================================================
"""
