"""Loads: many episodes in chunks, a commit each, resumable because repeats change nothing."""

from collections.abc import Callable, Iterable
from itertools import takewhile
from pathlib import Path

import psycopg
from django.db import DatabaseError

from accounts.domain.caller import Caller
from accounts.domain.roles import Action
from accounts.domain.scope import Scope
from accounts.services.authenticate import still_stands
from accounts.services.permissions import require
from ampup_site.kernel.clock import Micros
from ampup_site.kernel.errors import AmpUpError, ErrorKind, TooLarge
from ampup_site.kernel.failpoints import reach
from ampup_site.kernel.ids import JOB
from memory.domain.change import PreparedEpisode
from memory.domain.errors import ChildDied
from memory.domain.ids import SOURCE_AND_BODY
from memory.domain.job import (
    OPEN_STATES,
    SPOOL_AGE,
    CallerGone,
    JobKind,
    LeaseLost,
    LoadIncomplete,
    PayloadGone,
)
from memory.domain.limits import MAX_ATOMIC_EPISODES
from memory.engine import Engine
from memory.models import JobRun
from memory.services import jobs, leases
from memory.services.load_chunks import Intent, LoadItem, cut_chunks, prepare_chunk, preparing
from memory.services.load_landing import ChunkWriter, LoadReport, land_chunks
from memory.services.preparing import EpisodeDraft
from memory.services.spool import read_spool, remove_spool, stray_files, write_spool

Progress = Callable[[LoadReport], None]
"""Told what each chunk did as soon as it has landed, in the order of the items."""


def load_items(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    items: Iterable[LoadItem],
    *,
    job_id: str | None = None,
    id_of: str = SOURCE_AND_BODY,
    unclaimed: str | None = "doc",
    atomic: bool = False,
    progress: Progress | None = None,
    may_go_on: Callable[[], bool] | None = None,
) -> LoadReport:
    """Store episodes in chunks of at most 300 and about 280 passages.

    An item that cannot be taken is left out alone. Stopped anywhere, whole chunks stay, and the
    same load again adds what is missing.

    Args:
        job_id: what the ledger's rows name; None mints one.
        unclaimed: the type of a source that no type claims; None refuses it.
        atomic: all in one commit or none; at most 5,000 episodes, and a refused one stops it.
        may_go_on: asked before each chunk; after a no, what is under way lands and is reported.

    Raises:
        AmpUpError: the caller may not, or the store cannot be written for longer than the
            retries last; what has landed stays.
        LoadIncomplete: `atomic`, and an item cannot be taken.
    """
    require(caller, Action.INGEST, scope)
    intent = Intent(caller, scope, id_of, unclaimed)
    writer = ChunkWriter(engine, intent, job_id or engine.ids.mint(JOB))
    tell = progress or _unheard
    if atomic:
        return _load_at_once(engine, intent, writer, items, tell)
    report = writer.nothing()
    with preparing(engine, intent, cut_chunks(items)) as prepared:
        wanted = prepared if may_go_on is None else takewhile(lambda _: may_go_on(), prepared)
        for done in land_chunks(engine, writer, wanted):
            report = report.plus(done)
            tell(done)
            reach("load.chunk")
    return report


def start_load(
    engine: Engine,
    caller: Caller,
    scope: Scope,
    drafts: Iterable[EpisodeDraft],
    *,
    spool: Path,
    id_of: str = SOURCE_AND_BODY,
    unclaimed: str | None = None,
) -> str:
    """Promise to load drafts in the background; return the job's id.

    When this returns the drafts are on the disk: the job outlives every process.

    Args:
        spool: the folder that the worker reads too.

    Raises:
        AmpUpError: the caller may not; nothing is stored.
    """
    require(caller, Action.INGEST, scope)
    job = engine.ids.mint(JOB)
    name = f"{job}.jsonl"
    total = write_spool(spool, name, drafts)
    return jobs.queue_run(
        engine,
        caller,
        scope,
        kind=JobKind.LOAD,
        total=total,
        options={"id_of": id_of, "unclaimed": unclaimed},
        payload=name,
        job=job,
    )


