"""The one door to ClickHouse. Instants go in and come out as integers: UTC microseconds since 1970.

The same client library speaks to a server, to the embedded engine's owner process over HTTP, and (for tests and
one-process use) to the engine in this process: `chdb:///path`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import urllib3
from clickhouse_connect.datatypes.base import ClickHouseType
from clickhouse_connect.driver import options
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError
from prometheus_client import Histogram

from loom_core import faults
from loom_core.embedded.config import PROFILE
from loom_core.errors import Internal, Invalid, Unavailable
from loom_core.settings import Settings

DATABASE = "loom"
AWAY = frozenset({159, 160, 202, 209, 210, 225, 241, 242, 243, 252, 319, 999})
"""Server error codes that say "not now" rather than "not this": time and memory limits, too many queries or parts,
network, quorum, no space left."""
# To ask whether rows are a DataFrame, an insert imports pandas where it is installed: 70 MiB a process.
options.pd = options.pd_time_test = None
INSERT_SECONDS = Histogram(
    "loom_insert_seconds",
    "Seconds an INSERT took, failed ones included",
    ["table"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
READ_FORMATS = {"DateTime64": "int", "Date": "string"}


class StoreError(Internal):
    """ClickHouse refused a statement. `.clickhouse_code` is its error code, 0 if it gave none."""

    def __init__(self, message: str, clickhouse_code: int = 0) -> None:
        super().__init__("store_refused", message)
        self.clickhouse_code = clickhouse_code


_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\'`\t\n"})


class _Names:
    """A list of strings as the server reads it. The driver writes one character by character, a second a million."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __str__(self) -> str:
        return "[" + ", ".join([f"'{name.translate(_ESCAPES)}'" for name in self._names]) + "]"


def _bound(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _Names(value) if isinstance(value, list) and all(type(each) is str for each in value) else value
        for name, value in parameters.items()
    }


