"""The documented promises that this version keeps, and the tests that hold it to each.

`tests/architecture/test_behaviours.py` fails if a promise has no test, or names one that is gone.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise.

    Args:
        id: stable.
        says: in one sentence, what a user can count on.
        source: where it is promised.
        tests: `path::name`, or a path where all of a module's tests are about it; below `tests/`.
    """

    id: str
    says: str
    source: str
    tests: tuple[str, ...]


def _promised(source: str, *rows: tuple[str, str, tuple[str, ...]]) -> tuple[Behaviour, ...]:
    return tuple(Behaviour(id_, says, source, tests) for id_, says, tests in rows)


_ARCHITECTURE: Final = _promised(
    "architecture, section 3",
    (
        "visible-after-ledger",
        "A row is there if its commit's ledger row is; no crash leaves half a write to be seen.",
        (
            "crash/test_deaths.py",
            "memory/tables/test_landing.py::test_what_landed_is_read_back_whole",
        ),
    ),
    (
        "one-chain",
        "The ledger has neither gap nor fork, each row seals the one before, and damage is named.",
        (
            "memory/domain/test_chain.py",
            "memory/tables/test_verify.py",
            "crash/test_together.py::test_sixteen_processes_write_while_the_index_is_rebuilt_moved_and_compacted",
        ),
    ),
    (
        "acknowledged-is-kept",
        "What was answered is on the disk and found by the very next read.",
        (
            "memory/services/test_episodes.py::test_a_note_is_found_and_read_as_soon_as_it_is_answered",
            "memory/tables/test_landing.py::test_every_file_is_flushed_with_its_folders_before_anything_points_at_it",
        ),
    ),
    (
        "repeat-changes-nothing",
        "The same write again writes nothing and names the commit that made it so.",
        (
            "memory/services/test_episodes.py::test_the_same_note_again_changes_nothing_and_names_the_first_commit",
            "memory/domain/test_landing.py::test_the_same_write_right_after_itself_changes_nothing",
            "memory/api/test_episodes.py::test_the_same_note_again_changes_nothing",
        ),
    ),
    (
        "derived-index",
        "The index can be dropped and is built from the tables again, with every answer as before.",
        ("memory/search/test_rebuild.py", "memory/search/test_damage.py"),
    ),
    (
        "catalog-from-warehouse",
        "A lost or older catalog is pointed at all that has landed by the warehouse alone; until"
        " then nothing is written on it and no file is removed.",
        (
            "memory/tables/test_recover.py",
            "memory/services/test_recovery.py",
            "crash/test_recovery.py",
            "memory/tables/test_upkeep.py::test_nothing_is_written_compacted_or_removed_on_an_older_catalog",
        ),
    ),
    (
        "one-door",
        "A row that a caller may not see moves no byte of any answer to it.",
        ("leaks/test_now.py", "leaks/test_matrix.py", "machine/test_machine.py"),
    ),
    (
        "unreadable-is-missing",
        "What may not be read is answered exactly like what is not there.",
        (
            "leaks/test_matrix.py::test_what_is_anothers_is_answered_like_what_is_not_there",
            "memory/services/test_episodes.py::test_unreadable_and_missing_episodes_are_answered_alike",
        ),
    ),
    (
        "rights-are-now",
        "A changed group, a narrowed ACL and a revoked key hold from the next request on.",
        (
            "leaks/test_now.py::test_a_changed_group_acts_on_the_next_request",
            "leaks/test_now.py::test_a_revoked_key_is_nobody_on_the_next_request",
            "memory/services/test_episodes.py::test_narrow_widen_narrow_each_take_effect_at_once",
        ),
    ),
    (
        "posting-widens-nothing",
        "Sending an episode again never changes who may read it.",
        (
            "memory/services/test_episodes.py::test_posting_again_with_a_wider_acl_widens_nothing",
            "memory/api/test_episodes.py::test_posting_again_with_a_wider_acl_widens_nothing",
        ),
    ),
)

