"""What the `namespace.*` ops take and return."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from loom_core.wire import INTEGRAL, Answer, Identified, Name, Request, Text, capped, none_as

Cardinality = Literal["one", "many"]


class NamespaceTaxonomyRequest(Identified):
    """`namespace.taxonomy`: what a namespace is about."""

    limit: Annotated[int, Field(ge=1), INTEGRAL, capped(1000)] = Field(
        100, description="Entities; capped at 1,000."
    )


class TaxonomyEntity(Answer):
    """An entity by degree."""

    entity: str
    degree: int
    community_id: int | None = None


class TaxonomyCommunity(Answer):
    """A community and its strongest members."""

    community_id: int
    size: int
    name: str
    members: list[str] = Field(default_factory=list)


class NamespaceTaxonomyResponse(Answer):
    """Entities by degree; communities largest first, empty until a pass has computed them."""

    entities: list[TaxonomyEntity] = Field(default_factory=list)
    communities: list[TaxonomyCommunity] = Field(default_factory=list)


class NamespaceAliasRequest(Identified):
    """`namespace.alias`: reads and writes of one canonical entity follow to another (D21)."""

    alias: Text = Field(min_length=1, description="The name that shall lead elsewhere.")
    entity: Text = Field(min_length=1, description="Where it leads.")
    remove: bool = Field(False, description="Take the alias away again.")


class NamespaceAliasResponse(Answer):
    """The canonical forms, and how many rows are still to be moved."""

    alias: str
    entity: str
    moved: int = Field(description="Rows still to re-canonicalise.")


class Declared(Request):
    """A preferred verb or attribute and how many values it holds at once."""

    fields_are_named_under: ClassVar[str] = "relations[]."

    name: Name
    cardinality: Cardinality


Declarations = Annotated[list[Declared], none_as(list), Field(max_length=1000)]


class NamespaceRegisterOntologyRequest(Identified):
    """`namespace.register_ontology`: merges by name; what it names replaces what was (D14)."""

    entity_types: Annotated[list[Name], Field(max_length=1000)] = Field(default_factory=list)
    relations: Declarations = Field(default_factory=list)
    attributes: Declarations = Field(default_factory=list)


class DeclaredName(Answer):
    """A registered verb or attribute, as stored."""

    name: str
    cardinality: Cardinality


class NamespaceRegisterOntologyResponse(Answer):
    """The namespace's whole ontology as it now stands."""

    entity_types: list[str] = Field(default_factory=list)
    relations: list[DeclaredName] = Field(default_factory=list)
    attributes: list[DeclaredName] = Field(default_factory=list)


class NamespaceConfigureRequest(Identified):
    """`namespace.configure`: `consolidation` has the namespace clustered without being walked (D45)."""

    consolidation: bool


class NamespaceConfigureResponse(Answer):
    """The settings as they now stand."""

    consolidation: bool
