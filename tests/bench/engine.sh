# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bench/run: the tables of what works inside (setup, synthesize, rings, overhead).

# shellcheck disable=SC2154 # variables of run
# shellcheck disable=SC2034 # variables for run
# shellcheck disable=SC2317 # what is called through take_turns

# Lines "metric;value;unit" that a command printed into a file become measurements.
add_lines() { # TABLE ROW PROGRAM COMMAND FILE
	"$python" "$here/results.py" add "$results" "$1" "$2" "$3" "$4" <"$5"
}

fail() { # TABLE LABEL
	echo "bench: $1: $2: a run failed" >&2
	failed=1
}

# Those of a list of variants whose program is measured.
measured() { # VARIANT...
	for variant; do
		is_measured "${variant%%-*}" && printf '%s ' "$variant"
	done
}

# A comma list of so many software events, four kinds in turn.
software_events() { # NUMBER
	awk -v nr="$1" 'BEGIN {
		split("cpu-clock faults context-switches migrations", names, " ")
		for (i = 0; i < nr; i++)
			printf "%s%s", i ? "," : "", names[i % 4 + 1]
	}'
}

# ---- setup ----

# symtop chooses by its rule, or it is told one worker or two, or one that the system does
# not let move to the CPUs: every call then interrupts the CPU that it is for.

set_up() { # VARIANT EVENTS
	variant=$1
	row="$2 events x $(nproc) CPUs"
	events=$(software_events "$2")
	refused=''
	case $variant in
	symtop) label=symtop options='' ;;
	symtop-1) label='symtop, 1 worker' options='--setup-threads 1' ;;
	symtop-2) label='symtop, 2 workers' options='--setup-threads 2' ;;
	symtop-still) label='symtop, no moves' options='--setup-threads 1' refused=1 ;;
	perf-stat) label='perf stat (no rings)' options='stat -a -o /dev/null' ;;
	# Its side-band thread would enable events of its own in between.
	perf-record) label='perf record' options='record -q -B -N -a --no-bpf-event -o /dev/null' ;;
	esac
	case $variant in
	symtop*) set -- "$builddir/symtop" -b -n 1 -d 0.1 -o /dev/null ;;
	perf*) set -- perf ;;
	esac
	rm -f "$work/timer"
	# shellcheck disable=SC2086 # options
	case $variant in
	symtop*) set -- "$@" $options -e "$events" ;;
	perf*) set -- "$@" $options -e "$events" true ;;
	esac
	if attend env EVENT_TIMER="$work/timer" LD_PRELOAD="$work/event_timer.so" \
		${refused:+EVENT_TIMER_NO_MOVES=1} "$@" >/dev/null 2>"$work/said" &&
		[ -s "$work/timer" ]; then
		add_lines setup "$row" "$label" "$1 $options" "$work/timer"
	else
		tail -n 3 "$work/said" >&2
		fail setup "$label, $row"
	fi
}

table_setup() {
	nr_runs=$runs
	[ "$quick" = 1 ] || runs=$((5 * runs)) # they take no time
	for nr_events in 1 10 100 700; do
		take_turns "$(measured symtop symtop-1 symtop-2 symtop-still perf-stat perf-record)" \
			set_up "$nr_events"
	done
	runs=$nr_runs
	show setup "perf stat opens CPU by CPU, perf record event by event; 'set up' leaves out \
what is done between opening and enabling"
}

# ---- synthesize ----

synthesize() { # PROGRAM ROW WORKERS
	case $1 in
	symtop)
		label=symtop
		set -- "$2" "$builddir/symtop" --synth-threads "$3"
		command="$*"
		attend "$python" "$here/measure.py" sweep "$2" "$3" "$4" >"$work/lines"
		;;
	perf)
		label='perf'
		set -- "$2" perf top --num-thread-synthesize "$3"
		command="perf bench internals synthesize -t -m $5 -M $5"
		attend "$python" "$here/measure.py" synthesize "$5" 2 >"$work/lines"
		;;
	esac || { fail synthesize "$label, $1"; return; }
	add_lines synthesize "$1" "$label" "$command" "$work/lines"
	row=$1
	shift
	measure synthesize "$row" --limit 300 --until "first_row=$share" -- "$@" -F 4000
}

