"""Certificates for tests: an authority of its own, and what it signed."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = ipaddress.ip_address("127.0.0.1")


def _named(name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _signed(subject, key, issuer, issuer_key, *, authority):
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(LOOPBACK)])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _pem(key, layout=serialization.PrivateFormat.PKCS8):
    return key.private_bytes(serialization.Encoding.PEM, layout, serialization.NoEncryption())


def write_certificates(folder: Path) -> None:
    """ca.pem, server.pem and client.pem, with server.key, client.key and old.key (not PKCS #8)."""
    authority = ec.generate_private_key(ec.SECP256R1())
    root = _signed("authority", authority, "authority", authority, authority=True)
    (folder / "ca.pem").write_bytes(root.public_bytes(serialization.Encoding.PEM))
    for name in ("server", "client"):
        key = ec.generate_private_key(ec.SECP256R1())
        signed = _signed(name, key, "authority", authority, authority=False)
        (folder / f"{name}.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        (folder / f"{name}.key").write_bytes(_pem(key))
        if name == "server":
            old = _pem(key, serialization.PrivateFormat.TraditionalOpenSSL)
            (folder / "old.key").write_bytes(old)
