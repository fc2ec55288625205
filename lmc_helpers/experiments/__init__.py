"""Trained pairs of networks that several chapters share."""
