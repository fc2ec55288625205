"""Architectures as data, many networks in one batch, and the straight lines between them."""
