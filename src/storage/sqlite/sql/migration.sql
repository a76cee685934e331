-- Applied migrations and existing objects. Pairs with postgres/sql/migration.sql: same names, parameters, columns.
-- Nothing here reads the store clock: its table may not exist yet.

-- A store of an earlier build has the same table here; its checksums differ.
-- statement migration_present read
-- gives present bool, earlier bool
SELECT count(*) > 0 AS present, false AS earlier
  FROM sqlite_master WHERE type = 'table' AND name = 'leasehold_migration';

-- SQLite is a part of leasehold, and never too old.
-- statement server_version read
-- gives major int?, version text
SELECT NULL AS major, sqlite_version() AS version;

-- statement schema_version read
-- gives version int
SELECT coalesce(max(version), 0) AS version FROM leasehold_migration;

-- statement migration_list read
-- gives version int, name text, checksum text, applied_at time
SELECT version, name, checksum, applied_at FROM leasehold_migration ORDER BY version;

-- There is nothing to lock: a write transaction is already the only one.
-- statement migration_lock write
-- gives version int
SELECT version FROM leasehold_migration WHERE version = 0;

-- statement migration_record write
-- takes version int, name text, checksum text
-- gives applied_at time
INSERT INTO leasehold_migration (version, name, checksum, applied_at)
VALUES (:version, :name, :checksum,
        CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000)
RETURNING applied_at;

-- statement migration_forget write
-- takes version int
-- gives version int
DELETE FROM leasehold_migration WHERE version = :version RETURNING version;

-- Everything in the file that has our prefix or belongs to a table that has it. The text of a table contains its
-- columns as well; they are listed again, so that a drift can name the column. leasehold_adopted does not belong to the
-- store: `adopt apply` makes it beside the user's tables, and `adopt verify` checks it.
-- statement schema_objects read
-- gives object text, part_of text?, definition text, schema text
SELECT m.type || ' ' || m.name AS object,
       CASE WHEN m.name <> m.tbl_name THEN 'table ' || m.tbl_name END AS part_of,
       m.sql AS definition, '' AS schema
  FROM sqlite_master AS m
 WHERE m.sql IS NOT NULL AND (m.name GLOB 'leasehold_*' OR m.tbl_name GLOB 'leasehold_*')
   AND m.tbl_name <> 'leasehold_adopted'
UNION ALL
SELECT 'column ' || m.name || '.' || c.name, 'table ' || m.name,
       c.type || CASE WHEN c."notnull" THEN ' NOT NULL' ELSE '' END
              || CASE WHEN c.pk > 0 THEN ' PRIMARY KEY ' || c.pk ELSE '' END
              || coalesce(' DEFAULT ' || c.dflt_value, ''), ''
  FROM sqlite_master AS m JOIN pragma_table_xinfo(m.name) AS c
 WHERE m.type = 'table' AND m.name GLOB 'leasehold_*' AND m.name <> 'leasehold_adopted'
 ORDER BY 1;
