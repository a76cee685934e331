#!/usr/bin/env bash
# Sends the texts on standard input through job_enqueue, job_claim and job_complete with psql, as literals, and has the
# server compare.
#
#   roundtrip.sh URL QUEUE < corpus
set -euo pipefail
url=$1
queue=$2

# A psql variable for each text: :'t' quotes it as a literal.
statements() {
  cat << END
\\set queue '$queue'
\\o /dev/null
CREATE TEMP TABLE seen (equal boolean);
END
  while IFS= read -r line; do
    # In \\set, a quoted value has backslash escapes and doubled quotes.
    line=${line//\\/\\\\}
    printf "\\\\set t '%s'\n" "${line//\'/\'\'}"
    cat << 'END'
SELECT id FROM leasehold.job_enqueue(:'queue', :'t') \gset
SELECT token, payload AS p FROM leasehold.job_claim(:'queue') \gset
SELECT outcome FROM leasehold.job_complete(:id, :token, :'p');
INSERT INTO seen SELECT payload = :'t'::jsonb AND result = :'p'::jsonb AND payload_bytes = convert_to(:'t', 'UTF8') FROM leasehold.job_show(:id);
END
  done
  cat << 'END'
\o
SELECT count(*), count(*) FILTER (WHERE equal IS NOT TRUE) FROM seen;
END
}

read -r count wrong <<< "$(statements | PGOPTIONS='-c client_encoding=UTF8' psql -X -q -At -F ' ' -v ON_ERROR_STOP=1 "$url")"
echo "$count texts through psql, $wrong differ"
[ "$wrong" = 0 ] && [ "$count" -ge 100 ]
