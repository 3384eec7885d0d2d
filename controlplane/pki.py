"""The keys and certificates of one cluster: one authority, one leaf per role, one key for service accounts."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

LIFETIME = datetime.timedelta(days=3650)
SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
# Who each client is to the API server: its user and its group.
CLIENTS = {
    "admin": ("kubernetes-admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "kubelet-client": ("kube-apiserver-kubelet-client", "system:masters"),
}


def write_pki(folder: Path) -> None:
    """Make every key and certificate of a cluster in the folder, readable by its owner only.

    ca.crt · serving.{crt,key} (servers on 127.0.0.1) · one pair per name in CLIENTS · service-accounts.{key,pub}
    """
    issue = _Issuer(folder)
    issue.server("serving", SERVER_NAMES)
    for name, (user, group) in CLIENTS.items():
        issue.client(name, user, group)
    signing_key = ec.generate_private_key(ec.SECP256R1())
    _write(folder / "service-accounts.key", _pem(signing_key))
    public = signing_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _write(folder / "service-accounts.pub", public)


def write_webhook_pki(folder: Path, authority: str, name: str) -> None:
    """An authority with its key and one server of that DNS name on 127.0.0.1, for a program that manages its own.

    ca.{crt,key} · tls.{crt,key}. The authority is of the form that OPA's cert-controller takes for its own: RSA in
    PKCS#1, with its name as a DNS name; another one it would replace.
    """
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    issue = _Issuer(folder, key, authority)
    issue.server("tls", (name,))
    _write(folder / "ca.key", _pem(key, serialization.PrivateFormat.TraditionalOpenSSL))


class _Issuer:
    """A new authority in the folder, and the leaves it signs."""

    def __init__(self, folder: Path, key: PrivateKey | None = None, name: str = "armillary-test-authority") -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.key = key or ec.generate_private_key(ec.SECP256R1())
        self.authority = _authority(self.key, name)
        _write(folder / "ca.crt", self.authority.public_bytes(serialization.Encoding.PEM))

    def server(self, name: str, hosts: tuple[str, ...]) -> None:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = x509.SubjectAlternativeName([*(x509.DNSName(host) for host in hosts), address])
        self._leaf(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str, user: str, group: str) -> None:
        self._leaf(name, _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _leaf(
        self, name: str, subject: x509.Name, usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self.authority.subject, key)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if names:
            builder = builder.add_extension(names, critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        _write(self.folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
        _write(self.folder / f"{name}.key", _pem(key))


def _authority(key: PrivateKey, common_name: str) -> x509.Certificate:
    name = _name(common_name)
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return (
        _builder(name, name, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: PrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
    )


def _name(user: str, group: str = "") -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _pem(key: PrivateKey, form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _write(file: Path, content: bytes) -> None:
    file.touch(mode=0o600)
    file.write_bytes(content)
