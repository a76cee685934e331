# For the scripts of the recipes: finds the tool, makes a database, prints results and cleans up. To be sourced.
# shellcheck shell=bash disable=SC2034  # used by the scripts that source it

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

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

# set_folder: sets $tool and $folder; the folder is removed when the script ends, with what else it has made.
set_folder() {
  tool=$(find_tool)
  folder=$(mktemp -d "${TMPDIR:-/tmp}/leasehold-recipe.XXXXXX")
  chmod 755 "$folder"
  trap clear_stage EXIT
}

# set_server: the same, and sets $server: LEASEHOLD_TEST_POSTGRES or a throwaway one.
set_server() {
  set_folder
  server=${LEASEHOLD_TEST_POSTGRES:-$("$root/tools/throwaway-postgres" start "$folder/postgres")}
}

# set_stage sqlite|postgres: the same, and sets $url of a new database.
set_stage() {
  if [ "$1" = sqlite ]; then
    set_folder
    url=sqlite:$folder/store.db
    return
  fi
  set_server
  database=recipe_$$
  psql -X -q "$server" -c "CREATE DATABASE $database"
  url=${server%/*}/$database
}

# find_python: one that has psycopg2.
find_python() {
  if python3 -c 'import psycopg2' 2> /dev/null; then echo python3; else echo /usr/bin/python3; fi
}

# run_check ARGUMENTS...: check.py of this folder, with a server and the tool.
run_check() {
  set_server
  "$(find_python)" check.py "$server" "$(realpath "$tool")" "$@"
}

# Processes to kill if the script ends early.
cast=()

clear_stage() {
  local pid
  if [ -n "${serve-}" ]; then end_page; fi
  for pid in "${cast[@]}"; do kill -9 "$pid" 2> /dev/null || true; done
  if [ -n "${database-}" ]; then psql -X -q "$server" -c "DROP DATABASE IF EXISTS $database WITH (FORCE)"; fi
  if [ -e "$folder/postgres" ]; then "$root/tools/throwaway-postgres" stop "$folder/postgres"; fi
  rm -rf "$folder"
}
