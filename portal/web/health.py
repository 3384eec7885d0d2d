"""Is the portal able to serve: database and Redis answer."""

from django.core.cache import cache
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from redis.exceptions import RedisError


def healthz(request: HttpRequest) -> JsonResponse:
    """200 with `{"database": true, "redis": true}`, else 503 and the part that does not answer."""
    parts = {"database": _database(), "redis": _redis()}
    return JsonResponse(parts, status=200 if all(parts.values()) else 503)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def _redis() -> bool:
    try:
        cache.get("healthz")
    except (RedisError, OSError):
        return False
    return True
