"""What is checked on a request's head, before a byte of its body is read."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from django.http.request import split_domain_port, validate_host
from mcp_types import INVALID_REQUEST

from mcp_gateway.errors import refusal_answer
from mcp_gateway.request import Answer, Request

_KEY_IN_URL: Final = re.compile(r"msk_[0-9A-Za-z]{8}_")


def refuse_address(request: Request, *, hosts: Sequence[str]) -> Answer | None:
    """Refuse hosts and origins that are not this server's: the guard against DNS rebinding."""
    host = request.headers.get("host", "")
    if not _is_ours(host, hosts):
        text = "The Host header names no address of this server; an operator can allow it."
        return _refusal(421, "wrong_host", text)
    origin = request.headers.get("origin")
    if origin is not None and not _may_come_from(origin, host, hosts):
        text = "The Origin header names a site that may not call this server."
        return _refusal(403, "wrong_origin", text)
    return None


def refuse_method(request: Request) -> Answer | None:
    """Refuse all but POST: there is no stream to open and no session to end."""
    if request.method == "POST":
        return None
    return _refusal(405, "method_not_allowed", "Only POST is served here.")


def refuse_head(request: Request, *, max_body: int) -> Answer | None:
    """Refuse what the head already tells will not do.

    A missing `Accept` or content type is taken as JSON's; either that JSON can be, or an event
    stream, will do for `Accept`, since hosts send both, one or none.
    """
    if request.crowded:
        text = "The URL names too many parameters; name the scope's alone."
        return _refusal(400, "bad_request", text)
    if any(_KEY_IN_URL.search(value) for values in request.query.values() for value in values):
        text = "A key must not stand in the URL, which others log; send it as a Bearer token."
        return _refusal(400, "bad_request", text)
    kind = request.headers.get("content-type", "application/json").partition(";")[0]
    if kind.strip().lower() != "application/json":
        return _refusal(415, "bad_request", "The content type must be application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        return _refusal(415, "bad_request", "The body must not be compressed.")
    if not _accepts_json(request.headers.get("accept", "")):
        text = "The answer is application/json, which the Accept header rules out."
        return _refusal(406, "not_acceptable", text)
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > max_body:
        return too_large(max_body)
    return None


def too_large(max_body: int) -> Answer:
    """Return the answer to a body over the limit."""
    return _refusal(413, "too_large", f"The body must be at most {max_body} bytes.")


def _is_ours(host: str, hosts: Sequence[str]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, hosts)


def _may_come_from(origin: str, host: str, hosts: Sequence[str]) -> bool:
    """Tell whether an origin is this server's own or, by name, one of its hosts."""
    try:
        parts = urlsplit(origin)
        site = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"} or not site:
        return False
    if parts.netloc.lower() == host.lower():
        return True
    # `*` lets any Host in, behind a proxy that checks it; it does not let any site in.
    named = [name for name in hosts if name != "*"]
    return validate_host(f"[{site}]" if ":" in site else site, named)


def _accepts_json(accept: str) -> bool:
    if not accept.strip():
        return True
    for item in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in item.split(";"))
        if kind in {"application/json", "application/*", "*/*", "text/event-stream"}:
            weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
            if weight.strip("0.") != "":
                return True
    return False


def _refusal(status: int, code: str, text: str) -> Answer:
    return refusal_answer(status, code, text, rpc_code=INVALID_REQUEST)
