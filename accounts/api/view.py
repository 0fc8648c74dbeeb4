"""What this app's views have in common: JSON alone, keys alone, no methods of Django's own."""

from collections.abc import Iterable, Sequence

from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView
from typing_extensions import override


class _OneFormat(BaseContentNegotiation):
    """Takes the one renderer there is, and reads neither `Accept` nor `?format=` for it."""

    @override
    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class PlainView(APIView):
    """A view that authenticates by `caller_of` and answers JSON whatever is accepted."""

    authentication_classes: Sequence[type[BaseAuthentication]] = ()
    permission_classes: Sequence[type[BasePermission]] = ()
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer,)
    content_negotiation_class = _OneFormat
    http_method_names = ("get", "post", "delete")
