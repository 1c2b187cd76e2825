"""Every op, once: its name, who may call it, what it does to the data, and how it is described.

HTTP routes, MCP tools, the OpenAPI document, the docs page and the client's methods all follow this table.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from loom_core.errors import NotFound
from loom_core.facts import models as facts
from loom_core.memory import models as memory
from loom_core.namespace import models as namespace
from loom_core.server import models as ops
from loom_core.tenancy import Role
from loom_core.wire import Answer, Scoped

Kind = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation. Its handler is `services.<group>.<verb>`."""

    name: str
    role: Role
    kind: Kind
    request: type[Scoped]
    response: type[Answer]
    summary: str
    audited: bool = False
    mcp_listed: bool = True
    erases: bool = False

    @property
    def keeps_answer(self) -> bool:
        """Whether its answer is kept under an Idempotency-Key: a write's, unless that leaves a trace."""
        return self.kind == "write" and not self.erases

    @property
    def group(self) -> str:
        """The part before the dot: which service handles it."""
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        """The part after the dot: the service's method."""
        return self.name.partition(".")[2]

    @property
    def handler_path(self) -> str:
        """Where the handler is found on the services."""
        return f"services.{self.name}"

    @property
    def tool(self) -> str:
        """Its MCP tool."""
        return f"loom_{self.group}_{self.verb}"


