# What the scripts of this recipe need: the tool, a database of their own, and a way to say what was seen. To be sourced.
# shellcheck shell=bash disable=SC2034  # used by who sources it

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

# eventually SECONDS COMMAND...: asks again until it holds.
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

# set_stage sqlite|postgres: gives $tool, $folder and $url, which are gone when the script ends.
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

# Processes to be ended with the script, should it end early.
cast=()

clear_stage() {
  local pid
  for pid in "${cast[@]}"; do kill -9 "$pid" 2> /dev/null || true; done
  if [ -n "${server-}" ]; then
    psql -X -q "$server" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)"
    [ -n "${LEASEHOLD_TEST_POSTGRES-}" ] || "$root/tools/throwaway-postgres" stop "$folder/postgres"
  fi
  rm -rf "$folder"
}
