"""What all tools stand on: the repository as files, and processes that are stopped, killed or side by side.

=========  ===================================================================================
chapters   which chapters there are, what they are called, where they are executed to
history    what git says of this clone
inputs     files that people edit, read strictly: what is wrong is an error with file and line
leftovers  what killed processes leave behind
stopping   Ctrl-C, SIGTERM and full disks: one line, nothing half-written
supervise  a command that ends with who asked for it
whole      files that are written whole or not at all
=========  ===================================================================================
"""
