#!/usr/bin/env bash
# sources.sh: every C++ file that git knows or would take, NUL-separated.
# sources.sh changed: only translation units of the libraries and programs that differ from the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-all}" = changed ]; then
    {
        git diff --name-only --diff-filter=d HEAD -- core fit io probe document cli serve 2>/dev/null || true
        git ls-files --others --exclude-standard -- core fit io probe document cli serve
    } | grep '\.cpp$' | sort -u | tr '\n' '\0' || true
elif [ "${1:-all}" = units ]; then
    git ls-files -z --cached --others --exclude-standard -- 'core/*.cpp' 'fit/*.cpp' 'io/*.cpp' 'probe/*.cpp' 'document/*.cpp' 'cli/*.cpp' 'serve/*.cpp'
else
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' |
        while IFS= read -r -d '' file; do
            if [ -f "$file" ]; then printf '%s\0' "$file"; fi   # deleted, but not yet committed
        done
fi
