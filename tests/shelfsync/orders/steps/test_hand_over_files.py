"""Files for stores appear complete, each store in its own folder; a missing share is no store that took all."""

from __future__ import annotations

import json
import shutil
import uuid

import pytest
import sqlalchemy as sa

from shelfsync.errors import TryAgainError
from shelfsync.orders.hand_over_channel import Document
from shelfsync.orders.steps.hand_over_files import Files


def died_after_writing(world):
    """A process that was killed between writing and its commit: the hand-over waits and is due again."""
    with world.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE ledger.hand_over SET state = 'waiting', written_at = NULL, taken_at = NULL, next_try_at = NULL"
            )
        )


def test_a_file_that_was_written_before_the_process_died_comes_again_as_the_same(world):
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    (first,) = list(world.folder.glob("*/*"))
    before = first.read_bytes()
    died_after_writing(world)
    world.app.orders.hand_over()
    assert [(file, file.read_bytes()) for file in world.folder.glob("*/*")] == [(first, before)]


def test_two_stores_never_share_a_folder_and_none_leaves_the_root(tmp_path):
    names = ["store/1", "store_1", "store%2F1", "..", ".", "%2E", ".hidden", "", "_", "Lager Süd", "a b", "store-1"]
    root = tmp_path / "stores"
    root.mkdir()
    for number, vendor in enumerate(names, 1):
        assert Files(str(root)).write(Document(number, "o", "new", vendor, vendor)) is False
    folders = {file.parent.name: file.read_text() for file in root.rglob("*.json")}
    assert len(folders) == len(names)
    assert not [file for file in tmp_path.rglob("*.json") if file.parent.parent != root]
    taken = Files(str(root)).taken([(number, vendor, "new") for number, vendor in enumerate(names, 1)])
    assert taken == []
    for file in root.glob("*/*.json"):
        if file.read_text() in {"store-1", "a b"}:
            file.unlink()
    (root / "store-1").rmdir()
    taken = Files(str(root)).taken([(number, vendor, "new") for number, vendor in enumerate(names, 1)])
    assert [names[number - 1] for number in taken] == ["a b", "store-1"]


def test_a_folder_that_cannot_be_used_hides_no_other_stores_documents(tmp_path):
    """A link that leads to itself stands for a share that the system cannot read."""
    channel, customer = Files(str(tmp_path)), json.dumps({"customer": {"name": "canary"}, "kind": "new"})
    for number, vendor in enumerate(("store-1", "store-2", "store-3"), 1):
        channel.write(Document(number, "o", "new", vendor, customer))
    (tmp_path / "store-3" / "000000000003-new.json").unlink()
    shutil.rmtree(tmp_path / "store-1")
    (tmp_path / "store-1").symlink_to(tmp_path / "store-1")
    written = [(1, "store-1", "new"), (2, "store-2", "new"), (3, "store-3", "new")]
    assert channel.taken(written) == [3]
    with pytest.raises(TryAgainError, match="cannot be used"):
        channel.remove_customers(written)
    assert "canary" not in (tmp_path / "store-2" / "000000000002-new.json").read_text()


@pytest.mark.slow
def test_while_the_folder_of_all_stores_is_missing_nothing_is_taken_written_or_created(world, tmp_path):
    """A share that is not mounted."""
    first, second = world.place("MILK"), world.place("JAM")
    world.receive_events()
    assert world.app.orders.hand_over()["written"] == 2
    away = tmp_path / "away"
    shutil.copytree(world.folder, away)
    shutil.rmtree(world.folder)
    third = world.place("MILK")
    world.receive_events()

    counts = world.app.orders.hand_over()

    assert (counts["written"], counts["taken"], len(counts["failed"])) == (0, 0, 1)
    assert "HAND_OVER_URL cannot be used: No such file or directory" in next(iter(counts["failed"].values()))
    with pytest.raises(TryAgainError, match="share is mounted"):
        world.app.orders.forget([first["order_id"]])
    assert not world.folder.exists()

    shutil.copytree(away, world.folder)
    next((world.folder / "store-001").glob("*.json")).unlink()
    counts = world.app.orders.hand_over()
    assert (counts["written"], counts["taken"]) == (1, 1)
    left = {document["order_id"] for document in world.documents()}
    assert left < {first["order_id"], second["order_id"], third["order_id"]}
    assert third["order_id"] in left


def test_in_an_object_store_which_has_no_folders_a_store_without_a_file_has_taken_all():
    """The memory of the process stands for it."""
    channel = Files(f"memory://{uuid.uuid4()}/orders")
    assert channel.taken([(1, "store-1", "new")]) == [1]
    assert channel.write(Document(1, "o", "new", "store-1", "{}")) is False
    assert channel.taken([(1, "store-1", "new"), (2, "store-2", "new")]) == [2]


def test_the_store_takes_a_file_by_removing_it(world):
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    assert world.rows("SELECT state FROM ledger.hand_over") == [("written",)]
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    assert world.app.orders.hand_over()["taken"] == 1
