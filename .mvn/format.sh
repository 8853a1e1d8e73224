#!/usr/bin/env bash
# Runs the formatter over the sources of all modules: format.sh check|apply|skip CLASSPATH
# Called by Maven, which sets JAVA_HOME to the toolchain's JDK.
set -euo pipefail
mode=$1
class_path=$2
cd "$(dirname "$0")/.."

case $mode in
check) flags=(--dry-run --set-exit-if-changed) ;;
apply) flags=(--replace) ;;
skip)
    echo "Building without tests; this takes some 20 s before anything more is shown."
    exit 0
    ;;
*)
    echo "format.sh: mode '$mode' is not check, apply or skip" >&2
    exit 2
    ;;
esac

# A check that passed leaves a stamp, and the next looks only at files that changed since; at all, if the build did.
stamp=target/formatted
newer=()
if [ $mode = check ] && [ -f $stamp ] && [ $stamp -nt pom.xml ] && [ $stamp -nt .mvn/format.sh ]; then
    newer=(-newer $stamp)
fi
mkdir -p target
touch $stamp.next
mapfile -t files < <(find rdma-channel spi bench compat-tests -path '*/src/*' -name '*.java' "${newer[@]}" | sort)
if [ ${#files[@]} -eq 0 ]; then
    mv $stamp.next $stamp
    exit 0
fi

exports=()
for package in api code file parser tree util; do
    exports+=("--add-exports=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED")
done

# The formatter exits 0 on a flag it does not know, so any word from it counts as a failure too.
if ! output=$("$JAVA_HOME/bin/java" "${exports[@]}" --sun-misc-unsafe-memory-access=allow -XX:+UseSerialGC \
    -XX:TieredStopAtLevel=1 -cp "$class_path" com.palantir.javaformat.java.Main --palantir "${flags[@]}" \
    "${files[@]}" 2>&1) || [ -n "$output" ]; then
    echo "$output" >&2
    echo "Not formatted, or not parsed: the files above. 'mvn -q -N -Pformat' formats them in place." >&2
    exit 1
fi
mv $stamp.next $stamp
