"""What this app's views have in common: JSON alone, keys alone, no methods of Django's own."""

from collections.abc import Sequence

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.views import APIView


class PlainView(APIView):
    """A view that authenticates by `caller_of` and answers JSON whatever is accepted."""

    authentication_classes: Sequence[type[BaseAuthentication]] = ()
    permission_classes: Sequence[type[BasePermission]] = ()
    renderer_classes: Sequence[type[BaseRenderer]] = (JSONRenderer,)
    http_method_names = ("get", "post", "delete")
