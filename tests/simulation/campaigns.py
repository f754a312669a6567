"""The campaigns of the simulated ERP: a CSV file with a control file, and the naive truth about what it wants."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulation.clock import START
from simulation.erp import VENDORS

if TYPE_CHECKING:
    import random
    from pathlib import Path

HEADER = ("campaign", "vendor", "sku", "price", "name", "start_time", "end_time")
KEEPS = "keep"
SKUS = {"c0": ("s00", "s01"), "c1": ("s02", "s03", "u0"), "c2": ("s04", "s06"), KEEPS: ("s05",)}
"""Each campaign has its own, so that no two overlap and the platform rejects none for that."""
DISCOUNT_SHARE_MAX = 0.965
"""A price below 3.5 % of the base price is held: of every base price from 1 on those of a slip, and no other of a usual base price."""
SLIPS_MAX = 30
CAMPAIGNS = tuple(name for name in SKUS if name != KEEPS)


@dataclass(frozen=True)
class Window:
    """When and as what a campaign runs, and for whom."""

    name: str
    start: dt.datetime
    end: dt.datetime
    vendor: str


@dataclass
class Campaigns:
    """What the ERP wants, as a CSV file with a control file. One campaign never ends: an empty file is a broken one."""

    folder: Path
    windows: dict[str, Window] = field(default_factory=dict)
    prices: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    wanted: dict[tuple[str, str], list[Decimal]] = field(default_factory=dict)
    slips: set[Decimal] = field(default_factory=set)
    """Prices that only an approval may bring to the platform."""
    version: int = 0
    guarded: bool = False
    """Whether a price that is reduced by too much is held for a person."""

    @property
    def settings(self) -> dict[str, Any]:
        """Section `promotions` of the settings."""
        shares = dict.fromkeys(("discount_share_max", "assortment_share_max", "ended_share_max"), 1.0)
        shares["discount_share_max"] = DISCOUNT_SHARE_MAX if self.guarded else 1.0
        return {"files": str(self.file), "control_file": str(self.control), "pairs_max": 4, **shares}

    @property
    def file(self) -> Path:
        return self.folder / "promotions.csv"

    @property
    def control(self) -> Path:
        return self.folder / "promotions.txt"

    def begin(self) -> None:
        self.windows[KEEPS] = Window("Keep", START, START + dt.timedelta(days=400), "*")
        self.put(KEEPS, *SKUS[KEEPS])
        self.write()

    def put(self, campaign: str, sku: str) -> None:
        """A new version of a price, below any base price that there ever is."""
        self.version += 1
        price = Decimal(100 + self.version) / 1000
        self.prices[campaign, sku] = price
        self.wanted.setdefault((campaign, sku), []).append(price)

    def slip(self, chance: random.Random) -> None:
        """Marketing reduces prices of a campaign a hundredfold; each such price exists once."""
        campaign = chance.choice(CAMPAIGNS)
        if campaign not in self.windows:
            self.windows[campaign] = self._window(campaign, chance)
        for sku in chance.sample(SKUS[campaign][:2], chance.randint(1, 2)):
            if len(self.slips) < SLIPS_MAX:
                price = Decimal(len(self.slips) + 1) / 1000
                self.slips.add(price)
                self.prices[campaign, sku] = price
                self.wanted.setdefault((campaign, sku), []).append(price)
        self.write()

    def tick(self, chance: random.Random) -> None:
        """Marketing changes the campaigns."""
        for _ in range(chance.randint(1, 3)):
            campaign = chance.choice(CAMPAIGNS)
            what = chance.choices(("put", "out", "drop", "window"), (10, 4, 2, 3))[0]
            if campaign not in self.windows or what == "window":
                self.windows[campaign] = self._window(campaign, chance)
            if what == "drop":
                for key in [key for key in self.prices if key[0] == campaign]:
                    del self.prices[key]
            elif what == "out":
                self.prices.pop((campaign, chance.choice(SKUS[campaign])), None)
            else:
                for _ in range(chance.randint(1, 3)):
                    self.put(campaign, chance.choice(SKUS[campaign]))
        self.write()

    def write(self) -> None:
        rows = [
            (
                campaign,
                window.vendor,
                sku,
                f"{price:.3f}",
                window.name,
                window.start.isoformat(),
                window.end.isoformat(),
            )
            for (campaign, sku), price in sorted(self.prices.items())
            for window in (self.windows[campaign],)
        ]
        with self.file.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(rows)
        self.control.write_text(f"{len(rows)}\n", "utf-8")

    def _window(self, campaign: str, chance: random.Random) -> Window:
        number = CAMPAIGNS.index(campaign)
        start = START + dt.timedelta(hours=chance.choice((-1, 0, 3)), minutes=number)
        end = START + dt.timedelta(days=chance.choice((1, 3, 400)))
        return Window(f"Offer {campaign}", start, end, chance.choice(("*", *VENDORS)))
