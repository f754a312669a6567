"""For whom a row of a campaign is, and on which condition: the usual words and their meaning; the settings add the chain's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.promotions import quarantine_reason
    from shelfsync.settings import PromotionSettings

AUDIENCES = dict.fromkeys(("", "everybody", "everyone", "all", "public"), "everybody")
AUDIENCES |= dict.fromkeys(("club", "member", "members", "loyalty"), "club")
AUDIENCES |= dict.fromkeys(("staff", "employee", "employees"), "staff")
CONDITIONS = dict.fromkeys(("", "none", "no"), "none") | {
    "coupon": "coupon",
    "voucher": "coupon",
    "gift": "basket_gift",
}
CONDITIONS |= {name: name for name in ("minimum_purchase", "basket_gift", "mix")}
"""The usual words and their meaning; the settings add the chain's own."""


def read_meanings(
    raw_columns: dict[str, pa.Array], findings: quarantine_reason.Findings, settings: PromotionSettings
) -> None:
    """For whom a row is, and on which condition: everybody without a condition, or what the platform cannot express."""
    for name, usual, own, reasons in (
        ("audience", AUDIENCES, settings.audiences, {"everybody": None, "club": "club_only", "staff": "staff_only"}),
        ("condition", CONDITIONS, settings.conditions, {"none": None}),
    ):
        if raw_columns[name].null_count == len(raw_columns[name]):  # the ERP has no such column
            continue
        meanings = usual | {word.strip().casefold(): meaning for word, meaning in own.items()}
        encoded = raw_columns[name].fill_null("").dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        for code, word in enumerate(encoded.dictionary.to_pylist()):
            meaning = meanings.get(word.strip().casefold())
            found = f"{name}_unknown" if meaning is None else reasons.get(meaning, meaning)
            if found is not None:
                findings.note(found, codes == code)
