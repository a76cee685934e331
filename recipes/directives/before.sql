-- A database of coding sessions that share a list of directives, as it is before adopt.toml: a Supabase project with
-- its roles and default privileges, row security, triggers, views and functions of its own, and rows that years of
-- plain UPDATEs have left behind. Needs an empty database, and a role that may create roles.

-- The roles of a Supabase project, which PostgreSQL shares between databases.
DO $$
DECLARE
  v_role text;
BEGIN
  FOREACH v_role IN ARRAY ARRAY['anon NOLOGIN', 'authenticated NOLOGIN', 'service_role NOLOGIN BYPASSRLS'] LOOP
    BEGIN
      EXECUTE 'CREATE ROLE ' || v_role;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;  -- It is there, perhaps since a moment ago.
    END;
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA public TO anon, authenticated, service_role;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon, authenticated, service_role;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON FUNCTIONS TO anon, authenticated, service_role;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON SEQUENCES TO anon, authenticated, service_role;

CREATE TABLE claude_sessions (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  session_id   text NOT NULL UNIQUE,
  sd_id        text,
  track        text CHECK (track IN ('A', 'B', 'C', 'STANDALONE')),
  tty          text,
  pid          integer,
  hostname     text,
  codebase     text,
  claimed_at   timestamptz,
  heartbeat_at timestamptz DEFAULT now(),
  status       text DEFAULT 'active' CHECK (status IN ('active', 'idle', 'stale', 'released')),
  metadata     jsonb DEFAULT '{}',
  created_at   timestamptz DEFAULT now(),
  updated_at   timestamptz DEFAULT now()
);
CREATE INDEX idx_claude_sessions_status ON claude_sessions (status);
CREATE INDEX idx_claude_sessions_sd ON claude_sessions (sd_id) WHERE sd_id IS NOT NULL;
CREATE INDEX idx_claude_sessions_heartbeat ON claude_sessions (heartbeat_at DESC);
COMMENT ON TABLE claude_sessions IS 'Coding sessions, one row per terminal.';

CREATE TABLE strategic_directives_v2 (
  id                varchar(50) PRIMARY KEY,
  legacy_id         varchar(50) UNIQUE,
  sd_key            text UNIQUE,
  title             text NOT NULL,
  status            text NOT NULL DEFAULT 'draft'
                    CHECK (status IN ('draft', 'active', 'in_progress', 'completed', 'cancelled')),
  priority          text DEFAULT 'medium',
  is_working_on     boolean DEFAULT false,
  active_session_id text REFERENCES claude_sessions (session_id) ON DELETE SET NULL,
  progress          integer DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  created_at        timestamptz DEFAULT now(),
  updated_at        timestamptz DEFAULT now()
);
CREATE INDEX idx_sd_active_session ON strategic_directives_v2 (active_session_id) WHERE active_session_id IS NOT NULL;

CREATE TABLE sd_claims (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sd_id          text NOT NULL,
  session_id     text NOT NULL REFERENCES claude_sessions (session_id) ON DELETE CASCADE,
  track          text NOT NULL,
  claimed_at     timestamptz DEFAULT now(),
  released_at    timestamptz,
  release_reason text CHECK (release_reason IN ('completed', 'timeout', 'manual', 'conflict', 'session_ended'))
);
CREATE INDEX idx_sd_claims_active ON sd_claims (sd_id) WHERE released_at IS NULL;

CREATE TABLE sd_conflict_matrix (
  sd_id_a           text NOT NULL,
  sd_id_b           text NOT NULL,
  conflict_severity text NOT NULL DEFAULT 'blocking',
  resolved_at       timestamptz,
  PRIMARY KEY (sd_id_a, sd_id_b)
);

CREATE TABLE product_requirements_v2 (
  id           text PRIMARY KEY,
  directive_id varchar(50) NOT NULL REFERENCES strategic_directives_v2 (id) ON DELETE CASCADE,
  title        text NOT NULL
);

-- Every change of a directive's flag, kept by a trigger of the user's own.
CREATE TABLE sd_flag_history (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sd         varchar(50) NOT NULL,
  working    boolean,
  session_id text
);

CREATE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END $$;
CREATE TRIGGER touch_session BEFORE UPDATE ON claude_sessions FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
CREATE TRIGGER touch_directive BEFORE UPDATE ON strategic_directives_v2
  FOR EACH ROW EXECUTE FUNCTION touch_updated_at();

CREATE FUNCTION lower_hostname() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.hostname := lower(NEW.hostname);
  RETURN NEW;
END $$;
CREATE TRIGGER session_hostname BEFORE INSERT OR UPDATE ON claude_sessions
  FOR EACH ROW EXECUTE FUNCTION lower_hostname();

CREATE FUNCTION note_flag() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  INSERT INTO sd_flag_history (sd, working, session_id) VALUES (NEW.id, NEW.is_working_on, NEW.active_session_id);
  RETURN NULL;
END $$;
CREATE TRIGGER flag_history AFTER UPDATE ON strategic_directives_v2
  FOR EACH ROW WHEN (OLD.is_working_on IS DISTINCT FROM NEW.is_working_on) EXECUTE FUNCTION note_flag();
