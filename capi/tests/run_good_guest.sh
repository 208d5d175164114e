#!/bin/sh
# Runs a case of good_guest in a state directory of its own, and clears away what it left running.
# Usage: run_good_guest.sh PROGRAM CASE
state=$(mktemp -d) || exit 1
trap '"$1" clear "$state/cove" >/dev/null; rm -rf "$state"' EXIT
"$1" "$2" "$state/cove"
