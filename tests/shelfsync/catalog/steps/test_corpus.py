"""Several hundred small files, written by rules: what comes of each SKU of each, through check, plan, sync and explain.

Each dialect, and each other kind of file, is a chain whose stores are the faults, so that each fault also shows that it costs its store alone. A run takes every sixth
dialect, `make proof` every third; `CORPUS=all make test-slow ARGS="-k corpus"` takes them all.
"""

from __future__ import annotations

import collections
import os

import pytest

from corpus import kinds
from corpus.dialects import ENCODINGS, dialects
from corpus.faults import FAULTS, SKUS

DIALECTS = {dialect.name: dialect for dialect in dialects()}
KINDS = {kind.name: kind for kind in kinds.KINDS}
EACH = 11
"""So many faults of each dialect, others for each: so all meet most dialects, and a run takes minutes."""
ALL = os.environ.get("CORPUS") == "all"
CHOSEN = list(DIALECTS) if ALL else list(DIALECTS)[::6]
"""Their stores have every fault."""
LATER = [] if ALL else list(DIALECTS)[3::6]
BEFORE = 77.0


def faults_of(number):
    """The stores of the dialect with this number: name of the store -> rule."""
    names = list(FAULTS)
    chosen = [names[(number * EACH + place) % len(names)] for place in range(EACH)]
    return {name.replace("_", "-"): FAULTS[name] for name in ["clean", *chosen]}


def test_the_corpus_has_370_files_and_every_fault_in_many_dialects():
    met = collections.Counter(store for number in range(len(DIALECTS)) for store in faults_of(number))
    assert met.total() + len(KINDS) * len(kinds.FAULTS) >= 370
    assert len(met) == len(FAULTS)
    assert min(met.values()) >= 12
    assert {store for name in CHOSEN for store in faults_of(list(DIALECTS).index(name))} == met.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CHOSEN, *(pytest.param(name, marks=pytest.mark.proof) for name in LATER)])
def test_of_each_file_every_sku_becomes_what_is_right(make_world, tmp_path, name):
    number, dialect = list(DIALECTS).index(name), DIALECTS[name]
    folder = tmp_path / "erp"
    folder.mkdir()
    files = {}
    for store, rule in faults_of(number).items():
        files[store] = file = rule(dialect)
        body = file.text().encode(ENCODINGS[dialect.encoding])
        (folder / f"{store}.csv{dialect.packed}").write_bytes(dialect.pack(body if file.lines else b"", store))
    erp = {"url": None, "sql": None, "files": f"{folder}/{{vendor}}.csv{dialect.packed}", **dialect.settings()}
    _each_sku_becomes_what_is_right(make_world(erp=erp), files)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(KINDS)[:: 1 if ALL else 3])
def test_of_a_file_of_another_kind_every_sku_becomes_what_is_right(make_world, tmp_path, name):
    kind, files = KINDS[name], {}
    for fault, rule in kinds.FAULTS.items():
        store = fault.replace("_", "-")
        data, files[store] = rule(kind)
        (tmp_path / f"{store}{kind.ending}").write_bytes(data)
    erp = {"url": None, "sql": None, "files": f"{tmp_path}/{{vendor}}{kind.ending}", **kind.settings}
    _each_sku_becomes_what_is_right(make_world(erp=erp), files)


def _each_sku_becomes_what_is_right(world, files):
    """Through check, plan, sync and explain; `files`: store -> its file."""
    for store in files:
        products = [{"sku": sku, "title": sku, "price": BEFORE, "active": True} for sku in SKUS]
        world.platform.control("PUT", f"chains/demo-chain/vendors/{store}", {"name": store})
        world.platform.put_products(store, products)
    world.app.check()
    world.sync("full", dry_run=True)
    assert world.sent() == [], "a plan sends nothing"
    summary = world.sync("full")
    failed = {row["vendor"]: row["error"] for row in summary["vendors"] if row["state"] == "failed"}
    assert failed.keys() == {store for store, file in files.items() if file.fails}
    wrong = []
    for store, file in files.items():
        shown = {sku: (row["price"], row["active"]) for sku, row in world.shown(store).items()}
        wanted = dict.fromkeys(SKUS, (BEFORE, True))
        if file.fails:
            wrong += [] if file.fails in failed[store] else [f"{store} fails, because {failed[store]}"]
        else:
            wanted |= {sku: (BEFORE if price is None else price, on) for sku, (price, on) in file.wanted.items()}
        wrong += [
            f"{store} {sku}: {shown.get(sku)} and not {wanted.get(sku)}"
            for sku in shown.keys() | wanted
            if shown.get(sku) != wanted.get(sku)
        ]
        wrong += [f"{store} {sku}: {line}" for sku in file.quarantined for line in _not_told(world, store, sku)]
        wrong += [f"{store}: {line}" for line in _not_explained(world, store, file)]
    assert sorted(wrong) == []


def _not_explained(world, store, file):
    """What explain does not say of one right row of the file: the platform acknowledged its price."""
    priced = [(sku, price) for sku, (price, on) in file.wanted.items() if on and price is not None and not file.fails]
    for sku, price in priced[-1:]:
        told = world.app.explain(store, sku).sentence
        if f"{price:.2f}" not in told or "acknowledged" not in told:
            yield f"explain does not say that {price} of {sku} is acknowledged: {told}"


def _not_told(world, store, sku):
    """What is missing for a person who asks why the app shows another price than the ERP's list."""
    quarantined = world.rows(f"SELECT raw FROM warehouse.quarantine WHERE vendor = '{store}' AND NOT row_sent")
    if not any(sku in row.raw for row in quarantined):
        yield f"is in no row of the quarantine: {quarantined}"
    told = world.app.explain(store, sku).sentence
    if "quarantine" not in told and "extract" not in told:
        yield f"explain is silent: {told}"
