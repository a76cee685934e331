SELECT leasehold_internal.undo_migration(9);
