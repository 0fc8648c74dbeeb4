"""A request's query string: the scope's names are every route's, each route adds its own."""

from typing import Final

from django.http import HttpRequest

from accounts.api.parameters import check_parameters as refuse_unknown
from memory.domain.units import parse_units

SCOPE_NAMES: Final = ("org", "team", "scope")
_LATER: Final = frozenset({"at", "branch", "as_of", "history"})


def check_parameters(request: HttpRequest, *known: str) -> None:
    """Refuse parameters that are neither the scope's nor the route's own.

    Raises:
        BadRequest: there is one; it is named, its value is not.
    """
    refuse_unknown(request, *SCOPE_NAMES, *known, later=_LATER)


def unit_range(request: HttpRequest) -> tuple[int, int] | None:
    """Return `units` as first and last, from `7` or `3-7`; None if it was not given.

    Raises:
        BadRequest: it is neither, or given twice.
    """
    values = request.GET.getlist("units")
    if not values:
        return None
    return parse_units(values[0] if len(values) == 1 else "")
