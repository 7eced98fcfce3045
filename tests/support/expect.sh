# For scripts that call a program like a user: sets `work`, a temporary folder, and counts `failures`. The
# caller sets `called`, the command, and `called_name`, its name in messages.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

say_failed() {
  echo "FAILED: $1" >&2
  sed 's/^/    /' "$work/out" >&2
  failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENT... : the exit code, and a text (a regular expression) that must be in what is printed.
expect() {
  local code=$1 text=$2 found=0
  shift 2
  "$called" "$@" >"$work/out" 2>&1 </dev/null || found=$?
  if [ "$found" -ne "$code" ]; then
    say_failed "exit code $found instead of $code: $called_name $*"
  elif ! grep -Eq -- "$text" "$work/out"; then
    say_failed "no \"$text\" in the output of: $called_name $*"
  fi
}
