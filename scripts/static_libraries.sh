#!/usr/bin/env bash
# static_libraries.sh FOLDER: archives of the libraries that Debian ships as shared objects only, built from Debian's own sources of the
# same versions into FOLDER/lib and FOLDER/include, for `make static`. Nothing is done where they are there already.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
sources=(libisal simdjson hwloc highway cpp-httplib)
[ -e "$folder/complete" ] && exit

# The sources of the places that this machine takes its packages from; its own lists stay as they are.
mkdir -p "$folder"/{lists/partial,source,lib,include}
awk '/^Types:/ { print "Types: deb-src"; next } { print }' /etc/apt/sources.list.d/debian.sources >"$folder/debian.sources" 2>/dev/null ||
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$folder/debian.list"
apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder/parts" -o "Dir::State::Lists=$folder/lists")
mkdir -p "$folder/parts"
mv "$folder"/debian.* "$folder/parts/"
"${apt[@]}" update
cd "$folder/source"
for source in "${sources[@]}"; do # of the version whose headers are installed
    version=$(dpkg-query -W -f='${source:Version}' "$(dpkg-query -W -f='${source:Package} ${Package} ${db:Status-Status}\n' |
        awk -v s="$source" '$1 == s && $3 == "installed" { print $2; exit }')")
    ls -d "$source"-* >/dev/null 2>&1 || "${apt[@]}" source "$source=$version"
done

archive() { # NAME OBJECT...
    rm -f "$folder/lib/lib$1.a"
    ar rcsD "$folder/lib/lib$1.a" "${@:2}"
}
compile=(g++ -O2 -DNDEBUG -fPIC -std=c++17 "-ffile-prefix-map=$folder=.")

cd "$folder/source"/simdjson-*/
"${compile[@]}" -Isingleheader -c singleheader/simdjson.cpp -o simdjson.o
archive simdjson simdjson.o

cd "$folder/source"/libisal-*/
make -s -f Makefile.unx -j"$(nproc)" lib >/dev/null
cp bin/isa-l.a "$folder/lib/libisal.a"

cd "$folder/source"/hwloc-*/ # without what asks services of the system: udev, PCI, displays
./configure -q --enable-static --disable-shared --disable-libudev --disable-pci --disable-opencl --disable-cuda --disable-nvml \
    --disable-rsmi --disable-levelzero --disable-gl --disable-libxml2 --disable-cairo --disable-plugins CFLAGS='-O2 -fPIC -w' >/dev/null
make -s -C hwloc -j"$(nproc)" >/dev/null
cp hwloc/.libs/libhwloc.a "$folder/lib/"

cd "$folder/source"/highway-*/
objects=()
for source in hwy/aligned_allocator.cc hwy/nanobenchmark.cc hwy/per_target.cc hwy/print.cc hwy/targets.cc; do
    [ -e "$source" ] || continue
    "${compile[@]}" -I. -c "$source" -o "${source%.cc}.o"
    objects+=("${source%.cc}.o")
done
archive hwy "${objects[@]}"

cd "$folder/source"/cpp-httplib-*/ # without TLS, which `headroom serve` does not speak
python3 "$PWD/split.py" >/dev/null
"${compile[@]}" -Iout -c out/httplib.cc -o httplib.o
archive cpp-httplib httplib.o
cp out/httplib.h "$folder/include/"
touch "$folder/complete"
