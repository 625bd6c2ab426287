"""Examines the reference before anything is compared with it, and chooses what is asked."""