synthesize_crowd() { # PROCESSES THREADS MAPS NAME
	if start_crowd "$1" "$2" "$3" 2; then
		for workers in 1 2 4; do
			in_turns synthesize "$4, workers: $workers" "$workers"
		done
		stop_all
	fi
}

table_synthesize() {
	synthesize_crowd "$processes" 0 35 "$processes processes x 35 maps"
	[ "$long" != 1 ] || synthesize_crowd 30000 0 35 '30000 processes x 35 maps'
	synthesize_crowd 1 $((threads - 1)) 35 "$threads threads in one process"
	show synthesize "the sweep over /proc (perf: perf bench internals synthesize) and the \
first row of symtop and perf top"
}

# ---- rings ----

ring_events=136

live_reader() { # HZ
	label=reader
	attend "$rings" live "$ring_events" "$1" "$ring_seconds" >"$work/lines" &&
		add_lines rings-live - - "rings live $ring_events $1 $ring_seconds" "$work/lines"
}

# The whole program, which has a ring a CPU for all its events.
live_symtop() { # HZ EVENTS
	label=symtop
	set -- "$builddir/symtop" -b -n $((ring_seconds / 2)) -d 2 --format json --rows 1 -F "$1" -e "$2"
	attend "$python" "$here/measure.py" cpu "$@" -o "$work/live.json" >"$work/lines" &&
		"$python" "$here/measure.py" lost "$work/live.json" "$ring_seconds" >>"$work/lines" &&
		add_lines rings-live "$row" "$label" "$*" "$work/lines"
}

live_perf() { # HZ EVENTS
	label='perf record'
	set -- perf record -q -B -N -a -F "$1" -e "$2" -o "$work/perf.data" -- sleep "$ring_seconds"
	attend "$python" "$here/measure.py" cpu "$@" >"$work/lines" &&
		"$python" "$here/measure.py" lost "$work/perf.data" "$ring_seconds" >>"$work/lines" &&
		add_lines rings-live "$row" "$label" "$*" "$work/lines"
	ret=$?
	rm -f "$work/perf.data"
	return $ret
}

live() { # PROGRAM HZ EVENTS
	row="$ring_events cpu-clock events a CPU at $2 Hz"
	case $1 in
	reader) live_reader "$2" ;;
	symtop) live_symtop "$2" "$3" ;;
	perf) live_perf "$2" "$3" ;;
	esac || fail rings "$label, $row"
}

table_rings() {
	rings=$builddir/tests/bench/rings
	ring_seconds=10
	rounds=31
	if [ ! -x "$rings" ]; then
		echo "bench: no $rings (make bench builds it): no table of rings" >&2
		failed=1
		return
	fi
	[ "$quick" != 1 ] || { ring_seconds=4; rounds=5; }
	if attend "$rings" fake "$rounds" >"$work/lines"; then
		add_lines rings - - "rings fake $rounds" "$work/lines"
	else
		fail rings fake
	fi
	show rings 'copying, decoding and counting by one reader; overwrite rings and forward rings'

	# An idle CPU has no samples of cpu-clock.
	start_spins
	ret=0
	attend "$rings" limit "$ring_events" 2 >"$work/limit" || ret=$?
	if [ "$ret" -ne 0 ]; then
		echo 'bench: rings: no perf events for this user: live rows left out' >&2
		stop_all
		return
	fi
	events=$(awk -v nr="$ring_events" \
		'BEGIN { for (i = 0; i < nr; i++) printf "%scpu-clock", i ? "," : "" }')
	limit=$(cat "$work/limit")
	[ "$limit" -gt 100 ] || limit=
	for rate in 100 $limit; do
		take_turns "$(measured symtop perf | sed 's/^symtop/reader symtop/')" live "$rate" \
			"$events"
	done
	stop_all
	show rings-live "the same events over the same time, all CPUs busy; reader: each event has \
a ring of its own; the highest rate is the last at which all samples came in time"
}

