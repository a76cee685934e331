-- Looking at leases, and ending those that expired.

--: step prepare view {leases}
-- Every row with the state of its lease. Nothing stores a state: it follows from the columns and the clock.
CREATE VIEW {leases} WITH (security_invoker = true) AS
SELECT {key_columns},
       CASE {state_of_final}WHEN {alias}.{until} > {clock} THEN 'running'
            WHEN {alias}.{until} IS NOT NULL{and_not_free_row} THEN 'expired'
            {state_of_waiting}ELSE 'available' END AS state,
       CASE WHEN {alias}.{until} > {clock} THEN {alias}.{holder} END AS holder,
       {until_moment} AS until,
       CASE WHEN {alias}.{until} > {clock}
            THEN ceil(extract(epoch FROM {until_moment} - clock_timestamp()))::bigint END AS seconds_left
  FROM {table};

--: step prepare function {recover_types}
-- Ends leases that expired at least p_older ago, so that their rows look as if they had been given back, and returns
-- these rows as they were. No claim needs this. p_dry only looks.
CREATE FUNCTION {recover}(p_older interval DEFAULT '0', p_dry boolean DEFAULT false)
RETURNS SETOF {table}
LANGUAGE plpgsql AS {quote}
DECLARE
  v_before  {until_type} := {clock_before};
  v_expired {table};
BEGIN
  FOR v_expired IN
    SELECT {alias}.* FROM {table}
     WHERE {alias}.{until} <= v_before{not_final}
     ORDER BY {alias}.{until} FOR UPDATE SKIP LOCKED
  LOOP
    IF NOT p_dry THEN
      UPDATE {table} SET
        {expire_set}
       WHERE {key_is_expired};
--: if also_expire
      {also_expire};
--: end
    END IF;
    RETURN NEXT v_expired;
  END LOOP;
END {quote};
