#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every #include against the layers of ARCHITECTURE.md.

set -eu
cd "${srcdir:-.}"

may_include() { # layer header
	case $1:$2 in
	# Our own headers: downwards only.
	base:core/base/*) ;;
	symbols:symbols/* | symbols:core/base/*) ;;
	core:core/* | core:symbols/*) ;;
	ui:ui/* | ui:core/base/* | ui:core/snapshot.h) ;;
	top:top/* | top:ui/* | top:core/* | top:symbols/*) ;;
	*:top/* | *:ui/* | *:core/* | *:symbols/*) return 1 ;;
	# Libraries: one owner each.
	ui:curses.h | ui:term.h) ;;
	core:linux/perf_event.h | core:sys/syscall.h | core:numa.h | core:numaif.h) ;;
	symbols:*elf.h | symbols:dwarf.h | symbols:elfutils/*) ;;
	*:*curses.h | *:term.h | *:linux/perf_event.h | *:sys/syscall.h | *:numa*.h) return 1 ;;
	*:*elf.h | *:dwarf.h | *:elfutils/*) return 1 ;;
	esac
}

grep -Ern --include='*.[ch]' '^[ 	]*#[ 	]*include' core symbols ui top |
	sed -E 's/^([^:]+):([0-9]+):[^"<]*["<]([^">]+).*/\1 \2 \3/' | {
	status=0
	nr=0
	while read -r file line header; do
		nr=$((nr + 1))
		case $file in
		core/base/*) layer=base ;;
		*) layer=${file%%/*} ;;
		esac
		may_include "$layer" "$header" && continue
		echo "$file:$line: $layer must not include $header" >&2
		status=1
	done
	[ "$nr" -gt 100 ] || {
		echo "only $nr includes found: looking in the wrong place?" >&2
		status=1
	}
	if [ "$status" -eq 0 ]; then echo "ok 1 - every include goes down a layer"; else echo "not ok 1 - every include goes down a layer"; fi
	echo 1..1
}
