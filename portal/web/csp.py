"""Response headers that keep a page from running, framing or reaching anything that is not ours."""

from django.http import HttpResponseBase

# The digest of the empty string: the chart library adds an empty style element and fills it by script,
# which is allowed anyway. Inline styles with content stay forbidden, on every page.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        f"style-src 'self' {EMPTY_STYLE}",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "object-src 'none'",
        "frame-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def harden(response: HttpResponseBase) -> HttpResponseBase:
    """The same response with our headers; one that a view has set on purpose is kept."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
