"""The one settings file, driven by PORTAL_* variables. Nonsense is refused here, with the fix in the sentence."""

import base64
import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.utils.translation import gettext_lazy as _

from portal.lib import env

BASE_DIR = Path(__file__).resolve().parent.parent
MODE = env.choice("PORTAL_MODE", "embedded", ("embedded", "production", "test"))
DEBUG = env.flag("PORTAL_DEBUG", False)
STATE_DIR = Path(
    env.text("PORTAL_STATE_DIR", "")
    or Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "armillary"
)
BIND = env.text("PORTAL_BIND", "127.0.0.1:8000")
STAGES = env.choice("PORTAL_STAGES", "span", ("see", "run", "share", "span"))  # the furthest stage that is on
# What the first start brings along: a simulated fleet with a history, people and this machine only, or nothing.
DEMO = env.choice("PORTAL_DEMO", "fleet", ("fleet", "machine", "none"))
# How long a log that cannot be read is asked for, from the first time on, before its attempt is closed without it.
LOG_DEADLINE_MINUTES = env.integer("PORTAL_LOG_DEADLINE_MINUTES", 15, low=1, high=10_080)
PROGRAMS_DIR = BASE_DIR / "jobs" / "shipped" / "programs"


def _secret_key() -> str:
    """The signing key; production takes no weak one and makes none up."""
    key = env.text("PORTAL_SECRET_KEY", "")
    if MODE == "production":
        if len(key) < 50 or len(set(key)) < 12:
            raise env.BadSetting("PORTAL_SECRET_KEY is missing or weak; use 50 or more random characters.")
        return key
    # Commands that touch no session (check, makemigrations) run without one; `up` always sets it.
    return key or hashlib.sha256(str(STATE_DIR).encode()).hexdigest() * 2


SECRET_KEY = _secret_key()
if MODE == "production" and DEBUG:
    raise env.BadSetting("PORTAL_DEBUG is on in production; switch it off.")

VAULT_KEY_RECIPE = 'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'


def _vault_keys() -> tuple[str, ...]:
    """Keys that seal the clusters' credentials, the newest first; production makes none up."""
    keys = tuple(env.words("PORTAL_VAULT_KEY"))
    if MODE == "production" and not keys:
        raise env.BadSetting(f"PORTAL_VAULT_KEY is missing; it seals credentials. Make one: {VAULT_KEY_RECIPE}")
    for key in keys:
        try:
            weak = len(base64.urlsafe_b64decode(key)) != 32 or len(set(key)) < 12
        except ValueError:
            weak = True
        if weak:
            raise env.BadSetting(f"PORTAL_VAULT_KEY holds a weak key, or none. Make one: {VAULT_KEY_RECIPE}")
    return keys


VAULT_KEYS = _vault_keys()  # none outside production: a file in the state folder, made on first use
# Besides ordinary addresses, where clusters may be reached; loopback for trying things out. Empty in production.
CLUSTER_NETWORKS = env.networks("PORTAL_CLUSTER_NETWORKS")
# Registries that images of runtimes may come from, such as "registry.example, registry.example:5000"; empty: any.
IMAGE_REGISTRIES = env.words("PORTAL_IMAGE_REGISTRIES")


def _database(url: str) -> dict[str, Any]:
    """Django's database entry of a postgresql:// URL; a socket folder may stand in ?host=."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise env.BadSetting("PORTAL_DATABASE_URL must start with postgresql://.")
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", None) or parts.hostname or "",
        "PORT": query.pop("port", None) or (str(parts.port) if parts.port else ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": query,
    }


_external = "PORTAL_DATABASE_URL" in os.environ and "PORTAL_EMBEDDED" not in os.environ
if MODE == "production" and not (_external and "PORTAL_REDIS_URL" in os.environ):
    raise env.BadSetting(
        "Production runs on servers of its own: set PORTAL_DATABASE_URL and PORTAL_REDIS_URL (not the embedded ones)."
    )
DATABASE_URL = env.text("PORTAL_DATABASE_URL", "postgresql://portal_app@/portal?host=/nonexistent")
DATABASE_OWNER_URL = env.text("PORTAL_DATABASE_OWNER_URL", DATABASE_URL)
REDIS_URL = env.text("PORTAL_REDIS_URL", "unix:///nonexistent?db=0")
# The owner migrates; everything else runs as a role that cannot rewrite the audit.
_as_owner = env.flag("PORTAL_AS_OWNER", False)
DATABASES = {"default": _database(DATABASE_OWNER_URL if _as_owner else DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APP_DATABASE_ROLE = "portal_app"

ALLOWED_HOSTS = env.words("PORTAL_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("PORTAL_TRUSTED_ORIGINS")
INSTALLED_APPS = [
    "portal.embedded",
    "portal.web",
    "tenants",
    "resources",
    "jobs",
    "metering",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "guardian",
    "rest_framework",
    "knox",
    "drf_spectacular",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "portal.web.middleware.PageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "portal.web.context.page",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "portal.web.templatetags.ui",
                "jobs.web.tags",
                "tenants.web.tags",
            ],
        },
    },
]

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
GUARDIAN_RAISE_403 = False
ANONYMOUS_USER_NAME = None
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "portal.web.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
if MODE == "production" and env.flag("PORTAL_TLS", True):
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.text("PORTAL_TIME_ZONE", "UTC")

STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("PORTAL_STATIC_ROOT", str(STATE_DIR / "static")))


def _package_data(package: str, folder: str) -> list[tuple[str, str]]:
    """A folder of an installed package as static files under vendor/<package>, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return []
    return [(f"vendor/{package}", str(Path(spec.submodule_search_locations[0]) / folder))]


STATICFILES_DIRS: list[Any] = [BASE_DIR / "static", *_package_data("plotly", "package_data")]
WHITENOISE_USE_FINDERS = MODE != "production"
# Every client of a test is a new server, which should not read all files first.
WHITENOISE_AUTOREFRESH = DEBUG or MODE == "test"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if MODE == "production"
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        # A server that hangs is answered like one that is away, not waited for.
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}


def _broker(url: str) -> str:
    """kombu names a unix socket its own way; every other URL is the same for both."""
    if not url.startswith("unix://"):
        return url
    parts = urlsplit(url)
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"


CELERY_BROKER_URL = _broker(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 2
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 900,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
}
CELERY_TIMEZONE = "UTC"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "portal.lib.problem.exception_handler",
    "COERCE_DECIMAL_TO_STRING": True,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Armillary",
    "DESCRIPTION": "Everything on a page can be done here, by the same services.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
}
REST_KNOX = {"TOKEN_TTL": None, "AUTO_REFRESH": False}
KNOX_TOKEN_MODEL = "tenants.ApiToken"  # noqa: S105 - a model, no secret

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("PORTAL_LOG_LEVEL", "INFO")},
    "loggers": {
        # The clock ticks every second: what it did is in the database, only trouble is worth a line.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
SILENCED_SYSTEM_CHECKS: list[str] = []
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
FILE_UPLOAD_HANDLERS = ["portal.lib.uploads.NoUploads"]
PRODUCT_NAME = _("Armillary")
