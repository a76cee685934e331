-- The audit log.

CREATE FUNCTION leasehold_internal.audit_record(
  p_who text, p_act text, p_key text, p_outcome text, p_detail text, p_request text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  sound    boolean := leasehold_internal.require_durable_transaction()
    AND leasehold_internal.require_text('caller', p_who) AND leasehold_internal.require_named('an act', p_act)
    AND leasehold_internal.require_text('key', p_key) AND leasehold_internal.require_named('an outcome', p_outcome)
    AND leasehold_internal.require_text('detail', p_detail)
    AND leasehold_internal.require_text('request id', p_request);
  entry_id bigint;
BEGIN
  INSERT INTO leasehold_internal.audit (at, who, act, key, outcome, detail, request_id)
  VALUES (leasehold_internal.now(), p_who, p_act, p_key, p_outcome, p_detail, p_request)
  RETURNING id INTO entry_id;
  RETURN entry_id;
END $$;

-- The newest first. NULL: any.
CREATE FUNCTION leasehold_internal.audit_list(
  p_who text, p_act text, p_key text, p_since timestamptz, p_until timestamptz, p_before_id bigint, p_max bigint
) RETURNS SETOF leasehold_internal.audit LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
  SELECT a.* FROM leasehold_internal.audit AS a
   WHERE (p_before_id IS NULL OR a.id < p_before_id) AND (p_who IS NULL OR a.who = p_who)
     AND (p_act IS NULL OR a.act = p_act) AND (p_key IS NULL OR a.key = p_key)
     AND (p_since IS NULL OR a.at >= p_since) AND (p_until IS NULL OR a.at < p_until)
   ORDER BY a.id DESC LIMIT p_max;
END $$;
