#!/usr/bin/env bash
# failed_tests.sh BUILD_FOLDER: the last lines that each failed test of the last run of ctest printed, once more at the end,
# where a log that is cut in the middle still shows them.
set -euo pipefail
awk -v most=30 '
    / Test: /          { name = $3; lines = 0; output = 0; next }
    /^Output:$/        { output = 1; next }
    /^<end of output>/ { output = 0; next }
    output             { kept[lines++ % most] = $0; next }
    /^Test Passed\.$|^Test Skipped\.$/ { name = "" }
    /^Test (Failed|Timeout)/ && name != "" {
        printf "\n== %s\n", name
        for (i = lines > most ? lines - most : 0; i < lines; ++i) print kept[i % most]
        name = ""
    }' "$1/Testing/Temporary/LastTest.log" >&2
