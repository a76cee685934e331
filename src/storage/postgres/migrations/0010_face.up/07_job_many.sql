-- Searching jobs, and operating on many of them.

CREATE FUNCTION leasehold.job_search(
  text text, queue text DEFAULT NULL, state text DEFAULT NULL, tag text DEFAULT NULL, "group" text DEFAULT NULL,
  batch text DEFAULT NULL, dedupe_key text DEFAULT NULL, enqueued_after timestamptz DEFAULT NULL,
  enqueued_before timestamptz DEFAULT NULL, max bigint DEFAULT {defaults.job_list_max}, page bigint DEFAULT NULL,
  OUT ids bigint[], OUT scanned bigint, OUT oldest_scanned_at timestamptz, OUT complete boolean, OUT next bigint
) LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  found := leasehold_internal.job_search(
    text, leasehold_internal.job_filter_of(queue, tag, "group", dedupe_key, batch, enqueued_after, enqueued_before, page),
    string_to_array(state, ','), max);
  ids := found.ids;
  scanned := found.scanned;
  oldest_scanned_at := found.oldest_at;
  next := found.next_before;
  complete := next IS NULL;
END $$;

COMMENT ON FUNCTION leasehold.job_search IS $doc$Searches jobs for a text in payload, errors, tags and metadata, the newest first. One call looks at up to {bounds.max_jobs_searched as text} jobs, for about {bounds.max_search_time as text}.

text: what they contain; ASCII letters match in either case.
queue, state, tag, group, batch, dedupe_key: only jobs with these; NULL: any.
enqueued_after: jobs that were enqueued at this time or later.
enqueued_before: jobs that were enqueued before this time.
max: at most so many jobs.
page: the `next` of the call before; NULL is the first call.

Answer:
ids: the jobs that contain the text; job_show describes them.
scanned: how many jobs were looked at.
oldest_scanned_at: when the oldest of them was enqueued.
complete: true if no older job is left to look at.
next: the page that continues; NULL if the search is complete.

Errors: LH003.

Example:
SELECT ids, scanned, complete FROM leasehold.job_search('ann@example.com', queue => 'mail');

Scope: read.$doc$;

CREATE FUNCTION leasehold.job_bulk(
  action text, queue text DEFAULT NULL, state text DEFAULT NULL, tag text DEFAULT NULL, "group" text DEFAULT NULL,
  batch text DEFAULT NULL, dedupe_key text DEFAULT NULL, enqueued_after timestamptz DEFAULT NULL,
  enqueued_before timestamptz DEFAULT NULL, reason text DEFAULT NULL, preview boolean DEFAULT false,
  max bigint DEFAULT {bounds.max_bulk}, page text DEFAULT NULL,
  OUT matched bigint, OUT changed bigint, OUT skipped bigint, OUT next text
) LANGUAGE plpgsql AS $$
DECLARE
  f    leasehold_internal.job_filter := leasehold_internal.job_filter_of(
    queue, tag, "group", dedupe_key, batch, enqueued_after, enqueued_before, NULL);
  done record;
BEGIN
  IF page IS NOT NULL THEN
    PERFORM leasehold_internal.require(page ~ '^\d{1,18}-\d{1,18}$', 'a page is the `next` of the call before');
    f.from_id := split_part(page, '-', 1);
    f.before_id := split_part(page, '-', 2);
  END IF;
  done := leasehold_internal.job_bulk(action, f, state, reason, preview, max);
  matched := done.matched;
  changed := done.changed;
  skipped := CASE WHEN preview THEN 0 ELSE matched - changed END;
  next := done.next_from || '-' || done.next_before;
END $$;

COMMENT ON FUNCTION leasehold.job_bulk IS $doc$Cancels, retries or removes the jobs that match, one batch in each call. Jobs that are enqueued after the first call are left alone.

action: cancel, retry or remove.
queue, state, tag, group, batch, dedupe_key: only jobs with these; NULL: any.
enqueued_after: jobs that were enqueued at this time or later.
enqueued_before: jobs that were enqueued before this time.
reason: of a cancel; kept with the events.
preview: only count, up to {bounds.max_bulk_counted as text} jobs in a call.
max: jobs in one call, up to {bounds.max_bulk as text}.
page: the `next` of the call before; NULL is the first call.

Answer:
matched: jobs that match and that the action can change. Without a state, retry takes failed jobs, cancel those that wait or run, and remove those that do not run.
changed: how many were cancelled or told to stop, retried, or removed.
skipped: how many could not be changed.
next: the page that continues; NULL if all are done.

Errors: LH002, LH003.

Example:
SELECT matched, next FROM leasehold.job_bulk('cancel', queue => 'mail', state => 'deferred', preview => true);

Scope: admin.$doc$;
