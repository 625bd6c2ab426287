"""The MetaX MACA backend."""
