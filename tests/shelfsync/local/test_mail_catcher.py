from __future__ import annotations

from shelfsync.alerts import channel
from shelfsync.local.mail_catcher import Mail, MailCatcher


def test_a_mail_is_kept_and_is_in_the_file(tmp_path):
    file = tmp_path / "mails.txt"
    with MailCatcher(file) as catcher:
        address = catcher.address("operator@example.com")
        assert channel.send("operator", address, "a store is late", "Käse waits\nsince noon") is None
    assert catcher.mails == [Mail("operator@example.com", "a store is late", "Käse waits\nsince noon")]
    assert "To: operator@example.com\nSubject: a store is late\n\nKäse waits\nsince noon\n" in file.read_text("utf-8")
