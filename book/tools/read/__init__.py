"""The repository as files: chapters, modules and profiles parsed without running them, and what edited files say."""
