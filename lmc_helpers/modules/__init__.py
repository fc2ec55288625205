"""The methods of the four papers on any two torch modules of one architecture; see :mod:`lmc_helpers` for their names."""
