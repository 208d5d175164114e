#!/bin/sh
# Runs a case of good_guest in a state directory of its own, and clears away what it left running.
# Usage: run_good_guest.sh PROGRAM CASE
state=$(mktemp -d) || exit 1
end() {
  result=$?
  "$1" clear "$state/cove" >/dev/null || result=1
  rm -rf "$state"
  exit "$result"
}
trap 'end "$1"' EXIT
if [ "$2" = other_locale ] && [ -e /usr/share/i18n/locales/de_DE ]; then
  localedef -i de_DE -f UTF-8 "$state/de_DE.UTF-8" && export LOCPATH="$state"
fi
"$1" "$2" "$state/cove"
