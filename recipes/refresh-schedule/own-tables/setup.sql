-- The tables with rows, and with the usual inconsistencies. Only for the test.

\ir tables.sql

INSERT INTO refresh_schedule (source, url, enabled, next_run_at, is_running, last_run_at, last_ok_at, last_rows)
VALUES ('homes', 'http://127.0.0.1:9/homes', true, now() - interval '1 minute', false,
        now() - interval '13 minutes', now() - interval '13 minutes', 2),
       -- Crashed yesterday, and has not run since: nothing clears the flag.
       ('rooms', 'http://127.0.0.1:9/rooms', true, now() - interval '1 day', true,
        now() - interval '1 day', now() - interval '2 days', 1),
       -- Was refreshed a while ago, and is not due.
       ('farms', 'http://127.0.0.1:9/farms', true, now() + interval '3 hours', false,
        now() - interval '1 hour', now() - interval '1 hour', 4),
       ('boats', 'http://127.0.0.1:9/boats', false, now() - interval '9 days', false, NULL, NULL, NULL);

INSERT INTO listing (source, listing_id, title, price, first_seen_at, last_seen_at)
VALUES ('homes', 'h1', 'House with a garden', 410000, now() - interval '30 days', now() - interval '13 minutes'),
       ('homes', 'h2', 'Flat near the station', 195000, now() - interval '3 days', now() - interval '13 minutes'),
       ('rooms', 'r1', 'Room under the roof', 480, now() - interval '5 days', now() - interval '2 days');
