# shellcheck shell=bash
# A program that runs beside others, on the host or by guest_exec in the guest: it is ready when it says so, and it is told
# to end by a line. Needs the steps.
# shellcheck disable=SC2154 # guest is theirs

server_process=
server_reader=

# server_free_port: prints a port of the loopback interface that nobody listens on.
server_free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

# server_start LOG PATTERN COMMAND...: returns when a line matches the pattern; fails if the program ends without it, or
# says nothing for two minutes. All that it says is put into the log.
server_start() {
  local log=$1 pattern=$2 pipe line='' output
  shift 2
  pipe=$guest/server-output
  rm -f "$pipe" "$guest/server-input"
  mkfifo "$pipe" "$guest/server-input"
  "$@" <>"$guest/server-input" >"$pipe" 2>&1 &
  server_process=$!
  exec {output}<"$pipe"
  while read -r -t 120 -u "$output" line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ $pattern ]]; then
      cat <&"$output" >>"$log" &
      server_reader=$!
      exec {output}<&-
      return
    fi
  done
  exec {output}<&-
  echo "not ready: $*"
  tail -n 20 "$log"
  server_stop
  return 1
}

# server_tell LINE: to its standard input.
server_tell() {
  echo "$1" 1<>"$guest/server-input"
}

# server_wait SECONDS: until it ends by itself; returns its status.
server_wait() {
  local status
  timeout "$1" tail -s 0.1 --pid="$server_process" -f /dev/null || {
    echo "the server does not end"
    server_stop
    return 1
  }
  wait "$server_process"
  status=$?
  [ -z "$server_reader" ] || wait "$server_reader"
  server_process='' server_reader=''
  return "$status"
}

server_stop() {
  [ -z "$server_process" ] || kill "$server_process" 2>/dev/null
  wait "$server_process" "$server_reader" 2>/dev/null
  server_process='' server_reader=''
}
