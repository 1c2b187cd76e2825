"""ClickHouse: the client, the migrations, the statements, and one repository per group of tables."""
