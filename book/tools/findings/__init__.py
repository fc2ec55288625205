"""Verdicts on the papers' statements, and the pages that present them.

==============  =========================================================
anchors         anchors of claims on the built pages
board           the scoreboard
errata          statements that differ from their paper
findings        verdict by verdict: the recorded one, or that of this run
findings_pages  variables of the templates of scoreboard, errata and reports
repeats         results of runs with other seeds and settings
==============  =========================================================
"""
