#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The short check on aarch64: Debian's arm64 Python and PyPI's aarch64 wheels under qemu-user.
# Needs Debian 12 or newer with qemu-user, and pip: aarch64.sh FOLDER [PYTHON WITH PIP]
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=${2:-python3}
command -v qemu-aarch64 > /dev/null || { echo 'needs qemu-aarch64: apt-get install qemu-user'; exit 1; }

if [ ! -e "$folder/ready" ]; then
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/debs"
    apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64
        -o "Dir::State=$folder/apt" -o Dir::State::status=/dev/null
        -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$folder/debs" && "${apt[@]}" download python3.11-minimal libpython3.11-minimal \
        libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libssl3 libffi8 \
        libbz2-1.0 liblzma5 libuuid1)
    for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder/root"; done
    "$python" -m pip install --disable-pip-version-check --quiet --target "$folder/site" \
        --platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 \
        --platform manylinux_2_28_aarch64 --python-version 3.11 --implementation cp \
        --only-binary=:all: numpy scipy numpy-quaternion defusedxml PyYAML llvmlite casadi
    touch "$folder/ready"
fi
PYTHONPATH="$folder/site:$PWD" PYTHONHOME="$folder/root/usr" OPENBLAS_NUM_THREADS=1 \
    qemu-aarch64 -L "$folder/root" "$folder/root/usr/bin/python3.11" \
    test/platforms/short_check.py
