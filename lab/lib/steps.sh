# shellcheck shell=bash
# Steps of a test in the laboratory: what was done, how it ended, how long it took; and the guest that they share.

# How many times slower than usual the tests have to be patient.
# shellcheck disable=SC2034 # for those who include this
readonly TIME_SCALE=10

steps_results=()
guest=
lab_at_end steps_end_guest

# steps_result STATUS NAME SECONDS
steps_result() {
  local word=passed
  [ "$1" -eq 0 ] || word="FAILED ($1)"
  steps_results+=("$word: $2, $3 s")
  lab_say "${steps_results[-1]}"
}

# steps_boot NAME: a guest with the options that were set.
steps_boot() {
  local began=$SECONDS
  guest=$(mktemp -d "${TMPDIR:-/tmp}/rdma-lab.XXXXXX") || exit 1
  guest_start "$guest" && return
  steps_result 125 "$1: boot" $((SECONDS - began))
  return 1
}

steps_end_guest() {
  [ -n "$guest" ] || return
  guest_stop "$guest"
  rm -rf "$guest"
  guest=
}

# step NAME COMMAND...: runs a command on the host and notes how it went.
step() {
  local name=$1 began=$SECONDS status
  shift
  lab_say "$name"
  "$@"
  status=$?
  steps_result "$status" "$name" $((SECONDS - began))
  return "$status"
}

# steps_in_guest NAME SECONDS COMMAND...: the same in the guest. Fails only if the guest is of no use any more: it has gone,
# or still works at something.
steps_in_guest() {
  local name=$1
  shift
  step "$name" guest_exec "$guest" "$@"
  case $? in 124 | 125) return 1 ;; *) return 0 ;; esac
}

# Prints how all steps ended; fails if one did.
steps_summary() {
  lab_say "in all $SECONDS seconds:"
  printf '%s\n' "${steps_results[@]}"
  [[ "${steps_results[*]}" != *FAILED* ]]
}
