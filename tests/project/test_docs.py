"""The documentation: every link, path, setting and page of the navigation is there, and each page names its reader."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

import partner_api
from command_tree import commands, options
from scripts.prose import long_ones, replaced
from scripts.reference.__main__ import MADE, redirect, whole
from scripts.reference.pictures import DRAWINGS, svg
from scripts.reference.program import EXAMPLES
from shelfsync import errors, logs
from shelfsync.catalog.steps.plan import read as read_plan
from shelfsync.errors import DataError, ShelfsyncError
from shelfsync.pages.app import PAGES as WEB_PAGES
from shelfsync.settings import Settings, read_settings
from shelfsync.settings.reading import shown_settings
from shelfsync.settings.secret_files import file_variables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = sorted(DOCS.rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *SITE]
CODE = [
    file
    for folder in ("include", "sandbox", "plugins", "dags", "tests", "scripts", "benchmarks")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".sql", ".html", ".sh", ".toml"}
]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as the site and the code host make them, and those that are written."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """The pages as the site has them."""
    return {str(page.relative_to(DOCS)): page.read_text("utf-8") for page in SITE}


@pytest.mark.slow
def test_the_reference_is_what_the_code_states(site):
    """A message names a place of these pages, so a checkout has them whole."""
    stale = [name for name in MADE if site[name] != whole(name)]
    assert stale == [], "to write these pages anew, run: .venv/bin/python -m scripts.reference"


def test_every_link_of_the_site_leads_to_a_page_and_its_heading(site):
    broken = []
    for page, text in site.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            target = os.path.normpath(Path(page).parent / path) if path else page
            if re.match(r"[a-z]+:", link) or (not target.endswith(".md") and (DOCS / target).is_file()):
                continue
            if target not in site or (anchor and anchor not in anchors(site[target])):
                broken.append(f"docs/{page}: {link}")
    assert broken == []


def test_every_link_of_the_other_pages_leads_to_a_file():
    broken = [
        f"{page.name}: {link}"
        for page in ROOT.glob("*.md")
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
        if not re.match(r"[a-z]+:", link) and not (ROOT / link.partition("#")[0]).exists()
    ]
    assert broken == []


def test_the_drawings_are_what_the_command_draws():
    """`python -m scripts.reference.pictures` writes them."""
    drawn = {file.stem: file.read_text("utf-8") for file in (DOCS / "pictures").glob("*.svg")}
    assert drawn == {name: svg(drawing) for name, drawing in DRAWINGS.items()}


def test_the_readme_is_read_in_minutes():
    prose = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(re.sub(r"\]\([^)]*\)|[|#*`]", " ", prose).split()) < 650


def test_the_prose_check_sees_long_sentences_and_replaced_words_and_no_code():
    short, long = " ".join(["word"] * 25) + ".", " ".join(["word"] * 26) + "."
    assert (long_ones(short), long_ones(f"{short} {long}")) == ([], [long])
    assert long_ones(f"| {long} |\n\n```\n{long}\n```\n") == []
    assert replaced("It heals `says` at once. In\nvain.") == [
        "'heals': write 'resends'",
        "'In vain': write 'consecutive failures'",
    ]


def test_every_page_that_code_or_a_message_names_is_there():
    named = {
        f"{file.relative_to(ROOT)}: {page}"
        for file in CODE
        for page in re.findall(r"docs/[\w/-]+\.md", file.read_text("utf-8"))
        if not (ROOT / page).exists() and not (ROOT / "sandbox" / page).exists()
    }
    assert named == set()


def test_the_path_that_a_message_names_leads_to_its_page_of_the_site(tmp_path):
    pages = {"reference/errors.md": "reference/errors.html", "how-to/runbooks/README.md": "how-to/runbooks/index.html"}
    for name, html in pages.items():
        for file in (tmp_path / "pages" / name, tmp_path / "site" / html):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    redirect(tmp_path / "site", tmp_path / "pages")
    for name, html in pages.items():
        folder = tmp_path / "site/docs" / name
        target = re.search(r"location.replace\('(.+)' \+ location.hash\)", (folder / "index.html").read_text("utf-8"))
        assert target is not None
        assert (folder / target[1]).resolve() == (tmp_path / "site" / html).resolve()


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in SITE)


def test_every_page_names_its_reader():
    without = [
        str(page.relative_to(ROOT))
        for page in SITE
        if not re.match(r"# .+\n\nFor [a-z]", page.read_text("utf-8")) and not re.match(r"\d{4}-", page.name)
    ]
    assert without == []


def _of_compose() -> set[str]:
    """What docker-compose.yaml, and the file that production lays over it, take from `.env`."""
    files = (ROOT / "docker-compose.yaml", ROOT / "deploy/compose.production.yaml")
    return {name for file in files for name in re.findall(r"\$\{(\w+)", file.read_text("utf-8"))}


def test_every_setting_that_a_page_names_is_there():
    known = {"SHELFSYNC_CONFIG"} | _of_compose() | {f"SHELFSYNC_{name}" for name in file_variables(Settings)}
    of_a_chain = re.compile(r"^SHELFSYNC_CHAINS__[A-Z]+__")
    for name, field in Settings.model_fields.items():
        known.add(f"SHELFSYNC_{name}".upper())
        inner = getattr(field.annotation, "model_fields", {})
        known |= {f"SHELFSYNC_{name}__{one}".upper() for one in inner}
    deeper = tuple(f"{name}__" for name in known if name.count("__") == 1)
    unknown = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        if page.name != "CHANGELOG.md"  # it names retired ones
        for name in re.findall(r"\bSHELFSYNC_[A-Z_]*[A-Z](?![A-Z_…]|\.\.\.|__)", page.read_text("utf-8"))
        if (whole := of_a_chain.sub("SHELFSYNC_", name)) not in known and not whole.startswith(deeper)
    }
    assert unknown == set()


def test_every_abbreviated_setting_is_the_end_of_one():
    """`CUSTOMER_DAYS` or `__COLUMNS`: what stands in capitals in backticks is a setting's end, a value of the interface, or another program's."""
    others = {"ALARMS_URL", "ALLOW_SNAPSHOT_ISOLATION", "AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL", "AWS_PROFILE"}
    others |= {"AWS_REGION", "FORWARDED_ALLOW_IPS", "NO_COLOR", "OTEL_ON", "SSL_CERT_FILE"}
    contract = (ROOT / "contract/openapi.yaml").read_text("utf-8")
    known = {"_" + row["variable"] for row in shown_settings()}
    others |= _of_compose()
    unknown = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in SITE
        for name in re.findall(r"`(?:__)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", page.read_text("utf-8"))
        if name not in others and name not in contract and not any(one.endswith(f"_{name}") for one in known)
    }
    assert unknown == set()


def test_the_reference_prints_the_schedule_of_each_dag(site):
    """Only the urgent sync waits for a person; the others print the default of their option."""
    page = site["reference/dags.md"]
    printed = dict(re.findall(r"^## (\w+)\n\nSchedule: (.*)$", page, re.MULTILINE))
    assert set(printed) == {file.stem for file in (ROOT / "dags").glob("*.py")}
    assert [name for name, when in printed.items() if when.startswith("none")] == ["catalog_urgent_sync"]
    for name, when in printed.items():
        option = re.search(r"option `(\w+)`", when)
        assert option is None or f"The schedule is the option `{option[1]}`" in re.sub(r"\s+", " ", page), name


def test_every_setting_has_a_meaning_and_an_example_that_can_be_read(site, monkeypatch):
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    rows = dict(re.findall(r"^\| `(SHELFSYNC_\w+)` (\|.*)$", site["reference/settings.md"], re.MULTILINE))
    assert set(rows) >= {row["variable"] for row in shown_settings()}
    for name, row in rows.items():
        *_, example, meaning, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", row))
        assert len(meaning) > 10, name
        assert example, name
    for name, example in EXAMPLES.items():
        if name != "config":
            monkeypatch.setenv("SHELFSYNC_" + name.replace(".", "__").upper(), example)
    monkeypatch.setenv(f"SHELFSYNC_CHAINS__{EXAMPLES['chain'].upper()}__CURRENCY", "EUR")
    read_settings()


def test_the_reference_names_the_version_since_which_all_settings_exist(site):
    """Nothing is released yet. After the first release, a setting that comes later names its own version in its meaning."""
    first = re.findall(r"^## (\d+\.\d+\.\d+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[-1]
    page = re.sub(r"\s+", " ", site["reference/settings.md"])
    assert f"All settings exist since version {first}, the first release." in page


def test_every_command_and_option_stands_in_the_reference(site):
    parts = dict(_parts("## (.+)", site["reference/commands.md"]))
    leaves = {" ".join(words): command for words, command in commands()}
    assert set(parts) == set(leaves)
    missing = [
        f"{name} {spelling}"
        for name, command in leaves.items()
        for spelling in options(command)
        if spelling not in {"-h", "--help"}
        and not re.search(rf"^\| `(?:[^`]*, )?{spelling}\b", parts[name], re.MULTILINE)
    ]
    assert missing == []


def test_every_table_view_and_column_of_the_database_stands_in_the_reference(site, engine):
    schemas = dict(_parts(r"## Schema (\w+)", site["reference/ledger.md"])) | {
        "warehouse": site["reference/warehouse.md"]
    }
    tables = {(schema, name): part for schema, text in schemas.items() for name, part in _parts(r"###? (\w+)", text)}
    with engine.connect() as connection:
        columns = connection.exec_driver_sql(
            "SELECT n.nspname, c.relname, a.attname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relkind IN ('r', 'p', 'v', 'm')"
            " AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema|public)'"
        ).all()
    assert len(columns) > 800
    lacking = {(*key, name) for *key, name in columns if f"\n| {name} | " not in tables.get(tuple(key), "")}
    assert lacking == set()


def _parts(heading: str, text: str) -> list[tuple[str, str]]:
    """The parts of a page below each heading, by what the heading's group matches."""
    split = re.split(rf"^{heading}\n", text, flags=re.MULTILINE)
    return list(zip(split[1::2], split[2::2], strict=True))


