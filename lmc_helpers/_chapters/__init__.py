"""Private code of single chapters, one file for each."""