def run_load(engine: Engine, job: str, *, spool: Path) -> None:
    """Do a background load, or go on with it; nothing happens if another worker does it.

    An outage leaves it for a later sweep; another error ends it as failed, and so does the end
    of the key it acts by.
    """
    found = JobRun.objects.filter(job=job, kind=JobKind.LOAD.value).first()
    if found is None:
        return
    lease = leases.take_lease(engine, job=job, scope=found.namespace)
    if lease is None:
        return
    try:
        run = jobs.start_run(engine, lease)
        if run is not None:
            _run(engine, lease, run, spool)
    except LeaseLost:
        return
    finally:
        leases.release(lease)


def clean_spool(engine: Engine, *, spool: Path) -> int:
    """Remove what no open run will read: of ended runs, and of promises that were never made."""
    with_payload = JobRun.objects.filter(state__in=OPEN_STATES).values_list("payload", flat=True)
    before = Micros(engine.clock.now() - SPOOL_AGE)
    strays = stray_files(spool, known=with_payload, before=before)
    for path in strays:
        path.unlink(missing_ok=True)
    return len(strays)


def _run(engine: Engine, lease: leases.Lease, run: JobRun, spool: Path) -> None:
    caller, scope = jobs.caller_of(run)
    line = int(run.watermark.get("line", 0))

    def tell(chunk: LoadReport) -> None:
        nonlocal line
        line += chunk.done
        jobs.progress(
            lease,
            run,
            done=line,
            commits=chunk.commits,
            refused=chunk.refused,
            watermark={"line": line},
        )

    try:
        load_items(
            engine,
            caller,
            scope,
            read_spool(spool, run.payload, skip=line),
            job_id=run.job,
            id_of=str(run.options["id_of"]),
            unclaimed=run.options["unclaimed"],
            progress=tell,
            may_go_on=lambda: still_stands(caller, clock=engine.clock),
        )
    except LeaseLost:
        raise
    except FileNotFoundError:
        message = "What was to be loaded is not in this worker's spool folder; send it again."
        jobs.finish(engine, run, error=PayloadGone(message))
    except AmpUpError as error:
        if error.kind is ErrorKind.UNAVAILABLE:
            jobs.postpone(engine, run, error, counted=isinstance(error, ChildDied))
            return
        jobs.finish(engine, run, error=error)
    except (OSError, DatabaseError, psycopg.Error) as error:
        jobs.postpone(engine, run, error)
        return
    else:
        jobs.finish(engine, run, error=_left_undone(run))
    remove_spool(spool, run.payload)


def _left_undone(run: JobRun) -> CallerGone | None:
    """Return why a load ended before its end, None if it did not."""
    if run.done >= run.total:
        return None
    message = (
        f"The key that this load acts by was revoked or has expired. {run.done:,} of"
        f" {run.total:,} items were dealt with, {len(run.commits):,} commits landed and stay."
    )
    return CallerGone(message)


def _unheard(chunk: LoadReport) -> None:
    del chunk


def _load_at_once(
    engine: Engine, intent: Intent, writer: ChunkWriter, items: Iterable[LoadItem], tell: Progress
) -> LoadReport:
    places: list[str] = []
    episodes: list[PreparedEpisode] = []
    for chunk in cut_chunks(items):
        prepared = prepare_chunk(engine, intent, chunk)
        if prepared.refused:
            first = prepared.refused[0]
            message = f"Nothing was stored: item {first.position} is refused. {first.reason}"
            raise LoadIncomplete(message)
        places += prepared.places
        episodes += prepared.episodes
        if len(episodes) > MAX_ATOMIC_EPISODES:
            message = f"One commit takes at most {MAX_ATOMIC_EPISODES} episodes; load in chunks."
            raise TooLarge(message)
    if not episodes:
        return writer.nothing()
    report = writer.report(writer.send(episodes).wait(), ())
    tell(report)
    return report
