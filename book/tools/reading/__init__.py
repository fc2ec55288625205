"""What people write, read without running it: chapters, modules, profiles, and what a number depends on.

========  ========================================================================
cells     a chapter's cells, parameters and checks, and what is wrong with them
headers   what a chapter says of itself in its header
literals  parameters: those that a chapter sets, and those from a command line
papers    the four papers as data, and the ledger's parts
profiles  ``notebooks/profiles/*.yaml``
sources   what chapters and pages depend on, as checksums
========  ========================================================================
"""
