"""The MetaX MACA backend (docs/design/maca.md). Importing it imports neither torch nor a parser nor an SDK."""

from porter_maca.backend import MacaBackend

__all__ = ["MacaBackend"]
