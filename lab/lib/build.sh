# shellcheck shell=bash
# What the guest runs is built on the host, where the compilers are fast.
# shellcheck disable=SC2154 # lab is the caller's

root=$(dirname "$lab")

build_maven() {
  [ "${LAB_BUILD:-yes}" = yes ] || return 0
  # shellcheck disable=SC2086 # it may be a command with arguments
  ${MAVEN:-mvn} -q -B -ntp -Dquick -DskipTests "$@"
}

# build_tests: classes and tests of the core and of the DiSNI provider, its native library, and the class path of all that.
build_tests() {
  build_maven -f "$root/pom.xml" -pl rdma-rpc-disni -am test-compile dependency:build-classpath \
    -Dmdep.outputFile=target/lab-classpath -Dmdep.includeScope=test
}

# build_test_classpath MODULE: prints it.
build_test_classpath() {
  local module=$root/rdma-rpc-disni
  echo "$module/target/classes:$module/target/test-classes:$(cat "$module/target/lab-classpath")"
}

# The same of the gRPC transport, behind that of the provider.
build_grpc_classpath() {
  local module=$root/rdma-rpc-grpc
  echo "$(build_test_classpath):$module/target/classes:$module/target/test-classes:$(cat "$module/target/lab-classpath")"
}

# What lab/interop needs: the tests, those of the gRPC transport, and rdma-ping.
build_tools() {
  build_tests && build_maven -f "$root/pom.xml" -pl tools -am package &&
    build_maven -f "$root/pom.xml" -pl rdma-rpc-grpc -am test-compile dependency:build-classpath \
      -Dmdep.outputFile=target/lab-classpath -Dmdep.includeScope=test
}

# The native library with AddressSanitizer, and as others may have built it.
build_libraries() {
  make -s -C "$root/rdma-rpc-disni/src/main/native" OUT="$root/rdma-rpc-disni/target/native" \
    JAVA_HOME="$(build_java_home)" asan plain
}

build_java_home() {
  dirname "$(dirname "$(readlink -f "$(command -v javac)")")"
}

build_sample_directory() {
  echo "$lab/target/sample"
}

# The sample application as the guest starts it fastest: in single jars, with an archive of loaded classes, which a start
# on the host writes.
build_sample() {
  local directory
  directory=$(build_sample_directory)
  rm -rf "$directory"
  build_maven -f "$root/pom.xml" -pl sample-app -am package &&
    java -Djarmode=tools -jar "$root"/sample-app/target/rdma-rpc-sample-app-*-exec.jar extract --force --destination "$directory" &&
    timeout 120 java -XX:ArchiveClassesAtExit="$directory/app.jsa" -Dspring.context.exit=onRefresh \
      -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -jar "$directory"/rdma-rpc-sample-app-*.jar \
      --spring.profiles.active=server --rdma.rpc.server.port=0 >"$directory/archive.log" 2>&1
}
