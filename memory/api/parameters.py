"""A request's query string: the scope's names are every route's, each route adds its own."""

import re
from typing import Final

from django.http import HttpRequest

from accounts.api.parameters import check_parameters as refuse_unknown
from ampup_site.kernel.errors import BadRequest

SCOPE_NAMES: Final = ("org", "team", "scope")
_LATER: Final = frozenset({"at", "branch", "as_of", "history"})
_UNITS: Final = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", re.ASCII)


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


def parse_units(text: str) -> tuple[int, int]:
    """Return the first and last unit that `7` or `3-7` names.

    Raises:
        BadRequest: it is neither.
    """
    match = _UNITS.fullmatch(text)
    first = int(match[1]) if match else 0
    last = int(match[2]) if match and match[2] else first
    if not 1 <= first <= last:
        message = "`units` must be one number or a range like 3-7, counted from 1."
        raise BadRequest(message, field="units")
    return first, last
