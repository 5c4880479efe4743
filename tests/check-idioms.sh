#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Calls in the wrong place: STYLE rules that a grep can see.

set -eu
cd "${srcdir:-.}"
status=0

# ban WHY REGEX FILES...: no line of code may match (comments are left out).
ban() {
	why=$1
	regex=$2
	shift 2
	hits=$(grep -EnH "$regex" "$@" /dev/null | grep -Ev '^[^:]+:[0-9]+:[ 	]*(/\*|\*)' || true)
	[ -n "$hits" ] || return 0
	printf '%s\n%s\n' "$why:" "$hits" >&2
	status=1
}

all=$(find core symbols ui top -name '*.[ch]')
libraries=$(find core symbols ui -name '*.[ch]')
[ -n "$libraries" ] || { echo "no sources found" >&2; exit 1; }

# shellcheck disable=SC2086,SC2046 # lists of names without blanks
{
	ban 'libraries never print' '(^|[^_a-z>.])(f?printf|puts|putchar|perror|v?fprintf|vprintf) *\(' $libraries
	ban 'libraries never exit' '(^|[^_a-z])(exit|abort|_Exit) *\(' $libraries
	ban 'unbounded or unchecked' '(^|[^_a-z])(strcpy|strcat|v?sprintf|strtok|atoi|atol|atof|gets) *\(' $all
	ban 'use core/base/mutex.h and worker.h' 'pthread_[a-z]+' \
		$(find symbols ui top -name '*.[ch]') $(find core -maxdepth 1 -name '*.[ch]')
	ban 'symbols/ and ui/ know no processes' '(^|[^_a-z])pid_t([^_a-z]|$)' $(find symbols ui -name '*.[ch]')
	ban 'descriptors are close-on-exec' 'fopen *\([^)]*"[rwa]\+?b?"' $libraries
	ban 'nobody waits by sleeping' '(^|[^_a-z])(u?sleep|nanosleep) *\(' $all
}

for file in $all; do
	lines=$(wc -l <"$file")
	[ "$lines" -le 800 ] || { echo "$file: $lines lines, 800 is the end" >&2; status=1; }
	head -n 1 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
		{ echo "$file: no SPDX line" >&2; status=1; }
done
if [ "$status" -eq 0 ]; then echo "ok 1 - no call is in the wrong place"; else echo "not ok 1 - no call is in the wrong place"; fi
echo 1..1
