"""Encrypts customer data with the operator's key, and decrypts it for the store that needs it."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from partner_api import json_values
from shelfsync.errors import ConfigurationError
from shelfsync.orders.order_state import as_json

if TYPE_CHECKING:
    from pydantic import SecretStr

    from shelfsync.settings import OrdersSettings

KEY = "SHELFSYNC_ORDERS__ENCRYPTION_KEY"
KEY_LENGTH_MIN = 16


class CustomerCipher:
    """Encrypts with the current key, decrypts with the current or the previous one. Without a key, no customer data is stored."""

    def __init__(self, settings: OrdersSettings) -> None:
        keys = [key for key in (settings.encryption_key, settings.encryption_key_previous) if key is not None]
        self._fernet = MultiFernet([_fernet(key) for key in keys]) if settings.encryption_key is not None else None

    def __bool__(self) -> bool:
        return self._fernet is not None

    def encrypt(self, personal: dict[str, Any]) -> bytes | None:
        """The encrypted data; None without a key."""
        return None if self._fernet is None else self._fernet.encrypt(as_json(personal).encode())

    def decrypt(self, encrypted: bytes | None) -> dict[str, Any]:
        """The decrypted data; empty without data, without a key, or if another key encrypted it."""
        if encrypted is None or self._fernet is None:
            return {}
        try:
            return json_values.mapping(json.loads(self._fernet.decrypt(encrypted)))
        except InvalidToken:
            return {}

    def reads(self, encrypted: bytes) -> bool:
        """Whether the current or the previous key encrypted it."""
        return bool(self.decrypt(encrypted))


def _fernet(key: SecretStr) -> Fernet:
    text = key.get_secret_value().strip()
    if len(text) < KEY_LENGTH_MIN:
        raise ConfigurationError(
            KEY, f"is shorter than {KEY_LENGTH_MIN} characters", "Choose a long random text and keep it safe."
        )
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"shelfsync personal data").derive(text.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
