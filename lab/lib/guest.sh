# shellcheck shell=bash
# The guest, seen from the host: start it, run commands in it (several at a time if need be), stop it.
#
# A guest is a directory that both sides can write. In it: control.in and control.out, pipes to and from the guest's
# init; jobs/, a directory for each command, with its output and a pipe that brings its end; out/; console.log.
# shellcheck disable=SC2154,SC2034 # lab is the caller's, guest_rest is for the caller

guest_children=()

# guest_options ARGUMENT...: takes the options of a guest from the front of the arguments, into variables guest_*, and
# leaves the rest in guest_rest.
guest_options() {
  guest_devices=siw guest_crc=N guest_pair='' guest_memory=3072 guest_processors=2 guest_forwards='' guest_capture=''
  guest_timeout=240 guest_out='' guest_environment=() guest_rest=()
  while [ $# -gt 0 ]; do
    case $1 in
      --device) guest_devices=${2//,/ } ;;
      --pair) guest_pair=$2 ;;
      --memory) guest_memory=$2 ;;
      --processors) guest_processors=$2 ;;
      --forward) guest_forwards+=",hostfwd=tcp:127.0.0.1:${2%%:*}-:${2##*:}" ;;
      --capture) guest_capture=$(realpath -m "$2") ;;
      --timeout) guest_timeout=$2 ;;
      --out) guest_out=$2 ;;
      --env) guest_environment+=("$2") ;;
      --crc)
        guest_crc=Y
        shift
        continue
        ;;
      --)
        shift
        break
        ;;
      -*) lab_fail 2 "unknown option $1" ;;
      *) break ;;
    esac
    [ $# -ge 2 ] || lab_fail 2 "option $1 wants a value"
    shift 2
  done
  guest_rest=("$@")
  local device
  for device in $guest_devices $guest_pair; do
    case $device in siw | rxe | none) ;; *) lab_fail 2 "a device is siw or rxe, not $device" ;; esac
  done
  [ "$guest_devices" != none ] || guest_devices=''
}

# guest_start DIRECTORY: boots a guest as guest_options said, and returns when it takes commands.
guest_start() {
  local directory=$1 answer=''
  mkdir -p "$directory/jobs" "$directory/out"
  cp -r "$lab/guest" "$directory/"
  mkfifo "$directory/control.in" "$directory/control.out" "$directory/ready"
  printf '%s=%q\n' lab_modules "$LAB_CACHE/kernel/lib/modules" lab_devices "$guest_devices" lab_crc "$guest_crc" \
    lab_pair "$guest_pair" >"$directory/settings"
  exec {ready}<>"$directory/ready"
  guest_machine "$directory" &
  guest_children=($!)
  guest_dispatch "$directory" &
  guest_children+=($!)
  read -r -t 180 -u "$ready" answer
  exec {ready}>&-
  [ "$answer" = ready ] && return
  lab_say "the guest did not start; its console said:"
  tail -n 40 "$directory/console.log" "$directory/machine.log" >&2
  guest_stop "$directory"
  return 1
}

# guest_machine DIRECTORY: the machine itself, until it ends or its time is over.
guest_machine() {
  local directory=$1 capture=()
  [ -z "$guest_capture" ] || capture=(-object "filter-dump,id=capture,netdev=net,file=$guest_capture")
  timeout --kill-after=5 "$((guest_timeout + 180))" qemu-system-x86_64 \
    -machine pc -accel tcg,thread=multi,tb-size=512 -cpu max -smp "$guest_processors" -m "$guest_memory" \
    -nodefaults -display none -no-reboot \
    -kernel "$LAB_CACHE/kernel/boot/vmlinuz-$(lab_kernel)" -initrd "$LAB_CACHE/initramfs.gz" \
    -append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr net.ifnames=0" \
    -serial "file:$directory/console.log" \
    -device virtio-serial-pci -chardev "pipe,id=control,path=$directory/control" \
    -device virtserialport,chardev=control,name=lab.control \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=exchange,path=$directory,security_model=none" \
    -device virtio-9p-pci,fsdev=exchange,mount_tag=exchange \
    -netdev "user,id=net$guest_forwards" -device virtio-net-pci,netdev=net "${capture[@]}" \
    </dev/null >"$directory/machine.log" 2>&1 &
  echo $! >"$directory/machine"
  wait
  echo gone 1<>"$directory/control.out"
}

