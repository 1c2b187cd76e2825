from tests.support.fleet_fixtures import fleet, stores, town

__all__ = ["fleet", "stores", "town"]
