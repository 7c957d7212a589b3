"""Certificates, tokens and kubeconfigs of one cluster, made anew for each.

The API server's clients show tokens: one file names them all and needs no signing.
Certificates stand only where Kubernetes takes nothing else: serving, and the API server as a client
of kubelets and of aggregated API servers.
"""

import csv
import datetime as dt
import secrets
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=3650)
# A clock that steps back a little must not find certificates that are not valid yet.
_ALREADY_VALID = dt.timedelta(hours=1)

ADMIN = "testbed-admin"


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The directory of a cluster's credentials, and its users' tokens."""

    directory: Path
    server: str
    tokens: dict[str, str]

    def kubeconfig(self, user: str) -> Path:
        """The kubeconfig of a user, for this server."""
        return self.directory / f"{user.replace(':', '-')}.kubeconfig"


def make_credentials(
    directory: Path,
    *,
    address: IPv4Address,
    port: int,
    names: Sequence[str | IPv4Address],
    nodes: Sequence[str] = (),
) -> Credentials:
    """Write everything that proves who is who for an API server at this address.

    `names` are further names and addresses that its clients know it by.
    """
    directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    _write_certificates(directory, names=[address, *names])
    groups = _users(nodes)
    tokens = {user: secrets.token_urlsafe(24) for user in groups}
    with (directory / "tokens.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([tokens[user], user, user, group] for user, group in groups.items())
    made = Credentials(directory=directory, server=f"https://{address}:{port}", tokens=tokens)
    for user in groups:
        _write_kubeconfig(made, user=user)
    return made


def _users(nodes: Sequence[str]) -> dict[str, str]:
    """Each user and its group; Kubernetes binds the roles of its own users by these names."""
    users = {
        ADMIN: "system:masters",
        "system:kube-controller-manager": "system:authenticated",
        "system:kube-scheduler": "system:authenticated",
        "system:kube-proxy": "system:authenticated",
    }
    return users | {f"system:node:{node}": "system:nodes" for node in nodes}


def _write_kubeconfig(credentials: Credentials, *, user: str) -> None:
    authority = (credentials.directory / "ca.crt").read_text("utf-8")
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "testbed",
        "clusters": [
            {
                "name": "testbed",
                "cluster": {
                    "server": credentials.server,
                    "certificate-authority-data": _base64(authority),
                },
            }
        ],
        "users": [{"name": user, "user": {"token": credentials.tokens[user]}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
    }
    path = credentials.kubeconfig(user)
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config), "utf-8")


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _write_certificates(directory: Path, *, names: Sequence[str | IPv4Address]) -> None:
    authority = _Authority.create(directory / "ca", name="testbed-ca")
    authority.issue(directory / "apiserver", name="kube-apiserver", serves=names)
    authority.issue(
        directory / "apiserver-kubelet-client",
        name="kube-apiserver-kubelet-client",
        group="system:masters",
    )
    front_proxy = _Authority.create(directory / "front-proxy-ca", name="testbed-front-proxy-ca")
    front_proxy.issue(directory / "front-proxy-client", name="front-proxy-client")
    _write_key(directory / "service-accounts.key", ec.generate_private_key(ec.SECP256R1()))


@dataclass(frozen=True, kw_only=True)
class _Authority:
    """A certificate authority."""

    name: x509.Name
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, path: Path, *, name: str) -> "_Authority":
        """A new one, with its certificate and key beside `path`."""
        made = cls(
            name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
            key=ec.generate_private_key(ec.SECP256R1()),
        )
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = (
            _builder(subject=made.name, issuer=made.name, key=made.key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
        )
        _write_pair(path, certificate=builder.sign(made.key, hashes.SHA256()), key=made.key)
        return made

    def issue(
        self,
        path: Path,
        *,
        name: str,
        group: str | None = None,
        serves: Sequence[str | IPv4Address] = (),
    ) -> None:
        """A certificate for a client, or for a server when it serves under names."""
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if group is not None:
            attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        usage = ExtendedKeyUsageOID.SERVER_AUTH if serves else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = _builder(subject=x509.Name(attributes), issuer=self.name, key=key)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if serves:
            known_as: list[x509.GeneralName] = [
                x509.IPAddress(each) if isinstance(each, IPv4Address) else x509.DNSName(each)
                for each in serves
            ]
            builder = builder.add_extension(x509.SubjectAlternativeName(known_as), critical=False)
        _write_pair(path, certificate=builder.sign(self.key, hashes.SHA256()), key=key)


def _builder(
    *, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _ALREADY_VALID)
        .not_valid_after(now + _LIFETIME)
    )


def _write_pair(
    path: Path, *, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    path.with_name(f"{path.name}.crt").write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
    )
    _write_key(path.with_name(f"{path.name}.key"), key)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
