"""A PostgreSQL of the system as the source of labels."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from feeds.kafka.reader import cells
from feeds.sql.warehouse import Running, Warehouse

pytestmark = [pytest.mark.system, pytest.mark.dev("psycopg")]

PASSWORD = "no one may read this"  # noqa: S105  # of a server that lives for a test
OUTCOMES = """\
SELECT claim AS id, decided, decision, fraud, loaded
FROM claims WHERE loaded >= :cursor AND fraud IS NOT NULL AND note LIKE '%' AND 1 = '1'::int;
"""
MAPPING = {"fields": {"ts": "decided", "prediction": "decision", "label": "fraud"}}


def programs():
    """The folder of PostgreSQL's programs, which Debian keeps out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if not (found or on_path):
        missing = "PostgreSQL is not installed"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    return found[-1].parent if found else Path(on_path).parent


@pytest.fixture(scope="module")
def postgres():
    """URL of a running server, which listens on a socket in a folder alone."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    user = "postgres" if os.getuid() == 0 else None  # it refuses to run as root
    if user:
        shutil.chown(folder, user)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    data, tools = folder / "data", programs()

    def call(*words):
        subprocess.run(words, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    account = ["-U", "monitor", "-A", "scram-sha-256", f"--pwfile={folder}/password"]
    call(tools / "initdb", "-D", data, "--no-sync", *account)
    settings = f"-k {folder} -c listen_addresses= -c fsync=off -c timezone=Asia/Tokyo"
    control = [tools / "pg_ctl", "-D", data, "-l", folder / "log"]
    call(*control, "-w", "-o", settings, "start")
    try:
        secret = PASSWORD.replace(" ", "%20")
        yield f"postgresql+psycopg://monitor:{secret}@/postgres?host={folder}"
    finally:
        call(*control, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def claim(number, loaded, fraud):
    return {"claim": number, "fraud": fraud, "loaded": loaded, "decided": f"{loaded}+00"}


def test_rows_with_types_are_read_once_over_restarts(postgres, tmp_path):
    warehouse = Warehouse(postgres)
    warehouse.run(
        "CREATE TABLE claims (claim NUMERIC(12), decided TIMESTAMPTZ, decision BOOLEAN, "
        "fraud BOOLEAN, loaded TIMESTAMP, note TEXT DEFAULT 'a%b')"
    )
    insert = "INSERT INTO claims VALUES (:claim, :decided, TRUE, :fraud, :loaded)"
    early, late = "2026-07-01 12:00:00.5", "2026-07-02 12:00:00"
    warehouse.run(insert, claim(1, early, True), claim(2, early, True), claim(3, early, None))
    feed = {"query": OUTCOMES, "cursor": "loaded", "start": "2026-01-01", **MAPPING}
    running = Running(tmp_path, postgres, page_rows=2, **feed).turns(3)
    assert (running.records, running.rejected) == (2, [])
    warehouse.run(insert, claim(4, early, False), claim(5, late, True))
    again = Running(tmp_path, postgres, page_rows=2, **feed).turns(4)
    assert (again.records, again.rejected) == (4, [])
    assert cells(again.monitor) == {"tp": 3, "fp": 1, "fn": 0, "tn": 0}
    assert again.monitor.snapshot().models[0].watermark_ms == 1782907200500
    assert again.source.position()["value"] == "2026-07-02T12:00:00"


def test_a_wrong_password_is_told_without_a_password(postgres, tmp_path):
    wrong = postgres.replace("no%20one", "n%2Fone")
    running = Running(tmp_path, wrong).turns(1)
    assert running.source.failed == {"connect": 1}
    assert "password authentication failed" in running.reported[-1]
    assert "may read" not in running.reported[-1]