_TENANCY: Final = _promised(
    "specification, sections 2 to 4",
    (
        "scopes-apart",
        "An org, a team and a person each have a memory of their own that no other reads.",
        (
            "leaks/test_matrix.py::test_what_is_hidden_is_found_by_those_alone_who_may_see_it",
            "memory/commands/test_shell_commands.py::test_scopes_are_spelled_as_documented_and_isolated",
            "memory/api/test_concurrency.py::test_writers_of_four_orgs_at_once_never_meet",
        ),
    ),
    (
        "scope-spelling",
        "A scope is spelled in five ways, and nothing else becomes a scope or a path.",
        ("accounts/domain/test_scope.py", "accounts/domain/test_addressing.py"),
    ),
    (
        "rights-table",
        "Each role may do what the table of rights says, on every surface.",
        (
            "accounts/domain/test_roles.py::test_the_rights_table_says_so",
            "leaks/test_matrix.py::test_each_caller_is_served_or_refused_as_the_rights_table_says",
        ),
    ),
    (
        "keys",
        "A key's text is shown once and stored nowhere; it can end, and be ended.",
        (
            "accounts/services/test_authenticate.py::test_a_dump_of_the_database_holds_no_key",
            "accounts/services/test_authenticate.py::test_an_expired_key_says_so_to_its_holder_alone",
            "accounts/commands/test_commands.py::test_a_key_is_made_shown_once_and_revoked",
            "leaks/test_shell.py::test_a_command_shows_its_scope_and_no_key",
        ),
    ),
    (
        "local",
        "`serve --local` needs no key, listens to its own machine alone and checks the Host.",
        (
            "accounts/services/test_authenticate.py::test_no_key_is_the_owner_on_a_local_server_alone",
            "ampup_site/test_serve.py::test_a_taken_port_and_an_open_address_are_refused_in_one_line",
            "ampup_site/test_middleware.py::test_a_host_that_is_not_ours_is_refused",
        ),
    ),
)

_EPISODES: Final = _promised(
    "specification, sections 5 and 6",
    (
        "episode-id",
        "An episode's id is the hash of its source and text, or of its text, taken as they are.",
        ("memory/domain/test_ids.py",),
    ),
    (
        "episode-types",
        "The source decides the type, the longest prefix wins, and a source of no type is refused.",
        (
            "memory/domain/test_episode_types.py",
            "memory/services/test_loads.py::test_a_source_nobody_claims_is_refused_unless_the_load_says_what_it_is",
        ),
    ),
    (
        "signed-notes",
        "A note's source carries its author's signature, which no caller can write itself.",
        (
            "memory/domain/test_episode_types.py::test_a_signature_cannot_be_forged_by_a_name_with_colons",
            "memory/domain/test_episode_types.py::test_what_the_server_writes_itself_is_reserved",
        ),
    ),
    (
        "units",
        "A body is shown as numbered units of its type, which put together are the body.",
        (
            "memory/domain/test_units.py",
            "mcp_gateway/test_tools.py::test_an_episode_is_read_by_ranges_and_within_its_room",
        ),
    ),
    (
        "forget",
        "Forgetting, remembering and forgetting again each take effect, on every read at once.",
        (
            "memory/services/test_episodes.py::test_forget_remember_forget_each_take_effect",
            "wire/test_cases_memory.py::test_what_was_forgotten_is_gone_from_every_read_and_stays_so",
        ),
    ),
    (
        "who-forgets",
        "Only its author or an administrator forgets a note.",
        (
            "memory/services/test_episodes.py::test_only_its_author_or_an_administrator_forgets_a_note",
        ),
    ),
    (
        "amend-acl",
        "Who may read is changed by naming who may now; on another ACL nothing is changed.",
        (
            "memory/services/test_episodes.py::test_an_amendment_on_another_acl_than_the_present_one_is_refused",
            "memory/commands/test_shell_commands.py::test_an_acl_is_amended_by_compare_and_set",
        ),
    ),
    (
        "limits",
        "Bodies, batches, sources, tags and times beyond their limits are refused by field.",
        (
            "memory/domain/test_checks.py",
            "memory/domain/test_times.py::test_what_is_no_moment_of_ours_is_refused_with_what_would_do",
            "memory/api/test_episodes.py::test_a_bad_member_is_named_and_the_whole_batch_is_refused",
        ),
    ),
    (
        "one-envelope",
        "Every refusal over REST is one object with a stable code and a sentence.",
        (
            "wire/test_rest.py::test_every_kind_of_error_has_a_status",
            "wire/test_rest.py::test_what_is_no_route_is_a_404_in_json",
            "wire/test_rest.py::test_a_fault_of_ours_says_the_request_id_and_nothing_else",
        ),
    ),
    (
        "unknown-field",
        "A field or parameter that a route does not know is refused by name.",
        ("wire/test_rest.py::test_a_parameter_that_a_route_does_not_know_is_refused_by_name",),
    ),
)

