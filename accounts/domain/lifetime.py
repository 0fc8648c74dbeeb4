"""How long a key lives, as people write it on a command line: `90d`, `12h`, `4w`."""

import re

from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import BadRequest

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LIFETIME = re.compile(r"([1-9][0-9]{0,5})([mhdw])")


def expiry_after(text: str, *, now: Micros) -> Micros:
    """Return the moment that lies `text` after `now`.

    Raises:
        BadRequest: not a whole number and one of m, h, d, w.
    """
    match = _LIFETIME.fullmatch(text)
    if match is None:
        message = "expires must be a whole number and m, h, d or w, such as 90d."
        raise BadRequest(message, field="expires")
    return Micros(now + int(match.group(1)) * _SECONDS[match.group(2)] * 1_000_000)
