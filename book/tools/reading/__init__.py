"""Chapters, modules and profiles, parsed without running them, and the dependencies of their numbers.

========  ========================================================================
cells     a chapter's cells, parameters and checks, and errors in them
headers   the header of a chapter
literals  parameters: those that a chapter sets, and those from a command line
papers    the four papers as data, and the ledger's parts
profiles  ``notebooks/profiles/*.yaml``
sources   dependencies of chapters and pages, as checksums
========  ========================================================================
"""
