# For the scripts of this recipe: finds the tool, makes a database and prints results. To be sourced.
# shellcheck shell=bash disable=SC2034  # used by the scripts that source it

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

# eventually SECONDS COMMAND...: repeats the command until it succeeds.
eventually() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$until" ] || return 1
    sleep 0.05
  done
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
  folder=$(mktemp -d "${TMPDIR:-/tmp}/leasehold-agents.XXXXXX")
  chmod 755 "$folder"
  database=agent_sessions_$$
  trap clear_stage EXIT
  if [ "$1" = sqlite ]; then
    url=sqlite:$folder/agents.db
    return
  fi
  server=${LEASEHOLD_TEST_POSTGRES:-$("$root/tools/throwaway-postgres" start "$folder/postgres")}
  psql -X -q "$server" -c "CREATE DATABASE $database"
  url=${server%/*}/$database
}

# Processes to kill if the script ends early.
cast=()

clear_stage() {
  local pid
  if [ -n "${serve-}" ]; then end_page; fi
  for pid in "${cast[@]}"; do kill -9 "$pid" 2> /dev/null || true; done
  if [ -n "${server-}" ]; then
    psql -X -q "$server" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)"
    [ -n "${LEASEHOLD_TEST_POSTGRES-}" ] || "$root/tools/throwaway-postgres" stop "$folder/postgres"
  fi
  rm -rf "$folder"
}
