"""The repository as files: chapters, modules and profiles parsed without running them, and what edited files say.

========  ===================================================================================
cells     a chapter's cells, parameters and checks, and errors in them
chapters  the chapters, their names, and where they are executed to
headers   the header of a chapter
history   git commands on this clone
inputs    files that people edit, read strictly: errors name file and line
literals  parameters: those that a chapter sets, and those from a command line
lock      the parts of requirements.lock that a set-up installs
papers    the four papers as data, and the ledger's parts
profiles  ``notebooks/profiles/*.yaml``
sources   dependencies of chapters and pages, as checksums
stopping  Ctrl-C, SIGTERM and full disks: one line, nothing half-written, no process left
========  ===================================================================================
"""
