# shellcheck shell=bash
# Shared by the scripts in this folder; to be sourced. Leaves the caller in the root of the repository.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The user named it from where they stood.
[ -z "${SINTER_DATA:-}" ] || SINTER_DATA=$(realpath -m "$SINTER_DATA")
cd "$root" || exit 1

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# meson uses ccache by itself where there is one; paths relative to the root let two checkouts share it. Without the
# sloppiness it keeps nothing that was compiled with a precompiled header. Depending on the headers themselves (and not on
# what the preprocessor makes of them) is what tells a precompiled header from one of a header that differs in a comment: GCC
# knows by its bytes whether it has read a header, and would read it again.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1

# configure FOLDER OPTION... : makes a build folder, or brings the options of an existing one up to date.
configure() {
  local folder=$1; shift
  if [ -f "$folder/build.ninja" ]; then
    meson configure "$folder" "$@"
  else
    meson setup "$folder" "$@"
  fi
}
