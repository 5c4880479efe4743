#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every option of --help stands in the man page and in each completion, and the man
# page is clean mdoc. Prints TAP.

set -eu
srcdir=${srcdir:-.}
symtop=${builddir:-.}/symtop
nr=0

result() { # ok? what
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then echo "ok $nr - $2"; else echo "not ok $nr - $2"; fi
}

# Words of --help that are long options, and the letters.
names=$("$symtop" --help | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}--\([a-z_-]*\).*/\2/p')
[ "$(echo "$names" | wc -l)" -gt 30 ] || { echo "Bail out! --help shows too little"; exit 1; }

for file in man/symtop.1 completions/symtop completions/_symtop completions/symtop.fish; do
	missing=
	for name in $names; do
		case $file in
		man/*) pattern="Fl -$name\\([ ,]\\|\$\\)" ;;
		*.fish) pattern="-l $name\\( \\|\$\\)" ;;
		*) pattern="--$name\\([^a-z-]\\|\$\\)" ;;
		esac
		grep -q -e "$pattern" "$srcdir/$file" || missing="$missing $name"
	done
	[ -z "$missing" ] || echo "# $file lacks:$missing"
	[ -z "$missing" ] && status=0 || status=1
	result "$status" "$file has every option"
done

# And the other way round: the man page names no option that is not there.
extra=
# shellcheck disable=SC2013 # words, one a line
for name in $(grep -o 'Fl -[a-z_-]*' "$srcdir/man/symtop.1" | sed 's/^Fl -//' | sort -u); do
	[ "$name" = - ] || echo "$names" | grep -qx -e "$name" || extra="$extra $name"
done
extra=$(echo "$extra" | sed 's/ num-thread-synthesize//')
[ -z "$extra" ] || echo "# the man page invents:$extra"
[ -z "$extra" ] && status=0 || status=1
result "$status" "the man page names no option that is not there"

# Formats of --help, each with its suffixes.
formats=$("$symtop" --help | sed -n '/^Formats/,/^$/s/^  \([a-z]*\) *\(\..*\)/\1 \2/p')
[ "$(echo "$formats" | wc -l)" -ge 10 ] || { echo "Bail out! --help shows too few formats"; exit 1; }
for file in man/symtop.1 completions/symtop completions/_symtop completions/symtop.fish; do
	missing=$(echo "$formats" | while read -r name suffixes; do
		grep -q -w -e "$name" "$srcdir/$file" || echo "$name"
		[ "$file" = man/symtop.1 ] || continue
		wanted=$(echo "$suffixes" | sed 's/ / , /g')
		grep -q -F -e ".It Cm $name Pq Pa $wanted" "$srcdir/$file" || echo "$suffixes"
	done)
	[ -z "$missing" ] || echo "# $file lacks formats: $(echo "$missing" | tr '\n' ' ')"
	[ -z "$missing" ] && status=0 || status=1
	result "$status" "$file has every format"
done

if [ -n "${MANDOC:-}" ]; then
	"$MANDOC" -T lint -W warning "$srcdir/man/symtop.1" >&2 && status=0 || status=1
	result "$status" "mandoc -T lint is content"
else
	nr=$((nr + 1))
	echo "ok $nr - mandoc -T lint # SKIP no mandoc here"
fi

bash -n "$srcdir/completions/symtop" && status=0 || status=1
result "$status" "the bash completion parses"
echo "1..$nr"
