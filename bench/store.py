"""The store under measurement: the bench corpus, built once, and given back as new each time."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.corpus import FULL, SEED, SMALL, CorpusShape
from bench.database import DatabaseServer
from bench.durability import NotRecordable

_ROOT: Final = Path(__file__).resolve().parent.parent
CACHE: Final = _ROOT / ".cache" / "bench"
_DECIDES_THE_ROWS: Final = (
    "bench/corpus.py",
    "bench/building.py",
    "memory/search/ddl.py",
    "memory/search/rows.py",
    "memory/tables/layouts.py",
    "memory/domain/analyzer.py",
    "memory/domain/indexed.py",
    "memory/domain/lexemes.py",
    "memory/domain/neighbours.py",
    "memory/domain/tokens.py",
    "memory/domain/passages.py",
    "memory/domain/postings.py",
    "memory/domain/units.py",
    "memory/domain/chain.py",
)
"""Sources whose change makes a built corpus stale, migrations beside them."""


@dataclass(frozen=True, slots=True)
class Store:
    """A database and a data folder that hold the corpus.

    The folder keeps its path for good, since the catalog's pointers name it; what is copied
    back and forth is its content.
    """

    server: DatabaseServer
    small: bool

    @property
    def shape(self) -> CorpusShape:
        """How large the corpus is."""
        return SMALL if self.small else FULL

    @property
    def dsn(self) -> str:
        """The libpq URL of the live database."""
        return self.server.url_of(self.database)

    @property
    def data_dir(self) -> Path:
        """The data folder of the product; `warehouse` stands in it."""
        return self.folder / "live"

    @property
    def scratch(self) -> Path:
        """A folder for what baselines and loads write, on the warehouse's own disk."""
        return self.folder / "scratch"

    @property
    def folder(self) -> Path:
        """Where this size of the bench keeps everything."""
        return CACHE / ("small" if self.small else "full")

    @property
    def database(self) -> str:
        """The name of the live database."""
        return f"ampup_bench_{'small' if self.small else 'full'}"

    @property
    def _seed_database(self) -> str:
        return f"{self.database}_seed"

    @property
    def _seed_folder(self) -> Path:
        return self.folder / "seed"

    @property
    def _mark(self) -> Path:
        return self.folder / "seed.key"

    def is_built(self) -> bool:
        """Say whether the corpus is there, by the code as it is now."""
        return (
            self._mark.exists()
            and self._mark.read_text() == self._key()
            and self.server.exists(self._seed_database)
        )

    def begin_building(self) -> None:
        """Make the live database and folder empty."""
        self._mark.unlink(missing_ok=True)
        self.server.create(self.database)
        _replace_folder(self.data_dir)

    def keep_built(self) -> None:
        """Keep what the live database and folder hold now as what `restore` gives back."""
        self.server.copy(self.database, to=self._seed_database)
        _replace_folder(self._seed_folder, source=self.data_dir)
        self._mark.write_text(self._key())

    def restore(self) -> None:
        """Give the corpus back as it was built; nobody may be connected."""
        self.server.copy(self._seed_database, to=self.database)
        _replace_folder(self.data_dir, source=self._seed_folder)
        _replace_folder(self.scratch)

    def _key(self) -> str:
        digest = hashlib.sha256(f"{SEED} {self.shape} {self.dsn}".encode())
        migrations = sorted(_ROOT.glob("*/migrations/*.py"))
        for path in (*(_ROOT / name for name in _DECIDES_THE_ROWS), *migrations):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def _replace_folder(folder: Path, *, source: Path | None = None) -> None:
    """Make a folder anew, empty or with a source's files; they are immutable, so links do."""
    shutil.rmtree(folder, ignore_errors=True)
    if source is None:
        folder.mkdir(parents=True)
    else:
        shutil.copytree(source, folder, copy_function=os.link)


@contextmanager
def alone() -> Iterator[None]:
    """Refuse to run beside another run: it would give the store back under its feet.

    Raises:
        NotRecordable: there is one.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "Another run of the bench is under way; wait for its end."
            raise NotRecordable(message) from None
        yield
