"""What executed chapters found: records of one run, and of the same chapters run again.

=============  ======================================================
difference     one part in two runs that should find the same
glued          what a chapter gives to its text, and numbers in signs
images         chapters whose images are not the ones that were asked for
products       executed notebooks, refused where they are damaged
published      ``claims.json``
records        the claims that were checked, and how the chapters ran
standing       whether a record stands: what it rests on, and what of that has changed
spread         one part under several seeds
sweep_records  what runs with other seeds and settings store
=============  ======================================================
"""