# guest_dispatch DIRECTORY: brings each event of the guest to who waits for it.
guest_dispatch() {
  local directory=$1 word job status
  while read -r word job status; do
    case $word in
      ready) echo ready 1<>"$directory/ready" ;;
      done) echo "$status" 1<>"$directory/jobs/$job/end" ;;
      gone)
        : >"$directory/gone"
        for job in "$directory"/ready "$directory"/jobs/*/end; do
          [ ! -p "$job" ] || echo gone 1<>"$job"
        done
        break
        ;;
    esac
  done <>"$directory/control.out"
}

# guest_exec DIRECTORY SECONDS COMMAND...: runs a command (one word: text for the shell) in the guest, in the directory
# where the caller is; its output is ours. Returns its exit status, 124 when its time is over, 125 when the guest ended.
guest_exec() {
  local directory=$1 seconds=$2 job end status='' output=() lives self=$BASHPID
  shift 2
  job=$(mktemp -d "$directory/jobs/XXXXXX")
  guest_command "$@" >"$job/command"
  : >"$job/stdout"
  : >"$job/stderr"
  mkfifo "$job/end"
  exec {end}<>"$job/end"
  # The readers of the output end, having read all of it, with this process, which ends with us.
  tail -s 0.5 --pid="$self" -f /dev/null {end}>&- &
  lives=$!
  tail -s 0.05 --pid="$lives" -c +1 -f "$job/stdout" {end}>&- &
  output+=($!)
  tail -s 0.05 --pid="$lives" -c +1 -f "$job/stderr" {end}>&- >&2 &
  output+=($!)
  echo "$lives ${output[*]}" >"$job/readers"
  [ ! -e "$directory/gone" ] || echo gone >&"$end"
  echo "run ${job##*/}" 1<>"$directory/control.in"
  read -r -t "$seconds" -u "$end" status
  exec {end}>&-
  kill "$lives"
  wait "$lives" "${output[@]}" 2>/dev/null
  case $status in
    '')
      lab_say "stopped after $seconds seconds"
      echo "kill ${job##*/}" 1<>"$directory/control.in"
      return 124
      ;;
    gone)
      lab_say "the guest ended before the command; its console said:"
      tail -n 40 "$directory/console.log" "$directory/machine.log" >&2
      return 125
      ;;
    *) return "$status" ;;
  esac
}

# guest_has_crashed DIRECTORY: whether the guest's kernel has met a bug of its own.
guest_has_crashed() {
  [ -n "$(guest_crash "$1")" ]
}

# guest_crash DIRECTORY: prints what the guest's kernel said first of such a bug, if it did.
guest_crash() {
  grep -m 1 -aoE '(kernel BUG at|BUG: |Oops: |general protection fault).*' "$1/console.log"
}

# guest_command COMMAND...: prints the script that the guest runs.
guest_command() {
  printf 'cd %q 2>/dev/null || cd /\n' "$PWD"
  printf 'export LAB=/lab LAB_OUT=/lab/out LAB_ADDRESS=10.0.2.15 LAB_HOST=10.0.2.2 LAB_DEVICE=%q\n' "${guest_devices%% *}"
  [ -z "${JAVA_HOME:-}" ] || printf "export JAVA_HOME=%q PATH=%q:\$PATH\n" "$JAVA_HOME" "$JAVA_HOME/bin"
  [ ${#guest_environment[@]} -eq 0 ] || printf 'export %q\n' "${guest_environment[@]}"
  if [ $# -eq 1 ]; then
    printf '%s\n' "$1"
  else
    printf '%q ' "$@"
    printf '\n'
  fi
}

# guest_stop DIRECTORY: ends the guest, and waits until nothing of it runs. What commands left in /lab/out is kept, in
# the directory that --out named.
guest_stop() {
  local directory=$1 file lives readers machine
  if [ -s "$directory/machine" ]; then
    read -r machine <"$directory/machine"
    kill "$machine" 2>/dev/null && timeout 15 tail -s 0.1 --pid="$machine" -f /dev/null
  fi
  for file in "$directory"/jobs/*/readers; do
    [ -s "$file" ] || continue
    read -r lives readers <"$file"
    kill "$lives" 2>/dev/null
    # shellcheck disable=SC2086 # one word for each
    wait "$lives" $readers 2>/dev/null
  done
  [ ${#guest_children[@]} -eq 0 ] || wait "${guest_children[@]}" 2>/dev/null
  guest_children=()
  if [ -n "$guest_out" ] && [ -n "$(ls -A "$directory/out" 2>/dev/null)" ]; then
    mkdir -p "$guest_out"
    cp -r "$directory/out/." "$guest_out/"
  fi
}
