-- Tables as used by coding agents that share a backlog: stand-ins for your own, with the usual inconsistencies. Only
-- for the test; apply.sql is for the tables you have.

CREATE TABLE claude_sessions (
  session_id      text        PRIMARY KEY,
  sd_id           text,
  track           text,
  tty             text,
  pid             integer,
  hostname        text,
  codebase        text,
  claimed_at      timestamptz,
  heartbeat_at    timestamptz NOT NULL DEFAULT now(),
  status          text        NOT NULL DEFAULT 'idle' CHECK (status IN ('active', 'idle', 'stale', 'released')),
  metadata        jsonb       NOT NULL DEFAULT '{}',
  released_at     timestamptz,
  released_reason text,
  created_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE strategic_directives_v2 (
  id                text        PRIMARY KEY,
  legacy_id         text        UNIQUE,
  sd_key            text        UNIQUE,
  title             text        NOT NULL,
  status            text        NOT NULL DEFAULT 'active',
  progress          integer     NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  active_session_id text        REFERENCES claude_sessions (session_id) ON DELETE SET NULL,
  is_working_on     boolean     NOT NULL DEFAULT false,
  created_at        timestamptz NOT NULL DEFAULT now()
);

CREATE VIEW v_active_sessions AS
  SELECT session_id, sd_id, hostname, heartbeat_at,
         extract(epoch FROM now() - heartbeat_at) / 60 AS heartbeat_age_minutes
    FROM claude_sessions WHERE status <> 'released';

INSERT INTO claude_sessions (session_id, sd_id, track, tty, pid, hostname, codebase, claimed_at, heartbeat_at, status)
VALUES ('early', 'SD-PARSER', 'A', 'pts/1', 4711, 'desk', 'parser',
        now() - interval '50 minutes', now() - interval '9 seconds', 'active'),
       -- Has the same directive: nothing prevented that.
       ('twin', 'SD-PARSER', 'B', 'pts/2', 4712, 'desk', 'parser',
        now() - interval '49 minutes', now() - interval '2 minutes', 'active'),
       -- Crashed yesterday, and has blocked its directive since.
       ('crashed', 'SD-AUDIT', 'C', 'pts/3', 4713, 'shed', 'audit',
        now() - interval '1 day', now() - interval '1 day', 'active'),
       ('gone', NULL, NULL, NULL, NULL, 'shed', NULL, NULL, now() - interval '2 days', 'released');
UPDATE claude_sessions SET released_at = now() - interval '2 days', released_reason = 'manual' WHERE session_id = 'gone';

INSERT INTO strategic_directives_v2 (id, legacy_id, sd_key, title, status, progress, active_session_id, is_working_on)
VALUES ('SD-PARSER', 'SD-001', 'parser', 'Parse nested comments', 'active', 40, 'twin', true),
       ('SD-AUDIT', 'SD-002', 'audit', 'Audit the log', 'active', 10, 'crashed', true),
       -- A flag without a session.
       ('SD-GHOST', 'SD-003', 'ghost', 'Exorcise', 'active', 0, NULL, true),
       ('SD-DOCS', 'SD-004', 'docs', 'Write it down', 'active', 0, NULL, false),
       ('SD-DONE', 'SD-005', 'done', 'Long done', 'completed', 100, NULL, false);
