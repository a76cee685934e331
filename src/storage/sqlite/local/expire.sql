-- For tests (testing.h): these leases expire now, as if their holders had died. Returns a row for each of them.
UPDATE leasehold_lease_check SET check_at = min(check_at, :now_us) WHERE lease_id IN (:lease_ids);
UPDATE leasehold_lease SET expires_at = min(expires_at, :now_us) WHERE ended_at IS NULL AND id IN (:lease_ids)
RETURNING id;
