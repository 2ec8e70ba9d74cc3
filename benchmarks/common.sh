# Sourced by compare and jmh: where Java is, how to build; leaves JAVA and CLASS_PATH.
if [ -n "${JAVA_HOME:-}" ]; then JAVA=$JAVA_HOME/bin/java; else JAVA=java; fi

# Builds this module and what it needs; tests and style checks belong to the normal build.
build_benchmarks() {
	if [ -z "${NO_BUILD:-}" ]; then
		(cd "$here/.." && mvn -q -B -pl benchmarks -am package -DskipTests -Dquick)
	fi
	CLASS_PATH=$here/target/classes:$(cat "$here/target/class-path.txt")
}
