"""Results of executed chapters: records of one run, and of the same chapters run again.

=========  ======================================================================
check      the files that people edit, and what is recorded
compare    two executed books, number by number
confirm    confirmatory runs, and the records of their outcomes
execute    one chapter, and what its claims came to
glued      values that a chapter gives to its text, and numbers in signs
measured   one part in several runs: differences, and the spread over seeds
narrowest  a criterion moves in one direction only
published  ``claims.json``
records    the claims that were checked, and how the chapters ran
reference  what chapters measure in cheap runs
repeat     the chapters run again with other seeds or in other settings
repeats    stored runs with other seeds and settings
schemas    JSON Schemas of the ledger and of the profiles
spreads    what repeated runs say, for the terminal and for the statistics page
standing   validity of a record: its basis, and what of it has changed
=========  ======================================================================
"""
