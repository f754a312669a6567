from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from shelfsync.pages.letter import SKUS, TEXT_MAX, about_rejections


def letter(products=1, stores=1, reason="product not found", page="https://a.example/rejections"):
    rows = [{"sku": f"a{number}", "vendor": f"s{number % stores}"} for number in range(products)]
    given = {"products": products, "stores": stores, "rows": rows, "reason": reason, "page": page}
    return about_rejections("kam@platform.example", **given)


def test_it_names_store_reason_products_and_the_list():
    assert letter().subject == "Rejected: 1 product of s0"
    assert letter().body.splitlines() == [
        "1 product of s0 rejected: product not found",
        "",
        "- a0 in s0",
        "",
        "The list: https://a.example/rejections",
    ]


def test_it_names_the_first_of_many_products_and_counts_the_others():
    lines = letter(products=SKUS + 5, stores=3).body.splitlines()
    assert lines[0].startswith(f"{SKUS + 5} products of 3 stores rejected: ")
    assert [line for line in lines if line.startswith("- ")] == [f"- a{n} in s{n % 3}" for n in range(SKUS)]
    assert "and 5 more" in lines


def test_a_text_of_the_platform_is_cut_and_adds_nothing_to_the_address():
    made = letter(reason="&bcc=x@y.example\r\n?#%" + "x" * 999)
    assert len(made.body) < TEXT_MAX + 200
    parts = urlsplit(made.link)
    assert (parts.scheme, parts.path, parts.fragment) == ("mailto", "kam@platform.example", "")
    assert parse_qs(parts.query).keys() == {"subject", "body"}
