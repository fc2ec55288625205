"""What all tools stand on: the repository as files, and processes that are stopped.

========  ===================================================================================
chapters  which chapters there are, what they are called, where they are executed to
history   what git says of this clone
inputs    files that people edit, read strictly: what is wrong is an error with file and line
stopping  Ctrl-C, SIGTERM and full disks: one line, nothing half-written, no process left
========  ===================================================================================
"""
