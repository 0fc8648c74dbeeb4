"""All HTTP routes but MCP's, each with and without a trailing slash and never a redirect."""

from collections.abc import Callable, Coroutine, Sequence
from functools import cache, wraps
from typing import Any, Final, TypeAlias, cast

import orjson
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from ninja import NinjaAPI

from accounts.api.document import paths as account_paths
from accounts.api.parameters import check_parameters
from ampup_site.health import healthz, readyz
from ampup_site.http_errors import error_response, install, method_not_allowed
from ampup_site.kernel.errors import AmpUpError
from ampup_site.kernel.version import server_version
from memory.api.routes import ROUTERS

View: TypeAlias = Callable[..., Coroutine[Any, Any, HttpResponse]]


def build_api() -> NinjaAPI:
    """Return the verb-shaped REST API."""
    bearer = {"bearer": {"type": "http", "scheme": "bearer", "description": "A key: msk_…"}}
    api = NinjaAPI(
        openapi_extra={"components": {"securitySchemes": bearer}, "security": [{"bearer": []}]},
        title="AmpUp Memory",
        version=server_version(),
        docs_url=None,
        openapi_url=None,
        urls_namespace="rest",
    )
    install(api)
    for router in ROUTERS:
        api.add_router("", router)
    return api


def _offering(view: View, methods: Sequence[str] | None) -> View:
    """Return a view that refuses other methods in the one envelope.

    Args:
        methods: what it offers, with no parameters; None where the view itself sees to both.
    """

    @wraps(view)
    async def offering(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if methods is not None and request.method not in methods:
            return method_not_allowed(request, methods)
        if methods is not None:
            try:
                check_parameters(request)
            except AmpUpError as error:
                return error_response(request, error)
        response = await view(request, *args, **kwargs)
        if response.status_code == 405:
            return method_not_allowed(request, response["Allow"].split(", "))
        return response

    return offering


def _both_ways(patterns: Sequence[URLPattern | URLResolver]) -> list[URLPattern]:
    """Return ninja's patterns, each also with a trailing slash."""
    both: list[URLPattern] = []
    for pattern in patterns:
        route = str(pattern.pattern)
        if route:  # the empty one is ninja's own, a 404
            both += _two(route, _offering(cast("View", cast("URLPattern", pattern).callback), None))
    return both


@cache
def _document() -> bytes:
    schema = _api.get_openapi_schema(path_prefix="")
    paths = {**schema["paths"], **account_paths()}
    return orjson.dumps({**schema, "paths": paths}, option=orjson.OPT_NON_STR_KEYS)


async def openapi(_request: HttpRequest) -> HttpResponse:
    """Return what is served, as OpenAPI."""
    return HttpResponse(_document(), content_type="application/json")


def _two(route: str, view: View) -> list[URLPattern]:
    return [path(route, view), path(f"{route}/", view)]


_api: Final = build_api()
_patterns, _app, _namespace = _api.urls

urlpatterns: list[URLPattern | URLResolver] = [
    re_path(r"^healthz/?\Z", _offering(healthz, ("GET", "HEAD")), name="healthz"),
    re_path(r"^readyz/?\Z", _offering(readyz, ("GET", "HEAD")), name="readyz"),
    re_path(r"^openapi\.json/?\Z", _offering(openapi, ("GET",)), name="openapi"),
    path("", include("accounts.api.urls")),
    path("", include((_both_ways(_patterns), _app), namespace=_namespace)),
]

handler400 = "ampup_site.http_errors.bad_request"
handler403 = "ampup_site.http_errors.forbidden"
handler404 = "ampup_site.http_errors.not_found"
handler500 = "ampup_site.http_errors.server_error"
