"""Chapters and training runs carried out: here or on a cluster, only those that are stale."""
