#!/bin/sh
# Packages of PyPI that tests of the Python package and of launch files use: build/python-packages, 7 GB.
# What cannot be installed is left out: its tests are skipped with the reason.
set -eu
place=build/python-packages
wanted=tests/python/requirements.txt
if cmp -s "$wanted" "$place/complete"; then exit 0; fi

/usr/bin/python3 -m venv "$place"
"$place/bin/pip" --quiet install -r "$wanted"

# From its source, without compiling an operator; it needs PyTorch to be there.
"$place/bin/pip" --quiet install --no-build-isolation --no-deps deepspeed==0.19.8 ||
    echo 'python-packages: no DeepSpeed; the test of its launch files is skipped'

# The wheel is for a younger Python than Debian's; the parser of its arguments is plain Python.
if "$place/bin/pip" --quiet download --no-deps --only-binary=:all: --python-version 3.12 --platform manylinux_2_28_x86_64 \
    --dest "$place/wheels" megatron-core==0.19.2; then
    "$place/bin/python3" -m zipfile -e "$place"/wheels/megatron_core-*.whl "$place/megatron"
else
    echo 'python-packages: no Megatron Core; the test of its launch files is skipped'
fi
cp "$wanted" "$place/complete"
