DROP TABLE leasehold_migration;
