# shellcheck shell=bash
# What the laboratory's commands share: where things are, how they speak, and how they say that they cannot work here.

# Exit status of a laboratory that this machine cannot have; everything else that is not 0 is a failure.
readonly LAB_UNAVAILABLE=75

# Downloads and builds, kept between runs and shared by all clones of one user.
LAB_CACHE=${RDMA_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rdma-rpc-lab}

# What of Debian the host needs (its programs are the guest's as well): package, and the file that shows it is there.
readonly LAB_PACKAGES=(
  qemu-system-x86=/usr/bin/qemu-system-x86_64
  busybox-static=/usr/share/doc/busybox-static/copyright
  cpio=/usr/bin/cpio
  kmod=/sbin/depmod
  iproute2=/sbin/ip
  rdma-core=/usr/sbin/iwpmd
  ibverbs-providers=/usr/lib/x86_64-linux-gnu/libibverbs/libsiw-rdmav34.so
  ibverbs-utils=/usr/bin/ibv_devinfo
  rdmacm-utils=/usr/bin/rping
  perftest=/usr/bin/ib_send_lat
  libibverbs-dev=/usr/include/infiniband/verbs.h
  librdmacm-dev=/usr/include/rdma/rdma_cma.h
  gcc=/usr/bin/gcc
  libc6-dev=/usr/include/stdio.h
  make=/usr/bin/make
  xz-utils=/usr/bin/xz
  procps=/usr/bin/pgrep
)

lab_say() {
  printf '[lab] %s\n' "$*" >&2
}

# lab_fail STATUS MESSAGE...: ends the command.
lab_fail() {
  local status=$1
  shift
  lab_say "$@"
  exit "$status"
}

# lab_unavailable MESSAGE...: ends the command, saying what this machine lacks.
lab_unavailable() {
  lab_fail "$LAB_UNAVAILABLE" "no laboratory on this machine: $*"
}

# Prints the packages of LAB_PACKAGES that are not installed.
lab_missing_packages() {
  local entry
  for entry in "${LAB_PACKAGES[@]}"; do
    [ -e "${entry#*=}" ] || echo "${entry%%=*}"
  done
}

# The release of the guest's kernel, from the cache.
lab_kernel() {
  cat "$LAB_CACHE/kernel/release"
}

# lab_at_end COMMAND: runs it however the script ends. A terminal and timeout(1) signal a script more than once; the second
# time must not end the command. A child that is signalled before it has forgotten the traps of the script must not run it.
lab_at_end() {
  # shellcheck disable=SC2064 # the command is known now
  trap "if [ \$BASHPID = \$\$ ]; then trap '' HUP INT TERM; $1; fi" EXIT
  trap "trap '' HUP INT TERM; exit 129" HUP
  trap "trap '' HUP INT TERM; exit 130" INT
  trap "trap '' HUP INT TERM; exit 143" TERM
}
