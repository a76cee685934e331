# For the scripts of this recipe: finds the tool, makes a database and prints results. To be sourced.
# shellcheck shell=bash disable=SC2034  # used by the scripts that source it

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

fail() {
  echo "FAIL  $*"
  exit 1
}

find_tool() {
  local built
  built=$(find "$root/build" -path '*/bin/leasehold' -printf '%T@ %p\n' 2> /dev/null | sort -n | tail -n 1)
  built=${built#* }
  echo "${LEASEHOLD:-$(command -v leasehold || echo "${built:?there is no leasehold: run ./quickstart}")}"
}

# set_stage: sets $tool, $folder and $url; the folder is removed when the script ends.
set_stage() {
  tool=$(find_tool)
  folder=$(mktemp -d "${TMPDIR:-/tmp}/leasehold-refresh.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  url=sqlite:$folder/refresh.db
  "$tool" --db "$url" migrate up > /dev/null
}
