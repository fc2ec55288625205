"""The methods of the four papers on any two torch modules of one architecture, by the names of ``lmc_helpers``."""
