"""The tables' layouts are what the storage design lists, and what is really written."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow.parquet as pq
import pytest
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.types import ListType, StructType

from memory.tables.arrow import RECORDS, from_arrow, to_arrow
from memory.tables.encode import ScopePart
from memory.tables.files import local_path
from memory.tables.layouts import LAYOUTS, PROPERTIES
from tests.memory.tables.book import NAMESPACE, Book, commit_id
from tests.memory.tables.rows import one_of_each

# id, name, type, required: storage design, section 8.
EPISODES = """
1 episode_id string !|2 commit_id string !|3 branch_id long !|4 source string !
5 episode_type string !|6 document string|7 version_of string|8 occurred_at timestamptz !
9 recorded_at timestamptz !|10 body_sha256 string !|11 body_len long !|12 author string
13 acl list<string> !|14 about list<string>|15 tags list<string>|16 meta string
17 origin_commit_id string
"""
BODIES = """
1 sha256 string !|2 commit_id string !|3 body_len long !|4 body string|5 blob string
6 codec string|7 recorded_at timestamptz !
"""
FACTS = """
1 fact_id string !|2 commit_id string !|3 branch_id long !|4 entity string !|5 entity_type string
6 predicate string !|7 value string|8 value_type string|9 value_key string|10 value_num double
11 value_ts timestamptz|12 valid_from timestamptz|13 valid_to timestamptz|14 closes boolean !
15 closes_fact_id string|16 quote string|17 quote_unit int|18 evidence list<struct> !
19 written_by string !|20 confidence double|21 recorded_at timestamptz !|22 schema_version int
23 meta string|24 origin_commit_id string
"""
TOMBSTONES = """
1 episode_id string !|2 commit_id string !|3 branch_id long !|4 mode string !
5 reason_episode_id string|6 author string|7 recorded_at timestamptz !|8 meta string
9 origin_commit_id string
"""
SCHEMAS = """
1 commit_id string !|2 branch_id long !|3 name string !|4 version int !|5 body string !
6 body_sha256 string !|7 author string|8 recorded_at timestamptz !|9 origin_commit_id string
"""
ACL_CHANGES = """
1 episode_id string !|2 commit_id string !|3 acl list<string> !|4 expected_acl list<string> !
5 author string !|6 reason string|7 recorded_at timestamptz !
"""
LEDGER = """
1 seq long !|2 commit_id string !|3 parent_seq long|4 prev_hash string !|5 scope string !
6 branch_id long !|7 branch string !|8 kind string !|9 from_branch_id long|10 from_seq long
11 committed_at timestamptz !|12 author string !|13 batch_id string !|14 job_id string
15 message string|16 episode_count int !|17 fact_count int !|18 payload_hash string !
19 schema_version int|20 episodes_snapshot long|21 facts_snapshot long|22 meta string
"""
LISTED = {
    "episodes": (EPISODES, {"acl": 18, "about": 19, "tags": 20}),
    "bodies": (BODIES, {}),
    "facts": (FACTS, {"evidence": 25}),
    "tombstones": (TOMBSTONES, {}),
    "schemas": (SCHEMAS, {}),
    "acl_changes": (ACL_CHANGES, {"acl": 8, "expected_acl": 9}),
    "ledger": (LEDGER, {}),
}


def _written(layout: Schema) -> list[str]:
    lines = []
    for field in layout.fields:
        kind = str(field.field_type)
        if isinstance(field.field_type, ListType):
            inner = field.field_type.element_type
            kind = "list<struct>" if isinstance(inner, StructType) else f"list<{inner}>"
        needed = " !" if field.required else ""
        lines.append(f"{field.field_id} {field.name} {kind}{needed}")
    return lines


@pytest.mark.parametrize("table", sorted(LISTED))
def test_a_layout_is_the_listed_one(table: str) -> None:
    """Documented: storage design, section 8, field ids and required flags."""
    listed, elements = LISTED[table]
    assert _written(LAYOUTS[table]) == listed.strip().replace("\n", "|").split("|")
    found = {
        field.name: field.field_type.element_id
        for field in LAYOUTS[table].fields
        if isinstance(field.field_type, ListType)
    }
    assert found == elements


def test_evidence_numbers_its_own_fields_after_all_others() -> None:
    """Documented: list(25 struct(26 episode_id, 27 unit))."""
    evidence = LAYOUTS["facts"].find_type("evidence")
    assert isinstance(evidence, ListType)
    assert isinstance(evidence.element_type, StructType)
    ids = [(field.field_id, field.name) for field in evidence.element_type.fields]
    assert ids == [(26, "episode_id"), (27, "unit")]


@pytest.mark.parametrize("table", sorted(LAYOUTS))
def test_a_record_has_the_fields_of_its_table_in_their_order(table: str) -> None:
    """Ours: a field here is a field there, by name."""
    assert list(get_type_hints(RECORDS[table])) == [field.name for field in LAYOUTS[table].fields]


def test_a_created_table_has_the_listed_layout_and_properties(book: Book, metadata_of: Any) -> None:
    """Documented: what is on the disk, read by stock code, is what the design fixed."""
    book.land(one_of_each(commit_id()))
    for table, layout in LAYOUTS.items():
        at = metadata_of("memory_system" if table == "ledger" else NAMESPACE, table)
        created = StaticTable.from_metadata(at)
        assert created.schema() == layout
        assert created.properties == PROPERTIES
        assert created.properties["commit.retry.num-retries"] == "0"
        assert created.metadata.format_version == 2


def test_data_files_carry_the_field_ids(book: Book, metadata_of: Any) -> None:
    """Ours: other engines find columns by id, so a renamed column stays readable."""
    book.land(one_of_each(commit_id()))
    for file in (book.warehouse.root / NAMESPACE / "facts" / "data").glob("*.parquet"):
        schema = pq.read_schema(file)
        ids = [int(schema.field(n).metadata[b"PARQUET:field_id"]) for n in range(len(schema))]
        assert ids == list(range(1, 25))
    metadata = json.loads(local_path(metadata_of(NAMESPACE, "facts")).read_bytes())
    assert metadata["last-column-id"] == 27


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    """Ours: None, empty lists, times before 1970 and beyond ASCII survive the way to Arrow."""
    part = one_of_each(commit_id())
    for table, rows in part.tables():
        assert list(from_arrow(RECORDS[table], to_arrow(table, rows))) == list(rows)
    assert ScopePart("empty").tables() == []