def test_every_public_name_of_the_client_stands_in_the_reference(site):
    named = set(re.findall(r"^## (\w+)$", site["reference/client.md"], re.MULTILINE))
    assert named == set(partner_api.__all__)


def test_every_section_of_the_interface_that_code_cites_is_there(site):
    known = set(re.findall(r"^#+ ([\d.]+) ", site["reference/interface.md"], re.MULTILINE))
    cited = set()
    for file in [*CODE, *SITE]:
        for numbers in re.findall(r"interface\.md ((?:\d[\d.]*(?:, | to | and )?)+)", file.read_text("utf-8")):
            cited |= {(str(file.relative_to(ROOT)), one.rstrip(".")) for one in re.findall(r"\d[\d.]*", numbers)}
    assert len(cited) > 50
    assert {one for one in cited if one[1] not in known and one[1].rpartition(".")[0] not in known} == set()


def test_twenty_questions_of_an_operator_are_answered_on_their_pages(site):
    table = (ROOT / "tests/project/questions.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+\?) \| \[.*?\]\((.*?)\) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 20
    text = {page: re.sub(r"\s+", " ", one) for page, one in site.items()}
    assert [question for question, page, words in rows if words not in text[page]] == []


def test_every_page_of_the_menu_is_described_with_its_screenshot(site):
    page = site["reference/pages.md"]
    parts = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(parts) == {page.title for page in WEB_PAGES}
    assert [title for title, text in parts.items() if "../pictures/pages/" not in text] == []


def test_every_error_leads_to_its_place_on_the_page_of_errors(site, tmp_path, monkeypatch):
    places = anchors(site["reference/errors.md"])
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ShelfsyncError)]
    assert {kind.__name__.lower() for kind in kinds} <= places
    assert DataError("raised by no function").page == "docs/reference/errors.md#dataerror"
    table = site["reference/errors.md"].partition("## BrokenOffError")[2].partition("\n## ")[0]
    assert "Nothing was sent; run it again. If it is slow or locked, look at SHELFSYNC_ERP__TIMEOUT_S" in table
    raised = [(lambda: read_plan(tmp_path / "nowhere.json"), "catalog.steps.plan.read")]
    for name, value in (("CONFIG", "/nowhere.toml"), ("SYNC__POLL_FIRST_S", "soon"), ("ERP__COLUMNS", "{")):
        monkeypatch.setenv(f"SHELFSYNC_{name}", value)
        with pytest.raises(ShelfsyncError) as caught:
            read_settings()
        raised.append((read_settings, caught.value.page.partition("#")[2]))
        monkeypatch.delenv(f"SHELFSYNC_{name}")
    with pytest.raises(DataError) as caught:
        raised[0][0]()
    assert caught.value.page == f"docs/reference/errors.md#{raised[0][1]}"
    assert len(raised) == 4
    assert [place for _, place in raised if place not in places or "." not in place] == []


@pytest.mark.slow
def test_every_metric_and_log_field_is_documented(site):
    page = site["reference/observability.md"]
    table = page.partition("## Metrics")[2]
    listed = {
        re.sub(r"[A-Z]+", "*", name if name[0] != "." else first.rpartition(".")[0] + name)
        for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
        for first in [re.findall(r"`([^`]+)`", row)[0]]
        for name in re.findall(r"`([^`]+)`", row)
    }
    found = set()
    for file in (ROOT / "include/shelfsync").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(r"metrics\.(count|gauge|timing)", ast.unparse(node.func)):
                given = node.args[0]
                texts = [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]
                for text in texts:
                    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                    found.add("".join(part.value if isinstance(part, ast.Constant) else "*" for part in parts))
    assert len(found) > 20
    pattern = {name: re.compile(re.escape(name).replace(r"\*", r"[\w*]+") + "$") for name in found | listed}
    unlisted = {
        name for name in found if not any(pattern[name].match(one) or pattern[one].match(name) for one in listed)
    }
    assert unlisted == set()
    assert [field for field in logs.FIELDS if f"`{field}`" not in page] == []
