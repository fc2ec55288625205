"""The pages: chapters as they are shown, and the pages that are written from a run.

===========  ======================================================
api          the packages of lmc_helpers, for the API pages
contents     ``_toc.yml``, ``_config.yml`` and the bibliography
destination  where pages may be written
front        the first page
gallery      the papers' figures beside ours
glossary     which chapters use its terms
licences     of the scripts, styles and fonts that the pages ship
notation     letters
pages        the templates, filled
pictures     small copies of figures
staging      an executed chapter as its page shows it
===========  ======================================================
"""
