"""A quote that is never closed, and a later one that ends its cell: the rows between are no row, and a real cell of several lines is one."""

from __future__ import annotations

import gzip

import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import IncompleteExtractError
from shelfsync.settings import ErpSettings

HEADER = ["sku", "name", "price", "quantity", "active"]
MILK, PEAS = ["100001", "Milk 1L", "1.99", "10", "true"], ["100009", "Peas", "5.99", "14", "true"]


@pytest.fixture
def read_lines(tmp_path):
    """Reads a CSV of these lines (lists: cells): (sku -> price of each row, the text of each quarantined row, the proof)."""

    def read(*lines, delimiter=",", end="\n", name="erp.csv", **settings):
        text = end.join(line if isinstance(line, str) else delimiter.join(line) for line in lines) + end
        data = text.encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        settings = {"files": str(path), "constants": {"vendor": "v"}, "csv_delimiter": delimiter, **settings}
        with open_source(ErpSettings(**settings)).read() as extract:
            rows = [row for table in extract for row in table.to_pylist()]
            proof = extract.proof()
        good = {row["sku"]: row["price"] for row in rows if not row["sku"].startswith("\ufffd")}
        return good, [row["sku"] for row in rows if row["sku"].startswith("\ufffd")], proof

    return read


def two(delimiter=",", first="\"Grandma's jam", last='TV stand 24"', between=()):
    """Lines 3 and following: a name with a stray quote, rows between, and a name that ends with a quote."""
    return [
        delimiter.join(["100003", first, "3.99", "12", "true"]),
        *(delimiter.join([str(200000 + number), "Rice", "2.49", "7", "true"]) for number in range(between or 0)),
        delimiter.join(["100004", last, "14.99", "0", "true"]),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "tab"])
@pytest.mark.parametrize("name", ["erp.csv", "erp.csv.gz"])
def test_two_rows_that_a_quote_joins_are_quarantined_with_their_lines(read_lines, delimiter, end, name):
    sign = "\t" if delimiter == "tab" else delimiter
    lines = [sign.join(HEADER), sign.join(MILK), *two(sign), sign.join(PEAS)]
    good, quarantined, proof = read_lines(*lines, delimiter=delimiter, end=end, name=name)
    assert good == {"100001": "1.99", "100009": "5.99"}
    assert [text.partition(":")[0] for text in quarantined] == ["\ufffd line 3", "\ufffd line 4"]
    assert "joined by a quote, lines 3-4" in quarantined[0]
    assert "CSV_QUOTING" in quarantined[0]
    assert "100003" in quarantined[0]
    assert "100004" in quarantined[1]
    assert not proof.complete


@pytest.mark.parametrize("rows", [1, 2, 50])
def test_every_row_between_is_named_and_counts_as_one(read_lines, tmp_path, rows):
    (tmp_path / "count").write_text(str(rows + 4))
    lines = two(between=rows)
    good, quarantined, proof = read_lines(HEADER, MILK, *lines, PEAS, control_file=str(tmp_path / "count"))
    assert good == {"100001": "1.99", "100009": "5.99"}
    assert len(quarantined) == rows + 2
    assert (proof.rows, proof.expected) == (rows + 4, rows + 4)
    assert proof.doubtful, "of the store, which is known, nothing is proven"


STRAY = {
    "a name with a delimiter before": two(first='"Jam, red'),
    "a name with a delimiter behind": two(last='TV, stand 24"'),
    "the last name in quotes": two(last='"Peas, frozen"'),
    "an empty name in quotes between": [*two()[:1], '200001,"",2.49,7,true', *two()[1:]],
    "a doubled quote at the end": [*two(last='TV 24""'), '100005,Frame 9",1.00,1,true'],
    "an empty price": ['100003,"Jam,,12,true', '100004,TV 24",14.99,0,true'],
    "a price that is none": ['100003,"Jam,n/a,12,true', '100004,TV 24",14.99,0,true'],
    "a null word": ['100003,"Jam,NULL,12,true', '100004,TV 24",14.99,0,true'],
    "a row of another width between": [*two()[:1], "200001,Rice,2.49", *two()[1:]],
    "a wrong width in all": ['100003,"Jam,3.99,12,true', '100004,TV,24",14.99,0,true'],
    "an empty line between": [*two()[:1], "", *two()[1:]],
    "never closed": two(last="TV stand"),
}


@pytest.mark.parametrize("lines", STRAY.values(), ids=STRAY)
def test_no_row_gets_the_values_of_another(read_lines, lines):
    good, quarantined, proof = read_lines(HEADER, MILK, MILK, PEAS, *lines)
    assert good.keys() <= {"100001", "100009", "100005"}
    assert good["100001"] == "1.99"
    assert quarantined
    assert "line 5: " in quarantined[0]
    assert not proof.complete


