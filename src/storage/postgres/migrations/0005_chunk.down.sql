-- Jobs that wait for a set go back to their queues.
DO $$
BEGIN
  PERFORM leasehold_internal.job_unblock(ARRAY(SELECT b.after_id FROM leasehold_internal.blocked AS b WHERE b.after_id < 0),
                                leasehold_internal.now());
END $$;

SELECT leasehold_internal.undo_migration(5);
