"""Results of executed chapters: records of one run, and of the same chapters run again."""
