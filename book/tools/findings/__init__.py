"""What came of each statement of the papers, and the pages that say so.

==============  =========================================================
board           the scoreboard
errata          statements that differ from their paper
findings        verdict by verdict: the recorded one, or that of this run
findings_pages  what the templates of scoreboard, errata and reports take
places          where claims stand on the built pages
report          what the report on one paper says
sweep_findings  what contradicts the book under other seeds
sweep_pages     what the statistics page says of it
==============  =========================================================
"""
