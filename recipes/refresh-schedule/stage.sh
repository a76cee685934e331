# For the scripts of this recipe: finds the tool, makes a database and prints results. To be sourced.
# shellcheck shell=bash disable=SC2034,SC2119,SC2120  # used by the scripts that source it

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

fail() {
  echo "FAIL  $*"
  exit 1
}

# expect WHAT WANTED SEEN
expect() {
  [ "$2" = "$3" ] || fail "$1: $3 instead of $2"
  echo "ok    $1: $3"
}

find_tool() {
  local built
  built=$(find "$root/build" -path '*/bin/leasehold' -printf '%T@ %p\n' 2> /dev/null | sort -n | tail -n 1)
  built=${built#* }
  echo "${LEASEHOLD:-$(command -v leasehold || echo "${built:?there is no leasehold: run ./quickstart}")}"
}

# set_stage sqlite|postgres: sets $tool, $folder and $url; folder and database are removed when the script ends.
set_stage() {
  tool=$(find_tool)
  folder=$(mktemp -d "${TMPDIR:-/tmp}/leasehold-refresh.XXXXXX")
  chmod 755 "$folder"
  database=refresh_schedule_$$
  trap clear_stage EXIT
  if [ "$1" = sqlite ]; then
    url=sqlite:$folder/refresh.db
  else
    server=${LEASEHOLD_TEST_POSTGRES:-$("$root/tools/throwaway-postgres" start "$folder/postgres")}
    psql -X -q "$server" -c "CREATE DATABASE $database"
    url=${server%/*}/$database
  fi
  "$tool" --db "$url" migrate up > /dev/null
}

clear_stage() {
  if [ -n "${server-}" ]; then
    psql -X -q "$server" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)"
    [ -n "${LEASEHOLD_TEST_POSTGRES-}" ] || "$root/tools/throwaway-postgres" stop "$folder/postgres"
  fi
  rm -rf "$folder"
}

# sql: runs the statements on stdin in a new connection; fields are separated by blanks.
sql() { psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 "$url" "$@"; }
ask() { sql <<< "$1"; }