def test_a_quote_that_is_never_closed_costs_the_lines_up_to_the_longest_cell(read_lines):
    rows = [[str(300000 + number), "Rice", "2.49", "7", "true"] for number in range(8000)]
    good, quarantined, proof = read_lines(HEADER, MILK, two()[0], *rows)
    assert "300000" not in good
    assert "307999" in good
    assert len(good) + len(quarantined) == 8002 == proof.rows
    assert not proof.complete


@pytest.mark.parametrize("place", range(5))
def test_the_cell_may_be_in_any_column(read_lines, place):
    """In the last column the first row has its own values, and the second one is lost: it is found all the same."""

    def moved(cells):
        rest = [cells[0], *cells[2:]]
        return ",".join([*rest[:place], cells[1], *rest[place:]])

    lines = [moved(line.split(",")) for line in two()]
    good, quarantined, _ = read_lines(moved(HEADER), moved(MILK), *lines, moved(PEAS))
    assert good == {"100001": "1.99", "100009": "5.99"}
    assert len(quarantined) == 2


def test_the_first_rows_of_a_file_may_be_the_joined_ones(read_lines):
    assert read_lines(HEADER, *two(), MILK, PEAS)[0] == {"100001": "1.99", "100009": "5.99"}
    assert read_lines(HEADER, *two(), MILK, chunk_rows=1)[0] == {"100001": "1.99"}


GENUINE = [
    '"Jam\nsweet and red"',
    '"Jam\r\nsweet"',
    '"Jam\n\nsweet"',
    '"Contains nuts, milk, soy\nMay contain eggs, wheat, 5 spices, and celery"',
    '"Set of 3: red, blue, green, and 2 more\nBoxes: 3, 4 and 5"',
    '"6 x 24"" frames\nwith hooks, 12 of them"',
    '"\nJam"',
    '"a,b,c,d,e,f\ng,h,i,j,k,l"',
]


@pytest.mark.parametrize("name", GENUINE)
@pytest.mark.parametrize("place", [1, 4])
def test_a_real_cell_of_several_lines_is_a_cell(read_lines, name, place):
    header = [*HEADER[:1], *HEADER[2:]]
    header.insert(place, "name")
    rows = []
    for sku, text in (("1", "Milk"), ("2", name), ("3", "Peas")):
        row = [sku, "1.50", "4", "true"]
        row.insert(place, text)
        rows.append(row)
    good, quarantined, _ = read_lines(header, *rows)
    assert (good, quarantined) == (dict.fromkeys("123", "1.50"), [])


def test_quotes_inside_of_a_cell_are_characters(read_lines):
    names = ['TV 24" stand', '24" x 36"', 'TV 24"', 'the "best" jam', '"24"" TV"', '""']
    rows = [[str(number), name, "1.50", "4", "true"] for number, name in enumerate(names)]
    assert read_lines(HEADER, *rows)[:2] == ({str(number): "1.50" for number in range(len(names))}, [])


def test_without_quoting_a_quote_is_a_character_as_any_other(read_lines):
    lines = [*two(), '100005,"Peas",5.99,1,true', '100006,""x,6.99,1,true']
    good, quarantined, _ = read_lines(HEADER, MILK, *lines, csv_quoting="none")
    assert good == {"100001": "1.99", "100003": "3.99", "100004": "14.99", "100005": "5.99", "100006": "6.99"}
    assert quarantined == []


def test_without_quoting_a_quote_ends_no_file(tmp_path):
    (tmp_path / "erp.csv").write_text('sku,name\n1,"Jam"')
    settings = {"files": str(tmp_path / "erp.csv"), "constants": {"vendor": "v"}, "columns": {"price": "name"}}
    with (
        pytest.raises(IncompleteExtractError, match="does not end with a line break"),
        open_source(ErpSettings(**settings, csv_quoting="none")).read() as extract,
    ):
        list(extract)


LAST = {
    "in the name": '100004,"TV 24,14.99,3,true',
    "in the last column": '100004,TV,14.99,3,"true',
    "with a blank line behind": '100004,"TV 24,14.99,3,true\n',
}


@pytest.mark.parametrize("line", LAST.values(), ids=LAST)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quote_without_an_end_in_the_last_row_costs_this_row(read_lines, tmp_path, line, end):
    (tmp_path / "count").write_text("3")
    good, quarantined, proof = read_lines(HEADER, MILK, PEAS, line, end=end, control_file=str(tmp_path / "count"))
    assert good == {"100001": "1.99", "100009": "5.99"}
    assert quarantined[0].startswith("\ufffd line")
    assert ": unexpected end" in quarantined[0]
    assert proof.doubtful, "the file may have been cut there, so nothing is concluded from absence"


@pytest.mark.parametrize(
    "line", ['100004,"TV 24', '100004,"TV,24,of,inches\nin a box', '100004,"TV,24,of,inches\nin,a,box']
)
def test_a_cell_that_is_cut_at_one_of_its_line_breaks_is_a_cut(read_lines, line):
    with pytest.raises(IncompleteExtractError, match="was cut in the middle of the row that begins in line 4"):
        read_lines(HEADER, MILK, PEAS, line)
