"""The basis of all tools: the repository as files, and stopping processes.

========  ===================================================================================
chapters  the chapters, their names, and where they are executed to
history   git commands on this clone
inputs    files that people edit, read strictly: errors name file and line
stopping  Ctrl-C, SIGTERM and full disks: one line, nothing half-written, no process left
========  ===================================================================================
"""
