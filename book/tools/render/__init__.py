"""Verdicts on the papers' statements, chapters as they are shown, and the pages that are written from a run.

==============  ======================================================================
anchors         anchors of claims on the built pages
api             the packages of lmc_helpers, for the API pages
archive         a built book in one file
assemble        the book's sources and pages, complete or not at all
board           the scoreboard
book            the whole book: checked, run, built
contents        ``_toc.yml``, ``_config.yml`` and the bibliography
errata          statements that differ from their paper
extensions      Sphinx extensions
findings        verdict by verdict: the recorded one, or that of this run
findings_pages  variables of the templates of scoreboard, errata and reports
front           the first page
gallery         the papers' figures beside ours
glossary        which chapters use its terms
licences        of the scripts, styles and fonts that the pages ship
notation        letters
pages           the templates, filled
pictures        small copies of figures
reports         the reports as PDF
staging         an executed chapter as its page shows it
==============  ======================================================================
"""