class Store:
    """A thread-safe connection pool to one ClickHouse. Make it after a fork or spawn, never before."""

    def __init__(self, settings: Settings) -> None:
        self._url = settings.require_clickhouse_url()
        self._settings = settings
        self._client: Client | None = None
        self._types: dict[tuple[str, tuple[str, ...]], Sequence[ClickHouseType]] = {}
        self._lock = threading.Lock()

    def client(self) -> Client:
        """The client, connected at first use. Raises `Unavailable` while ClickHouse is away."""
        if self._client is None:
            with self._lock:
                if self._client is None:
                    with _errors_named():
                        self._client = _connect(self._url, self._settings)
        return self._client

    def rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """All rows of a query, bound on the server (`{name:Type}`): values are never part of the text.

        Raises `Unavailable` if the store is away, `StoreError` if it refuses.
        """
        with _errors_named():
            result = self.client().query(sql, parameters=_bound(parameters), query_formats=READ_FORMATS)
            return [tuple(row) for row in result.result_rows]

    def dicts(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        """Like `rows`, each as a dict by column name."""
        with _errors_named():
            result = self.client().query(sql, parameters=_bound(parameters), query_formats=READ_FORMATS)
            names = result.column_names
            return [dict(zip(names, row, strict=True)) for row in result.result_rows]

    def stream(self, sql: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one, never all in memory."""
        with _errors_named():
            stream = self.client().query_rows_stream(
                sql, parameters=_bound(parameters), query_formats=READ_FORMATS
            )
            with stream:
                for row in stream:
                    yield tuple(row)

    def blocks(self, sql: str, **parameters: Any) -> Iterator[list[Any]]:
        """A query's answer in blocks of some thousand rows, each a numpy array per column, never all in memory.

        Not as Arrow, which is twice as fast: the embedded engine dies when such a query is given up halfway.
        """
        with _errors_named():
            stream = self.client().query_np_stream(sql, parameters=_bound(parameters))
            with stream:
                for block in stream:
                    # The client makes one matrix of columns of one type.
                    yield [block[name] for name in block.dtype.names] if block.dtype.names else list(block.T)

    def insert_columns(self, table: str, names: Sequence[str], columns: Sequence[Any]) -> None:
        """One INSERT into `loom.<table>` of columns, lists or numpy arrays of equal length."""
        faults.reach("store", f"insert_{table}")
        with _errors_named(), INSERT_SECONDS.labels(table).time():
            self.client().insert(
                table, columns, column_names=names, database=DATABASE, column_oriented=True,
                settings=self._counts_again(),
            )  # fmt: skip

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], token: str | None = None
    ) -> None:
        """One INSERT into `loom.<table>`; `token` makes a repeated insert of the same batch count once.

        Without a token every insert counts: all tables but one are sets, and what was deleted can be put back.
        """
        if not rows:
            return
        faults.reach("store", f"insert_{table}")
        with _errors_named(), INSERT_SECONDS.labels(table).time():
            self.client().insert(
                table,
                rows,
                column_names=list(columns),
                column_types=self._column_types(table, tuple(columns)),
                database=DATABASE,
                settings={"insert_deduplication_token": token} if token else self._counts_again(),
            )

    def _counts_again(self) -> dict[str, Any]:
        """The setting that makes an insert count though it repeats one; since ClickHouse 26 another one decides."""
        newer = "deduplicate_insert" in self.client().server_settings
        return {"deduplicate_insert": "disable"} if newer else {"insert_deduplicate": 0}

    def _column_types(self, table: str, columns: tuple[str, ...]) -> Sequence[ClickHouseType]:
        """The columns' types, asked for once: the driver would ask before every INSERT."""
        known = self._types.get((table, columns))
        if known is None:
            context = self.client().create_insert_context(table, list(columns), DATABASE)
            known = self._types[table, columns] = context.column_types
        return known

    def command(self, sql: str, **parameters: Any) -> None:
        """A statement without an answer: DDL, DELETE, INSERT … SELECT."""
        with _errors_named():
            self.client().command(sql, parameters=_bound(parameters))

    def ping(self) -> bool:
        """Whether ClickHouse answers now."""
        try:
            return bool(self.rows("SELECT 1"))
        except (Unavailable, StoreError):
            return False

    def close(self) -> None:
        """Closes the pool; the next use connects again."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None


NO_COMPILING = {"compile_expressions": 0, "compile_aggregate_expressions": 0, "compile_sort_description": 0}
"""A statement asked for the third time would be compiled: 150 ms for one that takes 10."""


def _connect(url: str, settings: Settings) -> Client:
    parts = urlsplit(url)
    session: dict[str, Any] = {
        **NO_COMPILING,
        # A worker's insert is a fact once it returns, so it must not wait in a server-side buffer.
        "async_insert": 0,
        "mutations_sync": 2,
        "lightweight_deletes_sync": 2,
        "max_execution_time": int(settings.clickhouse_receive_timeout_s),
    }
    if settings.clickhouse_cluster:
        session |= {"insert_quorum": "auto", "select_sequential_consistency": 1}
    if parts.scheme == "chdb":
        return clickhouse_connect.get_client(
            interface="chdb",
            path=unquote(parts.path) or None,
            settings={"async_insert": 0, "mutations_sync": 2, **NO_COMPILING, **PROFILE},
        )
    if parts.scheme not in ("http", "https"):
        raise Invalid(
            "bad_clickhouse_url", f"LOOM_CLICKHOUSE_URL must be http, https or chdb, not {parts.scheme!r}"
        )
    return clickhouse_connect.get_client(
        interface=parts.scheme,
        host=parts.hostname or "localhost",
        port=parts.port or (8443 if parts.scheme == "https" else 8123),
        username=unquote(parts.username or "default"),
        password=unquote(parts.password or ""),
        connect_timeout=settings.clickhouse_connect_timeout_s,
        send_receive_timeout=settings.clickhouse_receive_timeout_s,
        ca_cert=str(settings.clickhouse_ca_cert) if settings.clickhouse_ca_cert else None,
        autogenerate_session_id=False,
        settings=session,
        compress=parts.hostname not in ("127.0.0.1", "localhost", "::1"),
        # Lists of keys travel as parameters: in the body, where no limit on the length of a URL cuts them.
        form_encode_query_params=True,
        pool_mgr=clickhouse_connect.driver.httputil.get_pool_manager(maxsize=32, num_pools=4),
    )


@contextmanager
def _errors_named() -> Iterator[None]:
    """Turns the driver's errors into ours: away (retryable) or refused (with ClickHouse's own code)."""
    try:
        yield
    except ClickHouseError as error:
        code = int(getattr(error, "code", 0) or 0)
        if code in AWAY or (code == 0 and isinstance(error, OperationalError)):
            why = (
                f"does not serve now (code {code})"
                if code
                else "does not answer; does it run at its address?"
            )
            raise Unavailable("clickhouse_away", f"ClickHouse {why}") from error
        raise StoreError(str(error)[:2000], code) from error
    except (urllib3.exceptions.HTTPError, ConnectionError, TimeoutError) as error:
        raise Unavailable("clickhouse_away", f"ClickHouse does not answer: {type(error).__name__}") from error


def in_chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """`items` in runs of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def scoped(parameters: Mapping[str, Any], org: str, namespace: str) -> dict[str, Any]:
    """Parameters with the two that every statement on data names first."""
    return {"org": org, "namespace": namespace, **parameters}
