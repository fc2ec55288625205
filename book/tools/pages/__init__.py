"""The pages: chapters as they are shown, and the pages that are written from a run.

===========  ===========================================
api          the packages of lmc_helpers, for the API pages
boxes        what boxes show besides what chapters stored
browser      the browser that prints and tests
contents     what Jupyter Book is told
destination  where pages may go
front        the first page
gallery      the papers' figures beside ours
glossary     which chapters use its terms
licences     of what the pages ship
moving       figures that move
notation     letters
opening      the top of a chapter's page
pages        the templates, filled
pictures     small copies of figures
scales       what runs at which scale
staging      an executed chapter as its page shows it
===========  ===========================================
"""
