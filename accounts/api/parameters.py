"""A request's query string: each route tells what it knows, and the rest is refused by name."""

from collections.abc import Collection
from collections.abc import Set as AbstractSet

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest
from rest_framework.request import Request

from ampup_site.kernel.errors import BadRequest

_SHOWN = 40


def check_parameters(
    request: HttpRequest | Request, *known: str, later: AbstractSet[str] = frozenset()
) -> None:
    """Refuse parameters that the route does not know: silence would look like obedience.

    Args:
        later: names that belong to a later version, refused as such.

    Raises:
        BadRequest: there is one, which is named and its value is not; or there are too many.
    """
    for name in _names(request):
        if name in known:
            continue
        if name in later:
            message = f"`{name}` is not served by this version; leave it out of the URL."
            raise BadRequest(message, field=name)
        they = f"they are {', '.join(known)}" if known else "it takes none"
        message = f"{name[:_SHOWN]!a} is no parameter of this route; {they}."
        raise BadRequest(message, field=name[:_SHOWN])


def _names(request: HttpRequest | Request) -> Collection[str]:
    try:
        return request.GET
    except TooManyFieldsSent:
        message = "The URL names too many parameters; name those of the route alone."
        raise BadRequest(message) from None
