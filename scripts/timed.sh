#!/usr/bin/env bash
# timed.sh NAME COMMAND...: runs the command and keeps how long it took. timed.sh: prints what was kept on standard error, in
# one line, and forgets it: "packages 3 s, build 142 s (281 s of processor time)".
set -euo pipefail
cd "$(dirname "$0")/.."
kept=build/times

if [ $# -eq 0 ]; then
    paste -sd, "$kept" | sed 's/,/, /g' >&2
    rm "$kept"
    exit
fi
name=$1
shift
mkdir -p build
code=0
TIMEFORMAT='%R %U %S'
exec 3>&1 4>&2
spent=$({ time "$@" >&3 2>&4; } 2>&1) || code=$?
awk -v name="$name" '{
    printf "%s %.0f s", name, $1
    if ($2 + $3 >= 1) printf " (%.0f s of processor time)", $2 + $3
    print ""
}' <<<"$spent" >>"$kept"
[ "$code" -eq 0 ] || rm "$kept"
exit "$code"
