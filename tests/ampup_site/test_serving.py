"""What runs beside the web server."""

import errno
import threading

import pytest

from ampup_site import serving


def test_a_watch_goes_on_after_a_failure_of_any_kind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: a full disk ended the thread, and Postgres was never started again."""
    monkeypatch.setattr(serving, "_WATCH_SECS", 0.001)
    looks = iter((OSError(errno.ENOSPC, "full"), None))
    looked_again = threading.Event()

    def look() -> None:
        failure = next(looks, None)
        if failure is not None:
            raise failure
        looked_again.set()

    with serving.watched(look):
        assert looked_again.wait(10)
    assert "the watch failed" in caplog.text
