# The option --serve of the recipes' run scripts: shows the recipe's store on the page of `leasehold serve` while it
# runs, and until Ctrl-C afterwards. To be sourced; needs $tool.
# shellcheck shell=bash disable=SC2154  # $tool is set by the script that sources it

# take_serve ARGUMENTS...: sets $serve and, without --serve, $arguments.
take_serve() {
  local argument
  serve=no
  arguments=()
  for argument; do
    if [ "$argument" = --serve ]; then serve=yes; else arguments+=("$argument"); fi
  done
}

# serve_page URL: with --serve, starts the server on a store and prints the address of its page. LEASEHOLD_SERVE names
# another address than 127.0.0.1:7420.
serve_page() {
  [ "$serve" = yes ] || return 0
  local address=${LEASEHOLD_SERVE:-127.0.0.1:7420} tries=100
  "$tool" --db "$1" serve --no-auth --listen "$address" --log error &
  server_of_page=$!
  # An open connection shows that it listens.
  until (exec 3<> "/dev/tcp/${address%:*}/${address##*:}") 2> /dev/null; do
    if ! kill -0 "$server_of_page" 2> /dev/null || ((--tries == 0)); then
      echo "there is no page: the server did not start on $address" >&2
      exit 1
    fi
    sleep 0.1
  done
  echo "watch it: http://$address/"
}

# leave_page: waits for Ctrl-C while the page stays, and ends the server.
leave_page() {
  [ "$serve" = yes ] || return 0
  echo "the page stays until you press Ctrl-C: http://${LEASEHOLD_SERVE:-127.0.0.1:7420}/"
  trap : INT TERM
  wait "$server_of_page" || true
  end_page
}

# end_page: for the trap of a script that may end early.
end_page() {
  [ -n "${server_of_page-}" ] || return 0
  kill "$server_of_page" 2> /dev/null || true
  wait "$server_of_page" 2> /dev/null || true
}
