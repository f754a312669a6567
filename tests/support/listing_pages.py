"""A listing of the platform, page by page."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit


def product(number, **more):
    return {"remote_product_id": f"uuid-{number}", "sku": f"S{number}", "price": "1.500", "active": True, **more}


def query(seen):
    return {
        name: values if len(values) > 1 else values[0] for name, values in parse_qs(urlsplit(seen.target).query).items()
    }


class Pages:
    """A listing of `total` products; `twist` may change an answer."""

    def __init__(self, http, total, twist=lambda page, answer: answer):
        self.http, self.total, self.twist = http, total, twist

    def __call__(self, seen, send):
        asked = query(seen)
        page, size = int(asked["page"]), int(asked["page_size"])
        numbers = range((page - 1) * size, min(page * size, self.total))
        pages = -(-self.total // size)
        answer = {
            "page_number": page,
            "page_size": size,
            "total_pages": pages,
            "products": [product(n) for n in numbers],
        }
        send(self.http(200, self.twist(page, answer)))
