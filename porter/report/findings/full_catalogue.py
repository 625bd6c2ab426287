"""The codes of porter and of its backends, in one catalogue."""

from __future__ import annotations

import warnings
from functools import cache

from porter.diagnostics.catalogue import Catalogue, by_code, core_catalogue
from porter.registry import loadable_backends


@cache
def full_catalogue() -> Catalogue:
    """Returns the codes of porter and of every installed backend that can be imported.

    A backend whose catalogue cannot be read, or claims a code that another has, is left out with a warning: it harms
    nobody who does not use it.
    """
    found = dict(core_catalogue())
    for backend in loadable_backends():
        try:
            found = dict(by_code((*found.values(), *backend.catalogue())))
        except Exception as error:  # noqa: BLE001 - a vendor's code may raise anything
            warnings.warn(f"the findings of the backend {backend.name!r} cannot be used: {error}", stacklevel=2)
    return dict(sorted(found.items()))
