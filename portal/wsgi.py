"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
application = get_wsgi_application()
# Loaded here and not with the first request: workers are forked from this process, and a broken page stops the start.
_ = get_resolver().url_patterns
