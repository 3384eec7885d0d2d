"""Certificates, tokens and kubeconfigs for tests, made on the spot."""

import base64
import json
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ENDS = datetime(2027, 6, 1, tzinfo=UTC)
SERVER = "https://10.1.2.3:6443"
TOKEN = "an-opaque-token-of-0123456789"


@cache
def issued(name: str = "test authority", ends: datetime = ENDS) -> tuple[str, str]:
    """A self-signed certificate and its key, both PEM; the same for the same name."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=3_650))
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), pem.decode()


def jwt(**claims: Any) -> str:
    """A token that says this of itself; nobody signed it."""
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, b"signature"))


def b64(text: str) -> str:
    """As a kubeconfig has data."""
    return base64.b64encode(text.encode()).decode()


def config(*, cluster: Any = None, user: Any = None, context: Any = None, **top: Any) -> dict[str, Any]:
    """A kubeconfig of one context; what is given replaces or adds fields."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [
            {
                "name": "c",
                "cluster": {"server": SERVER, "certificate-authority-data": b64(issued()[0]), **(cluster or {})},
            }
        ],
        "users": [{"name": "u", "user": user if user is not None else {"token": TOKEN}}],
        "contexts": [{"name": "ctx", "context": {"cluster": "c", "user": "u", **(context or {})}}],
        "current-context": "ctx",
        **top,
    }
