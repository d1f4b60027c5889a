#!/usr/bin/env bash
# run.sh PROGRAM [SCRIPT.mjs ...]: opens the page of every verb in headless Chromium and checks it; pictures go to build/browser.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "$1")
folder=build/browser
mkdir -p "$folder"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ] || ! command -v npm >/dev/null; then
    echo "browser: chromium and npm are needed (packages.txt, packages-long.txt)" >&2
    exit 1
fi
if ! cmp -s tests/browser/package-lock.json "$folder/package-lock.json" || [ ! -d "$folder/node_modules/playwright-core" ]; then
    cp tests/browser/package.json tests/browser/package-lock.json "$folder/"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --update-notifier=false >npm.log 2>&1) ||
        { cat "$folder/npm.log" >&2; rm -f "$folder/package-lock.json"; exit 1; }
fi
"$folder/node_modules/.bin/tsc" -p web/tsconfig.json # the types of the page of headroom serve
scripts=(tests/browser/{main,looks}.mjs)
if [ $# -gt 1 ]; then
    scripts=("${@:2}")
elif "$program" --help | grep -q '^  serve '; then # a program without it has no page
    scripts+=(tests/browser/{serve,serve_scenarios}.mjs)
fi
for script in "${scripts[@]}"; do
    HEADROOM_PROGRAM=$program HEADROOM_BROWSER=$browser HEADROOM_BROWSER_FOLDER=$(realpath "$folder") \
        timeout 3600 node "$script"
done
