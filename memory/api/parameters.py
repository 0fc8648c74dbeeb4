"""A request's query string: the scope's names are every route's, each route adds its own."""

import re
from typing import Final

from django.http import HttpRequest

from ampup_site.kernel.errors import BadRequest

SCOPE_NAMES: Final = ("org", "team", "scope")
_LATER: Final = frozenset({"at", "branch", "as_of", "history"})
_UNITS: Final = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?", re.ASCII)


def check_parameters(request: HttpRequest, *known: str) -> None:
    """Refuse parameters that the route does not know: silence would look like obedience.

    Raises:
        BadRequest: there is one; it is named, its value is not.
    """
    names = (*SCOPE_NAMES, *known)
    for name in request.GET:
        if name in names:
            continue
        if name in _LATER:
            message = f"`{name}` is not served by this version; leave it out of the URL."
            raise BadRequest(message, field=name)
        shown = ascii(name[:40])
        message = f"{shown} is no parameter of this route; they are {', '.join(names)}."
        raise BadRequest(message, field=name[:40])


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