_COMMITS: Final = _promised(
    "specification, section 8",
    (
        "golden-chain",
        "The hashes of two published rows come out as published.",
        ("memory/domain/test_chain.py::test_two_rows_have_the_hashes_of_the_published_vector",),
    ),
    (
        "idempotency-key",
        "A write under an Idempotency-Key is answered to the letter when it is sent again.",
        ("memory/api/test_idempotency.py",),
    ),
    (
        "racing-writers",
        "Identical writes at once are one episode; similar ones are each kept.",
        (
            "memory/landing/test_committer.py::test_twenty_identical_writes_at_once_are_one_episode_and_one_ledger_row",
            "memory/landing/test_committer.py::test_eighty_similar_writes_are_eighty_and_land_gathered",
            "crash/test_together.py::test_identical_writes_of_many_processes_are_one_episode_and_one_commit",
        ),
    ),
    (
        "poison-alone",
        "A write that the store cannot take is refused by itself; those beside it land.",
        ("memory/landing/test_committer.py::test_a_poisoned_member_of_a_batch_is_refused_alone",),
    ),
    (
        "lost-answer",
        "A commit whose answer was lost is looked up before anything is written again.",
        (
            "memory/landing/test_committer.py::test_a_commit_whose_answer_is_lost_is_looked_up_and_not_written_twice",
        ),
    ),
    (
        "busy",
        "A write whose deadline passes says that its outcome is unknown and may be sent again.",
        (
            "memory/landing/test_committer.py::test_a_lock_held_past_the_deadline_is_told_busy_and_service_resumes",
        ),
    ),
    (
        "recovers-by-itself",
        "A full disk, a warehouse that only reads and a database that is away end in clear words, "
        "and service goes on once they are over.",
        (
            "memory/landing/test_trouble.py",
            "mcp_gateway/test_transport.py::test_a_database_or_disk_that_is_away_is_a_503_that_may_be_tried_again",
            "wire/test_rest.py::test_a_database_or_disk_that_is_away_is_503_with_retry_after",
        ),
    ),
)

_SEARCH: Final = _promised(
    "specification, sections 9 and 10",
    (
        "passages",
        "Bodies are cut at unit boundaries into passages of at most 1,500 bytes, none overlapping.",
        ("memory/domain/test_passages.py",),
    ),
    (
        "keyword",
        "Passages with any word of the question are found, ranked by BM25, k where k are there.",
        (
            "memory/domain/test_ranking.py",
            "wire/test_cases_memory.py::test_a_question_in_plain_words_finds_what_any_of_them_is_in",
            "wire/test_cases_memory.py::test_a_small_org_finds_its_own_whatever_a_large_one_holds",
            "machine/test_machine.py::test_every_answer_is_what_the_plain_model_says",
        ),
    ),
    (
        "cited-text",
        "The text answer cites each passage and ends with the ids that open its episodes.",
        (
            "memory/domain/test_text.py",
            "memory/api/test_search.py::test_the_text_answer_cites_and_ends_with_the_episodes",
        ),
    ),
    (
        "pages",
        "A list comes page by page without gap or repeat, newest or oldest first.",
        (
            "memory/api/test_search.py::test_episodes_are_listed_page_by_page_without_gap_or_repeat",
            "wire/test_cases_memory.py::test_the_newest_comes_first_and_equals_keep_one_order",
        ),
    ),
    (
        "quoted-not-obeyed",
        "Stored text cannot pass for a line of an answer, nor steer a terminal.",
        (
            "memory/domain/test_text.py::test_quoted_text_cannot_pass_for_lines_of_the_answer",
            "memory/commands/test_shell_commands.py::test_stored_text_does_not_steer_the_terminal",
        ),
    ),
)

_SURFACES: Final = _promised(
    "specification, sections 14 to 19",
    (
        "both-eras",
        "MCP answers each version of the protocol alike, without sessions, by POST alone.",
        ("mcp_gateway/test_eras.py", "mcp_gateway/test_transport.py", "wire/test_mcp_sdk.py"),
    ),
    (
        "tools",
        "A caller is shown the tools it may call, in schemas that the narrowest hosts take.",
        ("mcp_gateway/test_listing.py", "mcp_gateway/test_calls.py"),
    ),
    (
        "hang-ups",
        "Clients that hang up harm nobody else.",
        ("wire/test_mcp_aborts.py",),
    ),
    (
        "no-redirect",
        "Every route answers with and without a trailing slash, and says which methods it offers.",
        (
            "wire/test_rest.py::test_methods_that_a_route_does_not_offer_are_405_with_and_without_a_slash",
        ),
    ),
    (
        "shell",
        "The commands do what the routes do, in text for people and JSON for programs.",
        ("memory/commands/test_shell_commands.py", "accounts/commands/test_commands.py"),
    ),
    (
        "loads",
        "A load lands in whole chunks, goes on where it stopped, and may be all or nothing.",
        (
            "memory/services/test_loads.py",
            "memory/commands/test_load.py",
        ),
    ),
    (
        "jobs",
        "A job whose worker dies goes on or says so, and is shown to who started it alone.",
        (
            "memory/services/test_jobs.py",
            "journeys/test_worker_redis.py",
        ),
    ),
    (
        "serve",
        "One command serves web, worker and beat, and adopts what a killed one left.",
        ("ampup_site/test_serve.py",),
    ),
    (
        "embedded-postgres",
        "The private Postgres starts for its first user, stops after the last, and is its own.",
        ("ampup_site/postgres/test_local.py",),
    ),
    (
        "open-tables",
        "Other engines read the tables and count what the server counts.",
        ("memory/tables/test_engines.py",),
    ),
)

BEHAVIOURS: Final = (*_ARCHITECTURE, *_TENANCY, *_EPISODES, *_COMMITS, *_SEARCH, *_SURFACES)
