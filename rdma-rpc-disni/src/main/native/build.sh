#!/bin/sh
# build.sh OBJECTS TARGET JAVA_HOME [REQUIRED]
#
# Builds the JNI library into TARGET/linux-ARCH/libdisni.so if there is all that it takes. If not, says what is missing and
# succeeds, or fails if REQUIRED is true. CC chooses the compiler and with it the architecture.
set -eu

objects=$1
target=$2
java_home=$3
required=${4:-false}
sources=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}

leave_out() {
  echo "The native library for RDMA adapters is left out: $1"
  if [ "$required" = true ]; then
    exit 1
  fi
  exit 0
}

for tool in make "$cc"; do
  command -v "$tool" >/dev/null 2>&1 || leave_out "no $tool here (Debian: apt-get install make gcc libc6-dev libibverbs-dev librdmacm-dev)"
done

# A JDK's jni.h; Maven may have told us of its JRE.
[ -r "$java_home/include/jni.h" ] || java_home=$(dirname "$java_home")
[ -r "$java_home/include/jni.h" ] || leave_out "no include/jni.h in $3 (a JDK has it)"

# The first header says what is missing when the second one does too.
for header in stdlib.h infiniband/verbs.h rdma/rdma_cma.h; do
  echo "#include <$header>" | "$cc" -E -o /dev/null -x c - 2>/dev/null ||
    leave_out "$cc finds no <$header> (Debian: apt-get install libc6-dev libibverbs-dev librdmacm-dev)"
done

arch=$("$cc" -dumpmachine)
arch=${arch%%-*}
case $arch in
  amd64) arch=x86_64 ;;
  arm64) arch=aarch64 ;;
  powerpc64le) arch=ppc64le ;;
esac

make -s -C "$sources" OUT="$objects/$arch" JAVA_HOME="$java_home" CC="$cc" all
mkdir -p "$target/linux-$arch"
if ! cmp -s "$objects/$arch/libdisni.so" "$target/linux-$arch/libdisni.so"; then
  cp "$objects/$arch/libdisni.so" "$target/linux-$arch/libdisni.so"
fi