OPS: tuple[Op, ...] = (
    Op(
        "memory.set",
        "writer",
        "write",
        memory.MemorySetRequest,
        memory.MemorySetResponse,
        "Write one memory row; the same content again is a no-op.",
    ),
    Op(
        "memory.set_many",
        "writer",
        "write",
        memory.MemorySetManyRequest,
        memory.MemorySetManyResponse,
        "Write many rows; each entry is written or refused on its own.",
    ),
    Op(
        "memory.set_from_messages",
        "writer",
        "write",
        memory.MemorySetFromMessagesRequest,
        memory.MemorySetFromMessagesResponse,
        "Write one row a message of a conversation; entities and facts are extracted from it.",
    ),
    Op(
        "memory.update",
        "writer",
        "write",
        memory.MemoryUpdateRequest,
        memory.MemoryUpdateResponse,
        "Change what is named of a row, by its key; the rest stays.",
    ),
    Op(
        "memory.update_by_id",
        "writer",
        "write",
        memory.MemoryUpdateByIdRequest,
        memory.MemoryUpdateResponse,
        "Change what is named of a row, by its id; the rest stays.",
    ),
    Op(
        "memory.get",
        "viewer",
        "read",
        memory.MemoryKeyRequest,
        memory.MemoryGetResponse,
        "The current version of a row.",
    ),
    Op(
        "memory.history",
        "viewer",
        "read",
        memory.MemoryKeyRequest,
        memory.MemoryHistoryResponse,
        "Every version of a row, newest first.",
    ),
    Op(
        "memory.delete",
        "writer",
        "write",
        memory.MemoryKeyRequest,
        memory.MemoryDeleteResponse,
        "Tombstone a row: its facts and edges end now; it can be restored.",
    ),
    Op(
        "memory.restore",
        "writer",
        "write",
        memory.MemoryRestoreRequest,
        memory.MemoryRestoreResponse,
        "Undo: make an earlier version of a row the live one again.",
    ),
    Op(
        "memory.erase",
        "admin",
        "write",
        memory.MemoryKeyRequest,
        memory.MemoryEraseResponse,
        "Remove every trace of a row from every table, for good.",
        audited=True,
        erases=True,
    ),
    Op(
        "memory.link",
        "writer",
        "write",
        memory.MemoryLinkRequest,
        memory.MemoryLinkResponse,
        "Assert an edge between two rows.",
    ),
    Op(
        "memory.search",
        "viewer",
        "read",
        memory.MemorySearchRequest,
        memory.MemorySearchResponse,
        "Find rows by text, or one hop out in the graph from the query's entities.",
    ),
    Op(
        "memory.related",
        "viewer",
        "read",
        memory.MemoryNeighboursRequest,
        memory.MemoryRelatedResponse,
        "Rows that share entities with a row, strongest first.",
    ),
    Op(
        "memory.backlinks",
        "viewer",
        "read",
        memory.MemoryNeighboursRequest,
        memory.MemoryBacklinksResponse,
        "Rows that share a row's entities or link to it, newest first.",
    ),
    Op(
        "memory.timeline",
        "viewer",
        "read",
        memory.MemoryTimelineRequest,
        memory.MemoryTimelineResponse,
        "An entity's memories in time order.",
    ),
    Op(
        "namespace.taxonomy",
        "viewer",
        "read",
        namespace.NamespaceTaxonomyRequest,
        namespace.NamespaceTaxonomyResponse,
        "A namespace's top entities, and its communities once computed.",
    ),
    Op(
        "namespace.alias",
        "admin",
        "write",
        namespace.NamespaceAliasRequest,
        namespace.NamespaceAliasResponse,
        "Let one entity's name lead to another, for reads and writes.",
        audited=True,
    ),
    Op(
        "namespace.register_ontology",
        "admin",
        "write",
        namespace.NamespaceRegisterOntologyRequest,
        namespace.NamespaceRegisterOntologyResponse,
        "Register preferred entity types, verbs and attributes with their cardinality.",
        audited=True,
    ),
    Op(
        "namespace.configure",
        "admin",
        "write",
        namespace.NamespaceConfigureRequest,
        namespace.NamespaceConfigureResponse,
        "Turn consolidation on or off for a namespace.",
        audited=True,
    ),
    Op(
        "facts.expire_by_adapter",
        "admin",
        "write",
        facts.FactsExpireByAdapterRequest,
        facts.FactsExpireByAdapterResponse,
        "Remove the triples that one extractor stated; the memories stay.",
        audited=True,
        mcp_listed=False,
    ),
    Op(
        "facts.list",
        "viewer",
        "read",
        facts.FactsListRequest,
        facts.FactsListResponse,
        "Triples by subject, object, relation or entity.",
    ),
    Op(
        "facts.path",
        "viewer",
        "read",
        facts.FactsPathRequest,
        facts.FactsPathResponse,
        "The shortest chain of edges between two entities.",
        mcp_listed=False,
    ),
    Op(
        "facts.related",
        "viewer",
        "read",
        facts.FactsRelatedRequest,
        facts.FactsRelatedResponse,
        "The entities that occur together with one, strongest first.",
        mcp_listed=False,
    ),
    Op(
        "facts.traverse",
        "viewer",
        "read",
        facts.FactsTraverseRequest,
        facts.FactsTraverseResponse,
        "The neighbourhood of an entity, hop by hop.",
    ),
    Op(
        "ops.health",
        "viewer",
        "read",
        ops.OpsRequest,
        ops.OpsHealthResponse,
        "Whether the stores answer and migrations are done.",
    ),
    Op(
        "ops.capabilities",
        "viewer",
        "read",
        ops.OpsRequest,
        ops.OpsCapabilitiesResponse,
        "What this server can do as it is configured.",
    ),
    Op(
        "ops.fleet",
        "viewer",
        "read",
        ops.OpsRequest,
        ops.OpsFleetResponse,
        "Each worker's gate, last run, backlog and failures.",
    ),
)

BY_NAME: dict[str, Op] = {op.name: op for op in OPS}
BY_TOOL: dict[str, Op] = {op.tool: op for op in OPS}


def find(name: str) -> Op:
    """The op of that name. Raises `NotFound` that names the nearest one."""
    if op := BY_NAME.get(name):
        return op
    near = difflib.get_close_matches(name[:100], BY_NAME, n=1, cutoff=0.4)
    hint = f"; the nearest is {near[0]}" if near else ""
    shown = name[:100].encode("ascii", "backslashreplace").decode()
    raise NotFound("unknown_op", f"there is no op {shown!r}{hint}")