-- One that the user has switched off, and that must stay so.
CREATE TRIGGER flag_history_old AFTER UPDATE ON strategic_directives_v2 FOR EACH ROW EXECUTE FUNCTION note_flag();
ALTER TABLE strategic_directives_v2 DISABLE TRIGGER flag_history_old;

CREATE VIEW v_active_sessions WITH (security_invoker = true) AS
SELECT cs.id, cs.session_id, cs.sd_id, sd.title AS sd_title, cs.track, cs.tty, cs.pid, cs.hostname, cs.codebase,
       cs.claimed_at, cs.heartbeat_at, cs.status, cs.metadata, cs.created_at
  FROM claude_sessions cs
  LEFT JOIN strategic_directives_v2 sd ON cs.sd_id = sd.legacy_id::text OR cs.sd_id = sd.sd_key
 ORDER BY cs.track NULLS LAST, cs.claimed_at DESC;
COMMENT ON VIEW v_active_sessions IS 'All sessions. Sessions are stale after 5 minutes without a heartbeat.';
COMMENT ON COLUMN v_active_sessions.sd_title IS 'Of the directive in sd_id';

-- Two views that stand on it, one on top of the other.
CREATE VIEW v_parallel_track_status WITH (security_invoker = true) AS
SELECT t.track, count(v.session_id) AS sessions, max(v.heartbeat_at) AS last_heartbeat
  FROM (VALUES ('A'), ('B'), ('C'), ('STANDALONE')) AS t(track)
  LEFT JOIN v_active_sessions v ON v.track = t.track AND v.status = 'active'
 GROUP BY t.track;
COMMENT ON VIEW v_parallel_track_status IS 'Which tracks are busy';
REVOKE ALL ON v_parallel_track_status FROM anon;
CREATE VIEW v_free_tracks AS SELECT track FROM v_parallel_track_status WHERE sessions = 0;
GRANT SELECT (track) ON v_free_tracks TO PUBLIC;
ALTER VIEW v_free_tracks OWNER TO service_role;

