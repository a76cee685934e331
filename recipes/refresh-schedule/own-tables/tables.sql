-- Tables of a service that refreshes listings from a few sources: stand-ins for your own. Only for the tests; apply.sql
-- is for the tables you have.

CREATE TABLE refresh_schedule (
  source       text        PRIMARY KEY,
  url          text        NOT NULL,
  enabled      boolean     NOT NULL DEFAULT true,
  interval_min interval    NOT NULL DEFAULT '10 minutes',
  interval_max interval    NOT NULL DEFAULT '15 minutes',
  next_run_at  timestamptz NOT NULL DEFAULT now(),
  is_running   boolean     NOT NULL DEFAULT false,
  last_run_at  timestamptz,
  last_ok_at   timestamptz,
  last_error   text,
  last_rows    bigint
);

CREATE TABLE listing (
  source        text          NOT NULL REFERENCES refresh_schedule (source) ON UPDATE CASCADE,
  listing_id    text          NOT NULL,
  title         text          NOT NULL,
  price         numeric(12,2) NOT NULL,
  first_seen_at timestamptz   NOT NULL DEFAULT now(),
  last_seen_at  timestamptz   NOT NULL DEFAULT now(),
  PRIMARY KEY (source, listing_id)
);
