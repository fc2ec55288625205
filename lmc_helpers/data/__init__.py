"""Data sets, real and made."""