CREATE FUNCTION claim_sd(p_sd_id text, p_session_id text, p_track text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  v_other record;
BEGIN
  SELECT * INTO v_other FROM v_active_sessions v
   WHERE v.sd_id = p_sd_id AND v.status = 'active' AND v.session_id <> p_session_id
     AND v.heartbeat_at > now() - interval '5 minutes' LIMIT 1;
  IF FOUND THEN
    RETURN jsonb_build_object('success', false, 'error', 'already_claimed', 'claimed_by', v_other.session_id);
  END IF;
  UPDATE sd_claims SET released_at = now(), release_reason = 'manual'
   WHERE session_id = p_session_id AND released_at IS NULL;
  UPDATE strategic_directives_v2 SET active_session_id = NULL WHERE active_session_id = p_session_id;
  INSERT INTO sd_claims (sd_id, session_id, track) VALUES (p_sd_id, p_session_id, p_track);
  UPDATE claude_sessions SET sd_id = p_sd_id, track = p_track, claimed_at = now(), heartbeat_at = now(),
         status = 'active'
   WHERE session_id = p_session_id;
  UPDATE strategic_directives_v2 SET active_session_id = p_session_id, is_working_on = true WHERE legacy_id = p_sd_id;
  RETURN jsonb_build_object('success', true, 'sd_id', p_sd_id, 'session_id', p_session_id, 'track', p_track,
                            'claimed_at', now());
END $$;
COMMENT ON FUNCTION claim_sd(text, text, text) IS 'Claim a directive for a session.';
REVOKE ALL ON FUNCTION claim_sd(text, text, text) FROM PUBLIC, anon;

CREATE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  v_sd_id text;
BEGIN
  SELECT sd_id INTO v_sd_id FROM claude_sessions WHERE session_id = p_session_id;
  IF v_sd_id IS NULL THEN
    RETURN jsonb_build_object('success', false, 'error', 'no_claim', 'message', 'Session has no active SD claim');
  END IF;
  UPDATE sd_claims SET released_at = now(), release_reason = p_reason
   WHERE session_id = p_session_id AND released_at IS NULL;
  UPDATE claude_sessions SET sd_id = NULL, track = NULL, claimed_at = NULL, heartbeat_at = now(), status = 'idle'
   WHERE session_id = p_session_id;
  UPDATE strategic_directives_v2 SET active_session_id = NULL, is_working_on = false WHERE legacy_id = v_sd_id;
  RETURN jsonb_build_object('success', true, 'released_sd', v_sd_id, 'reason', p_reason);
END $$;
COMMENT ON FUNCTION release_sd(text, text) IS 'Release the claim of a session.';
REVOKE ALL ON FUNCTION release_sd(text, text) FROM anon;

CREATE FUNCTION update_session_heartbeat(p_session_id text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  UPDATE claude_sessions SET heartbeat_at = now(), updated_at = now() WHERE session_id = p_session_id;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('success', false, 'error', 'session_not_found');
  END IF;
  RETURN jsonb_build_object('success', true, 'session_id', p_session_id, 'heartbeat_at', now());
END $$;

-- Calls release_sd inside the database.
CREATE FUNCTION cleanup_stale_sessions() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  v_session record;
  v_count   integer := 0;
BEGIN
  FOR v_session IN SELECT session_id, sd_id FROM claude_sessions
                    WHERE status NOT IN ('released', 'stale') AND heartbeat_at < now() - interval '5 minutes'
  LOOP
    IF v_session.sd_id IS NOT NULL THEN
      PERFORM release_sd(v_session.session_id, 'timeout');
    END IF;
    UPDATE claude_sessions SET status = 'stale' WHERE session_id = v_session.session_id;
    v_count := v_count + 1;
  END LOOP;
  RETURN jsonb_build_object('success', true, 'stale_sessions_cleaned', v_count);
END $$;

ALTER TABLE claude_sessions ENABLE ROW LEVEL SECURITY;
CREATE POLICY "sessions of signed-in users" ON claude_sessions TO authenticated USING (true) WITH CHECK (true);
ALTER TABLE strategic_directives_v2 ENABLE ROW LEVEL SECURITY;
CREATE POLICY "everyone reads directives" ON strategic_directives_v2 FOR SELECT TO anon, authenticated USING (true);
CREATE POLICY "signed-in users write directives" ON strategic_directives_v2 TO authenticated
  USING (true) WITH CHECK (true);
ALTER TABLE sd_claims ENABLE ROW LEVEL SECURITY;
CREATE POLICY "claims of signed-in users" ON sd_claims TO authenticated USING (true) WITH CHECK (true);

INSERT INTO claude_sessions (session_id, sd_id, track, tty, pid, hostname, codebase, claimed_at, heartbeat_at, status)
VALUES
  ('ann',  'SD-001',  'A',  '/dev/pts/1', 101, 'desk', 'EHG', now() - interval '50 min', now() - interval '40 s', 'active'),
  -- The same directive under the same name, and another one under both of its names.
  ('ben',  'SD-001',  'B',  '/dev/pts/2', 102, 'desk', 'EHG', now() - interval '49 min', now() - interval '10 s', 'active'),
  ('carl', 'SD-002',  'A',  '/dev/pts/3', 103, 'shed', 'EHG', now() - interval '20 min', now() - interval '90 s', 'active'),
  ('dora', 'docs',    'B',  '/dev/pts/4', 104, 'shed', 'EHG', now() - interval '10 min', now() - interval '20 s', 'active'),
  -- Crashed yesterday; its row stayed.
  ('eve',  'audit',   'C',  '/dev/pts/5', 105, 'shed', 'EHG', now() - interval '1 day',  now() - interval '1 day', 'active'),
  -- Its directive exists nowhere.
  ('finn', 'SD-999',  'C',  '/dev/pts/6', 106, 'barn', 'EHG', now() - interval '5 min',  now() - interval '30 s', 'active'),
  ('gus',  'SD-005',  'STANDALONE', '/dev/pts/7', 107, 'barn', 'EHG', now() - interval '3 min', now() - interval '5 s', 'active'),
  ('hal',  NULL,      NULL, '/dev/pts/8', 108, 'barn', 'EHG', NULL, now() - interval '15 s', 'idle'),
  -- Released, with the directive still in its row: not a claim.
  ('ida',  'SD-006',  NULL, NULL,         109, 'barn', 'EHG', NULL, now() - interval '2 days', 'released');

INSERT INTO strategic_directives_v2 (id, legacy_id, sd_key, title, status, is_working_on, active_session_id) VALUES
  ('0001', 'SD-001', 'parser',  'Parse nested comments', 'active', true,  'ann'),
  ('0002', 'SD-002', 'docs',    'Write it down',         'active', true,  'carl'),
  ('0003', 'SD-003', 'audit',   'Audit the log',         'active', true,  'eve'),
  -- A flag without a session, and one whose session works on something else.
  ('0004', 'SD-004', 'ghost',   'Exorcise',              'active', true,  NULL),
  ('0005', 'SD-005', 'ledger',  'Balance the ledger',    'active', false, NULL),
  ('0006', 'SD-006', 'release', 'Prepare a release',     'active', true,  'hal'),
  ('0007', 'SD-007', NULL,      'Without a key',         'draft',  false, NULL),
  ('0008', NULL,     'newest',  'Without a legacy id',   'draft',  false, NULL),
  ('0009', 'SD-009', 'done',    'Long done',             'completed', false, NULL);

INSERT INTO sd_claims (sd_id, session_id, track, claimed_at)
SELECT sd_id, session_id, track, claimed_at FROM claude_sessions WHERE claimed_at IS NOT NULL;
INSERT INTO sd_conflict_matrix (sd_id_a, sd_id_b) VALUES ('SD-005', 'SD-007');
INSERT INTO product_requirements_v2 VALUES ('PRD-1', '0001', 'Nested comments'), ('PRD-4', '0004', 'Ghosts');
