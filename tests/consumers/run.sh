#!/usr/bin/env bash
# Builds and runs program.cpp in the two ways in which another program can use Sinter: as a meson subproject,
# and through pkg-config after an install. usage: run.sh SOURCE_ROOT BUILD_ROOT COMPILER...
set -euo pipefail
source_root=$1 build_root=$2; shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$build_root/consumers
export XDG_CACHE_HOME=$work/cache SINTER_DEVICE=host
# The configuration of the surrounding build's meson must not leak into these.
unset MESON_BUILD_ROOT MESON_SOURCE_ROOT MESON_SUBDIR DESTDIR

echo "== as a meson subproject"
project=$work/project
mkdir -p "$project/subprojects"
cp "$here/program.cpp" "$project/program.cpp"
cp "$here/meson.build.in" "$project/meson.build"
ln -sfn "$source_root" "$project/subprojects/sinter"
# The surrounding build's compiler; no optimisation and one device, because only building and linking are
# tested.
options=(--buildtype=plain -Db_pch=false --force-fallback-for=sinter
  -Dsinter:vulkan=disabled -Dsinter:cuda=disabled -Dsinter:onednn=disabled)
if [ -f "$project/build/build.ninja" ]; then
  meson setup --reconfigure "$project/build" "$project" "${options[@]}" >"$work/setup.log" ||
    { cat "$work/setup.log"; exit 1; }
else
  CXX="$*" meson setup "$project/build" "$project" "${options[@]}" >"$work/setup.log" ||
    { cat "$work/setup.log"; exit 1; }
fi
ninja -C "$project/build" --quiet -j "$(nproc)"
"$project/build/program" | tee "$work/subproject.out"

echo "== through pkg-config"
stage=$work/stage
rm -rf "$stage"
meson install -C "$build_root" --no-rebuild --quiet --destdir "$stage"
description=$(find "$stage" -name sinter.pc)
[ -n "$description" ] || { echo "FAILED: the install has no sinter.pc"; exit 1; }
PKG_CONFIG_PATH=$(dirname "$description")
export PKG_CONFIG_PATH
libraries=$(pkg-config --variable=libdir sinter)
read -ra flags <<<"$(pkg-config --cflags --libs sinter)"
"$@" -std=c++20 "$here/program.cpp" -o "$work/program" "${flags[@]}" -Wl,-rpath,"$libraries"
"$work/program" | tee "$work/pkgconfig.out"

for out in subproject pkgconfig; do
  [ -s "$work/$out.out" ] || { echo "FAILED: the program printed nothing ($out)"; exit 1; }
  # The README shows the program and what it prints; the last digits of gradients depend on the library of products.
  grep -qxF "$(head -n 1 "$work/$out.out")" "$source_root/README.md" ||
    { echo "FAILED: README.md shows another output ($out)"; exit 1; }
done