# ---- overhead ----

# The parallel program; its seconds and CPU seconds into $elapsed and $used.
run_workload() {
	attend "$work/workload" "$(nproc)" "$loops" >"$work/took" &&
		read -r elapsed used <"$work/took"
}

alone() {
	run_workload || die 'the workload failed'
	printf 'elapsed;%s;s\nworkload_cpu;%s;s\n' "$elapsed" "$used" >"$work/lines"
	add_lines overhead alone alone "workload $(nproc) $loops" "$work/lines"
}

# Start a sampler; its screen is a pty that nobody looks at.
start_sampler() { # VARIANT; sets label, row and command
	affinity=${1##*-}
	row="--affinity $affinity"
	case $1 in
	symtop-*)
		readers=${1#symtop-}
		readers=${readers%-*}
		label=symtop
		[ "$readers" = 1 ] || label="symtop, $readers readers"
		set -- "$builddir/symtop" -F 4000 --affinity "$affinity" --readers "$readers"
		;;
	perf-top-*)
		label='perf top'
		set -- perf top -F 4000
		;;
	perf-record-*)
		label='perf record'
		set -- perf record -q -a -F 4000 -o "$work/perf.data"
		[ "$affinity" = sys ] || set -- "$@" --affinity "$affinity"
		;;
	esac
	command="$*"
	if [ "$label" = 'perf record' ]; then
		"$@" >/dev/null 2>"$work/said" &
	else
		: >"$work/first"
		"$work/ptyfirst" -s 60 "$@" >"$work/first" 2>"$work/said" &
	fi
	sampler=$!
	note_started "$sampler"
	settle
	[ "$label" != 'perf record' ] || return 0
	while [ ! -s "$work/first" ] && kill -0 "$sampler" 2>/dev/null; do
		attend sleep 0.2
	done
}

overhead() { # VARIANT
	start_sampler "$1"
	ret=0
	run_workload || ret=1
	# SIGTERM ends all of them well; perf record says so by its status.
	kill "$sampler" 2>/dev/null || ret=1
	await "$sampler" 2>/dev/null || [ "$label" = 'perf record' ] || ret=1
	rm -f "$work/perf.data"
	before=$base
	beside=$elapsed
	beside_used=$used
	alone
	base=$elapsed
	if [ "$ret" -ne 0 ]; then
		cat "$work/said" >&2
		fail overhead "$label, $row"
		return
	fi
	awk -v beside="$beside" -v used="$beside_used" -v before="$before" -v after="$base" 'BEGIN {
		printf "elapsed;%s;s\nworkload_cpu;%s;s\n", beside, used
		printf "slower_than_alone;%.5f;share\n", 2 * beside / (before + after) - 1
	}' >"$work/lines"
	add_lines overhead "$row" "$label" "$command" "$work/lines"
}

table_overhead() {
	nr_runs=$runs
	workload_seconds=5
	[ "$quick" != 1 ] || workload_seconds=0.5
	[ "$quick" = 1 ] || runs=$((runs + 2))
	loops=$("$work/workload" "$(nproc)" for "$workload_seconds")
	alone
	base=$elapsed
	take_turns "$(measured symtop-1-sys symtop-2-sys symtop-1-node symtop-2-node symtop-1-cpu \
		symtop-2-cpu perf-record-sys perf-record-node perf-record-cpu perf-top-sys)" overhead
	runs=$nr_runs
	show overhead "a parallel program on all CPUs at 4000 Hz; alone before and after each"
}
