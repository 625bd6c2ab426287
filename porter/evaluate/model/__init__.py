"""Defines the options of a migration, its outcome and its times."""
