/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One tick: metadata up to the cut, sample rings up to the cut, place, merge.
 *
 * The cut lies a moment back, so that every metadata record up to it has been
 * written: a sample up to the cut is located with everything that happened before
 * it. Younger samples stay in their ring for the next tick. Forward rings cannot
 * leave samples behind; for them the metadata is drained once more after reading.
 *
 * Unknown tasks are asked for, and waited for a short while, so that the first frame
 * has names; what takes longer is placed at a later tick.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/collector_internal.h"
#include "core/procfs.h"

/* How long a tick waits for answers of the synthesizer. */
#define SYNTH_WAIT_NS (40 * NSEC_PER_MSEC)
#define HOUSEKEEPING_NS NSEC_PER_SEC
/* Until the first tick has measured what comes: a small ring fills fast. */
#define FIRST_DRAIN_NS (50 * NSEC_PER_MSEC)
/* Dead tasks stay at least this long: a reader may be this far behind. */
#define KEEP_DEAD_NS (10 * NSEC_PER_SEC)
#define MAX_STRETCH_NS (60 * NSEC_PER_SEC)

void tick_run_reader(struct reader_worker *reader, uint64_t cut_ns, const uint64_t *changed)
{
	reader_read(reader->reader, cut_ns, changed);
	reader_locate(reader->reader);
}

static int compare_ranks(const void *a, const void *b, void *arg)
{
	struct event_set *events = arg;
	const size_t *left = a;
	const size_t *right = b;
	uint32_t left_node = event_set_cpu(events, *left)->node;
	uint32_t right_node = event_set_cpu(events, *right)->node;

	if (left_node != right_node)
		return left_node < right_node ? -1 : 1;
	return *left < *right ? -1 : *left > *right;
}

/*
 * Equal slices of the CPUs, node by node: with a multiple of the nodes' number of readers,
 * and nodes alike, each reader has CPUs of one node.
 */
void tick_share_cpus(struct collector *collector)
{
	struct event_set *events = collector->options.events;
	size_t *ranks = mem_calloc(event_set_nr_cpus(events), sizeof(*ranks));
	size_t nr = 0;

	for (size_t i = 0; i < event_set_nr_cpus(events); i++) {
		if (event_set_cpu(events, i)->samples)
			ranks[nr++] = i;
	}
	qsort_r(ranks, nr, sizeof(*ranks), compare_ranks, events);
	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		reader_clear_cpus(collector->readers[i].reader);
		collector->readers[i].nr_cpus = 0;
		collector->readers[i].node = -1;
	}
	for (size_t i = 0; i < nr; i++) {
		struct reader_worker *reader = &collector->readers[i * collector->nr_readers / nr];
		uint32_t node = event_set_cpu(events, ranks[i])->node;

		reader_add_cpu(reader->reader, ranks[i]);
		/* By node, so once it has several it does not come back to one. */
		reader->node = !reader->nr_cpus++ || reader->node == node ? (int64_t)node : -1;
	}
	free(ranks);
}

/* ---- placing ---- */

static void merge_placed(struct collector *collector, const struct reader *reader,
			 const struct placed *placed)
{
	struct cell_key key = placed->key;

	if (placed->nr_frames)
		key.chain = chain_table_add(profile_chains(collector->profile),
					    reader_frames(reader, placed), placed->nr_frames);
	profile_add(collector->profile, &key, placed->nr_samples, placed->period);
}

void tick_merge_reader(struct collector *collector, struct reader *reader)
{
	for (size_t i = 0; i < reader_nr_placed(reader); i++)
		merge_placed(collector, reader, reader_placed(reader, i));
	reader_clear(reader);
}

/* A second attempt for tuples that wait for maps which have come in meanwhile. */
static void locate_again(struct collector *collector)
{
	struct reader_figures figures;
	bool waiting = false;

	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		reader_get_figures(collector->readers[i].reader, &figures);
		waiting |= figures.nr_deferred != 0;
	}
	if (!waiting)
		return;
	/* Late answers are no fault: the tuples are tried again at the next tick. */
	(void)synth_wait_requests(collector->synth, clock_now_ns() + SYNTH_WAIT_NS);
	for (unsigned int i = 0; i < collector->nr_readers; i++)
		reader_locate(collector->readers[i].reader);
}

static void note_cpu_samples(struct collector *collector)
{
	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		for (unsigned int j = 0; j < collector->nr_readers; j++) {
			uint64_t nr, nr_busy;

			reader_cpu_samples(collector->readers[j].reader, i, &nr, &nr_busy);
			collector->cpu_samples[i] += nr;
			collector->cpu_busy[i] += nr_busy;
			collector->tick_samples += nr;
		}
	}
}

static void note_stages(struct collector *collector, uint64_t metadata_ns)
{
	struct reader_figures worst = { 0 };

	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		struct reader_figures figures;

		reader_get_figures(collector->readers[i].reader, &figures);
		worst.copy_ns = MAX(worst.copy_ns, figures.copy_ns);
		worst.decode_ns = MAX(worst.decode_ns, figures.decode_ns);
		worst.locate_ns = MAX(worst.locate_ns, figures.locate_ns);
	}
	latency_tick(collector->options.latency, TICK_METADATA, metadata_ns);
	latency_tick(collector->options.latency, TICK_COPY, worst.copy_ns);
	latency_tick(collector->options.latency, TICK_DECODE, worst.decode_ns);
	latency_tick(collector->options.latency, TICK_LOCATE, worst.locate_ns);
}

/* Sum up what a drain changed: rings come and go with their CPUs. */
static void note_rings(struct collector *collector, uint64_t covers_ns)
{
	collector->drain_bytes = 0;
	collector->drain_covers_ns = covers_ns;
	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		struct cpu_rings *cpu = event_set_cpu(collector->options.events, i);
		struct ring_stats *seen = &collector->rings_seen[i];
		struct ring_stats stats;
		uint64_t bytes;

		if (!cpu->samples)
			continue;
		ring_get_stats(cpu->samples, &stats);
		bytes = stats.bytes_read - seen->bytes_read + stats.bytes_overwritten -
			seen->bytes_overwritten;
		collector->drain_bytes = MAX(collector->drain_bytes, bytes);
		collector->cpu_overwritten[i] += stats.nr_overwritten - seen->nr_overwritten;
		collector->nr_overwritten += stats.nr_overwritten - seen->nr_overwritten;
		collector->nr_ring_corrupt += stats.nr_corrupt - seen->nr_corrupt;
		*seen = stats;
	}
}

void tick_drain(struct collector *collector)
{
	bool overwrite = collector->figures.overwrite;
	uint64_t start_ns = clock_now_ns();
	uint64_t cut_ns = start_ns - METADATA_HOLDBACK_NS;
	uint64_t drained_ns, read_ns;

	collector->drained_ns = start_ns;
	metadata_drain(collector->metadata, cut_ns);
	thread_table_take_changed(collector->table, collector->changed);
	drained_ns = clock_now_ns();
	collector_run_readers(collector, overwrite ? cut_ns : UINT64_MAX);
	if (!overwrite)
		metadata_drain(collector->metadata, clock_now_ns());
	read_ns = clock_now_ns();
	note_rings(collector, cut_ns - MIN(collector->cut_ns, cut_ns));
	note_cpu_samples(collector);
	locate_again(collector);
	note_stages(collector, drained_ns - start_ns);
	collector_note_work(collector);
	collector->cut_ns = cut_ns;
	if (collector->slot_open)
		profile_slot_extend(collector->profile, cut_ns);
	else
		profile_slot_begin(collector->profile, collector->tick_start_ns, cut_ns);
	collector->slot_open = true;
	collector->tick_start_ns = cut_ns;
	for (unsigned int i = 0; i < collector->nr_readers; i++)
		tick_merge_reader(collector, collector->readers[i].reader);
	collector_settle_retired(collector);
	synth_use_all_workers(collector->synth);
	collector_note_recording(collector);
	latency_tick(collector->options.latency, TICK_MERGE, clock_now_ns() - read_ns);
	collector->tick_read_ns += read_ns - start_ns;
	collector->tick_all_ns += clock_now_ns() - start_ns;
}

/* ---- figures ---- */

static void sum_rings(struct collector *collector, struct snapshot_header *header)
{
	struct reader_figures readers;
	struct metadata_figures metadata_figures;

	collector_sum_readers(collector, &readers);
	header->nr_lost = readers.nr_lost;
	header->nr_throttled = readers.nr_throttled;
	header->nr_corrupt = readers.nr_malformed + readers.nr_unknown_id;
	header->nr_overwritten = collector->nr_overwritten;
	header->nr_corrupt += collector->nr_ring_corrupt;
	metadata_get_figures(collector->metadata, &metadata_figures);
	header->nr_lost_metadata = metadata_figures.nr_lost;
	header->nr_corrupt += metadata_figures.nr_malformed;
}

void tick_note_self(struct collector *collector, struct snapshot_header *header, uint64_t now_ns)
{
	uint64_t cpu_ns = clock_process_cpu_ns();

	if (now_ns > collector->self_wall_ns)
		header->self_cpu = (double)(cpu_ns - collector->self_cpu_ns) /
				   (double)(now_ns - collector->self_wall_ns);
	collector->self_cpu_ns = cpu_ns;
	collector->self_wall_ns = now_ns;
	header->self_rss_bytes = procfs_self_kb("/proc", "VmRSS:") * 1024;
}

/*
 * How busy each CPU was: by clock events, which tick on an idle CPU as well, the
 * share of samples that are not of the idle task; by counters, which stand still
 * there, samples against what the rate would give.
 */
void tick_note_cpu_shares(struct collector *collector, uint64_t elapsed_ns)
{
	double full = (double)collector->figures.freq * (double)elapsed_ns / (double)NSEC_PER_SEC;

	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		double nr = (double)collector->cpu_samples[i];
		/* What was overwritten is taken to be as busy as the rest. */
		double total = nr + (double)collector->cpu_overwritten[i];

		collector->cpu_shares[i] =
			nr > 0 ? (double)collector->cpu_busy[i] / nr * total / MAX(full, total) : 0;
		collector->cpu_samples[i] = 0;
		collector->cpu_busy[i] = 0;
		collector->cpu_overwritten[i] = 0;
	}
}

/*
 * Stretch the refresh when a tick takes most of it. @interval_ns is what the tick had:
 * a stretched one does more work, and must not be stretched further for that alone. One
 * late tick may be a stop or another program's burst. The way back is by halves, since
 * the share grows again.
 */
static void adapt(struct collector *collector, uint64_t refresh_ns, uint64_t interval_ns,
		  uint64_t tick_ns)
{
	bool is_late = tick_ns > interval_ns / 2;

	if (is_late)
		latency_late(collector->options.latency);
	if (is_late && collector->was_late && collector->options.adapt) {
		collector->stretched_ns = MIN(4 * tick_ns, MAX_STRETCH_NS);
	} else if (tick_ns < interval_ns / 4) {
		collector->stretched_ns /= 2;
		if (collector->stretched_ns <= refresh_ns)
			collector->stretched_ns = 0;
	}
	collector->was_late = is_late;
}

/* Which reader was busiest in this tick, and the others' mean. */
static void note_worst_reader(const struct collector *collector,
			      struct latency_situation *situation)
{
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		const struct reader_work *work = &collector->readers[i].tick;
		uint64_t busy_ns = work->copy_ns + work->decode_ns + work->locate_ns;

		sum_ns += busy_ns;
		if (busy_ns > situation->worst_ns) {
			situation->worst_ns = busy_ns;
			situation->worst_reader = i;
		}
	}
	if (collector->nr_readers > 1)
		situation->others_ns = (sum_ns - situation->worst_ns) / (collector->nr_readers - 1);
}

/* Is the refresh too short for what reading takes? Say so. */
static void check_latency(struct collector *collector, uint64_t interval_ns)
{
	struct snapshot_header *header = &collector->figures;
	struct event_set_info info;
	struct latency_situation situation;

	event_set_get_info(collector->options.events, &info);
	situation = (struct latency_situation){
		.read_ns = collector->tick_read_ns,
		.refresh_ns = interval_ns,
		.freq = info.freq,
		.nr_readers = collector->nr_readers,
		.nr_cpus = info.nr_cpus_open,
		.nr_overwritten = header->nr_overwritten - collector->last_overwritten,
		.nr_samples = collector->tick_samples,
		.ring_bytes = info.sample_ring_bytes,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
	};
	note_worst_reader(collector, &situation);
	collector->last_overwritten = header->nr_overwritten;
	if (!latency_advice(&situation, collector->advice, sizeof(collector->advice)))
		collector->advice[0] = '\0';
}

static void note_scan(struct snapshot_header *header, const struct synth_progress *progress)
{
	header->nr_scans = progress->nr_sweeps;
	header->scan_finished = progress->sweep_done;
	header->scan_done = progress->nr_done;
	header->scan_total = progress->nr_total;
	header->scan_ns = progress->sweep_ns;
	header->scan_workers = progress->max_workers;
	header->nr_synth_workers = progress->nr_workers;
}

void tick_end(struct collector *collector, uint64_t refresh_ns)
{
	struct snapshot_header *header = &collector->figures;
	uint64_t now_ns = clock_now_ns();
	uint64_t elapsed_ns = now_ns - MAX(collector->self_wall_ns, collector->enabled_ns);
	uint64_t interval_ns = MAX(elapsed_ns, refresh_ns); /* early ticks are short */
	/* Samples are of the time up to the cut, not up to now: a tick may take long. */
	uint64_t covers_ns = collector->cut_ns - collector->tick_cut_ns;
	uint64_t tick_ns = collector->tick_all_ns;
	struct synth_progress progress;
	bool first = !header->sequence;

	if (collector->slot_open)
		profile_slot_end(collector->profile);
	collector->slot_open = false;
	sum_rings(collector, header);
	tick_note_cpu_shares(collector, covers_ns);
	tick_note_self(collector, header, now_ns);
	header->sequence++;
	header->samples_per_sec = covers_ns ? (double)collector->tick_samples *
						      (double)NSEC_PER_SEC / (double)covers_ns
					    : 0;
	header->read_ns = collector->tick_read_ns;
	header->tick_ns = tick_ns;
	header->refresh_ns = refresh_ns;
	header->read_share = interval_ns ? (double)header->read_ns / (double)interval_ns : 0;
	check_latency(collector, interval_ns);
	adapt(collector, refresh_ns, interval_ns, tick_ns);
	latency_tick(collector->options.latency, TICK_ALL, tick_ns);
	synth_get_progress(collector->synth, &progress);
	if (first)
		latency_start(collector->options.latency, START_FIRST_TICK,
			      now_ns - collector->enabled_ns);
	if (progress.sweep_done && progress.nr_sweeps == 1 && !header->scan_finished)
		latency_start(collector->options.latency, START_SWEEP, progress.sweep_ns);
	note_scan(header, &progress);
	collector->tick_elapsed_ns = elapsed_ns;
	collector->tick_cut_ns = collector->cut_ns;
	collector_end_work(collector);
	collector->tick_samples = 0;
	collector->tick_read_ns = 0;
	collector->tick_all_ns = 0;
}

uint64_t tick_drain_interval(struct collector *collector, uint64_t refresh_ns)
{
	struct event_set_info info;
	double rate, hold_ns;

	event_set_get_info(collector->options.events, &info);
	if (!collector->drain_covers_ns) {
		/* Nothing measured yet: what collector_start() needs to know once. */
		collector->figures.overwrite = info.overwrite;
		collector->figures.freq = info.freq;
		return MIN(refresh_ns, FIRST_DRAIN_NS);
	}
	if (!collector->drain_bytes || !info.sample_ring_bytes)
		return refresh_ns;
	rate = (double)collector->drain_bytes /
	       (double)MAX(collector->drain_covers_ns, NSEC_PER_MSEC);
	hold_ns = (double)info.sample_ring_bytes / rate / 1.5;
	if (hold_ns >= (double)refresh_ns)
		return refresh_ns;
	return MAX((uint64_t)hold_ns, 5 * NSEC_PER_MSEC);
}

/* ---- housekeeping ---- */

/* What the person should know of a failure that sampling survives; 0 or more: none. */
static void note_trouble(struct collector *collector, int ret, const struct err *err)
{
	if (ret < 0)
		snprintf(collector->trouble, sizeof(collector->trouble), "%s", err->text);
	else
		collector->trouble[0] = '\0';
}

static void refresh_cpus(struct collector *collector)
{
	unsigned int nr_opened, nr_closed;
	struct err err = { 0 };
	bool changed = false;

	/* Unreadable now is no news: try again at the next round. */
	if (cpumap_refresh_online(collector->options.cpumap, "/sys", &changed, NULL) < 0)
		return;
	/* A CPU can go and return between two looks; its events are dead all the same. */
	if (!changed && !event_set_has_dead_cpus(collector->options.events))
		return;
	metadata_pause(collector->metadata);
	note_trouble(collector,
		     event_set_refresh_cpus(collector->options.events, collector->options.cpumap,
					    &nr_opened, &nr_closed, &err),
		     &err);
	metadata_resume(collector->metadata);
	memset(collector->rings_seen, 0,
	       collector->nr_cpu_figures * sizeof(*collector->rings_seen));
	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		struct cpu_rings *cpu = event_set_cpu(collector->options.events, i);

		if (cpu->samples)
			ring_get_stats(cpu->samples, &collector->rings_seen[i]);
	}
	tick_share_cpus(collector);
}

static void check_target(struct collector *collector)
{
	const struct target *target = collector->options.target;
	struct event_set_info info;
	struct err err = { 0 };

	event_set_get_info(collector->options.events, &info);
	/* What appears by another way than fork; failures are tried again. */
	if (info.own_processes_only || target->kind == TARGET_USER ||
	    (target->kind == TARGET_PROCESSES && !info.filter_in_user_space))
		note_trouble(collector, event_set_adopt_tasks(collector->options.events, &err),
			     &err);
	if (target->kind == TARGET_MACHINE || target->kind == TARGET_USER)
		return;
	if (!event_set_target_gone(collector->options.events))
		return;
	/* One last look at what it left behind, then rest. */
	collector->figures.target_gone = true;
	collector->next_tick_ns = 0;
}

void tick_housekeeping(struct collector *collector)
{
	uint64_t keep_ns = collector->cut_ns > KEEP_DEAD_NS ? collector->cut_ns - KEEP_DEAD_NS : 0;

	collector->next_housekeeping_ns = clock_now_ns() + HOUSEKEEPING_NS;
	refresh_cpus(collector);
	check_target(collector);
	if (collector->options.keep_ns)
		keep_ns = MIN(keep_ns, recorder_oldest_ns(collector->recorder));
	thread_table_trim(collector->table, keep_ns);
}

/* ---- the snapshot ---- */

static void get_set_info(const struct collector *collector, struct event_set_info *ret_info)
{
	if (collector->options.replay)
		replay_get_set_info(collector->options.replay, ret_info);
	else
		event_set_get_info(collector->options.events, ret_info);
}

/* In the file's time: how much of it has been seen. */
static void fill_replay_header(struct collector *collector, struct snapshot *snapshot)
{
	struct snapshot_header *header = snapshot_edit_header(snapshot);
	struct replay_figures figures;
	const struct perf_data_figures *file = &figures.file;
	char text[320];

	replay_get_figures(collector->options.replay, &figures);
	header->elapsed_ns = figures.last_ns - figures.first_ns;
	header->start_ns = figures.first_ns;
	header->is_replay = true;
	if (header->target_gone)
		return;
	snprintf(text, sizeof(text), "%s, %.0f%% read", collector->options.target_text,
		 file->bytes_total ? 100 * (double)file->bytes_read / (double)file->bytes_total
				   : 100.0);
	header->target = snapshot_add_string(snapshot, text);
}

static void fill_header(struct collector *collector, struct snapshot *snapshot)
{
	struct snapshot_header *header = snapshot_edit_header(snapshot);
	struct snapshot_header query = *header;
	const struct cpumap *cpumap = collector->options.cpumap;
	struct symbolizer_stats symbolizer_stats;
	struct thread_table_stats table_stats;
	struct profile_stats profile_stats;
	struct synth_progress progress;
	struct event_set_info info;
	struct timespec wall = { 0 };
	char trouble[1024];

	get_set_info(collector, &info);
	symbolizer_get_stats(collector->symbolizer, &symbolizer_stats);
	thread_table_get_stats(collector->table, &table_stats);
	profile_get_stats(collector->profile, &profile_stats);
	clock_gettime(CLOCK_REALTIME, &wall);
	*header = collector->figures;
	header->event = query.event;
	header->filter = query.filter;
	header->window = query.window;
	header->window_ns = query.window_ns;
	header->window_end_ns = query.window_end_ns;
	header->nr_samples = query.nr_samples;
	header->shown_samples = query.shown_samples;
	header->base_period = query.base_period;
	header->relative = query.relative;
	header->idle_share = query.idle_share;
	header->kernel_share = query.kernel_share;
	header->unresolved_share = query.unresolved_share;
	header->unnamed_share = query.unnamed_share;
	header->pending_share = query.pending_share;
	header->outside_share = query.outside_share;
	header->has_chains = query.has_chains;
	header->nr_rows_hidden = query.nr_rows_hidden;
	header->host = snapshot_add_string(snapshot, collector->options.host);
	header->kernel = snapshot_add_string(snapshot, collector->options.kernel);
	header->target = snapshot_add_string(snapshot, collector->options.target_text);
	header->time_ns = clock_now_ns();
	header->wall_time_ns = (uint64_t)wall.tv_sec * NSEC_PER_SEC + (uint64_t)wall.tv_nsec;
	header->elapsed_ns = header->time_ns - collector->enabled_ns;
	header->start_ns = collector->enabled_ns;
	header->freq = info.freq;
	header->sample_period = info.period;
	header->nr_cpus = cpumap->nr_possible;
	header->nr_cpus_online = cpumap->nr_online;
	header->nr_cpus_open = info.nr_cpus_open;
	header->nr_nodes = cpumap->nr_nodes;
	header->has_nodes = cpumap->has_nodes;
	header->nr_readers = collector->nr_readers;
	header->nr_tasks = table_stats.nr_tasks;
	header->nr_live_tasks = table_stats.nr_live;
	header->nr_cells = profile_stats.nr_cells;
	header->nr_coarsened = profile_stats.nr_coarsened;
	header->nr_slots_dropped = profile_stats.nr_slots_dropped;
	header->kernel_excluded = info.kernel_excluded;
	header->kernel_hidden = symbolizer_stats.kernel_hidden;
	header->own_processes_only = info.own_processes_only;
	header->overwrite = info.overwrite;
	if (collector->options.replay) {
		fill_replay_header(collector, snapshot);
		return;
	}
	collector_get_recording(collector, &header->recording, trouble);
	header->recording.path = snapshot_add_string(snapshot, header->recording.path);
	header->recording.trouble = snapshot_add_string(snapshot, header->recording.trouble);
	/* As it is now: between ticks a scan may have been asked for, or have ended. */
	synth_get_progress(collector->synth, &progress);
	note_scan(header, &progress);
}

/* What of a recording has no names here, and why. */
static void add_origin_notes(struct collector *collector, struct snapshot *snapshot)
{
	struct symbolizer_stats stats;
	struct perf_data_info info;
	char text[256];

	symbolizer_get_stats(collector->symbolizer, &stats);
	replay_get_info(collector->options.replay, &info);
	if (stats.kernel_differs) {
		snprintf(text, sizeof(text),
			 "no kernel names: the kernel that was recorded (%.64s) is not the one "
			 "that runs here, or its addresses are hidden",
			 info.release[0] ? info.release : "not said which");
		snapshot_add_note(snapshot, NOTE_WARN, text);
	}
	if (stats.nr_differing) {
		snprintf(text, sizeof(text),
			 "objects without names, since their files here are not those that were "
			 "recorded: %llu",
			 (unsigned long long)stats.nr_differing);
		snapshot_add_note(snapshot, NOTE_WARN, text);
	}
	if (stats.nr_unverified) {
		snprintf(text, sizeof(text),
			 "objects known by path alone, whose names are wrong if the files differ: "
			 "%llu",
			 (unsigned long long)stats.nr_unverified);
		snapshot_add_note(snapshot, NOTE_WARN, text);
	}
}

static void add_replay_notes(struct collector *collector, struct snapshot *snapshot)
{
	struct replay *replay = collector->options.replay;
	struct replay_figures figures;
	struct perf_data_info info;
	const char *note;
	char text[256];

	for (size_t i = 0; (note = replay_note(replay, i)); i++)
		snapshot_add_note(snapshot, NOTE_WARN, note);
	add_origin_notes(collector, snapshot);
	replay_get_info(replay, &info);
	if (info.command[0]) {
		bool is_ours = !strncmp(info.version, "symtop", 6);

		snprintf(text, sizeof(text), "recorded by %s%.32s: %.192s", is_ours ? "" : "perf ",
			 info.version, info.command);
		snapshot_add_note(snapshot, NOTE_INFO, text);
	}
	if (!collector->figures.target_gone)
		return;
	replay_get_figures(replay, &figures);
	snprintf(text, sizeof(text), "end of %.128s: %llu samples", replay_name(replay),
		 (unsigned long long)figures.nr_samples);
	snapshot_add_note(snapshot, NOTE_INFO, text);
}

static void add_notes(struct collector *collector, struct snapshot *snapshot)
{
	const struct snapshot_header *header = snapshot_header(snapshot);
	const char *note;

	if (collector->advice[0])
		snapshot_add_note(snapshot, NOTE_WARN, collector->advice);
	if (collector->trouble[0])
		snapshot_add_note(snapshot, NOTE_WARN, collector->trouble);
	if (header->nr_lost_metadata)
		snapshot_add_note(
			snapshot, NOTE_WARN,
			"records of tasks and maps were lost: some names may be missing or wrong");
	if (header->target_gone && !collector->options.replay)
		snapshot_add_note(snapshot, NOTE_WARN,
				  "target has exited: these are its last samples");
	if (header->kernel_hidden)
		snapshot_add_note(
			snapshot, NOTE_WARN,
			"kernel addresses are hidden (kernel.kptr_restrict): no kernel names");
	if (collector->options.replay) {
		add_replay_notes(collector, snapshot);
		return;
	}
	for (size_t i = 0; (note = event_set_note(collector->options.events, i)); i++)
		snapshot_add_note(snapshot, NOTE_INFO, note);
}

static void add_cpus(const struct collector *collector, struct snapshot *snapshot)
{
	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		const struct cpu_rings *cpu;

		if (collector->options.replay) {
			snapshot_add_cpu(snapshot, (unsigned int)i, collector->cpu_shares[i]);
			continue;
		}
		cpu = event_set_cpu(collector->options.events, i);
		if (cpu->samples)
			snapshot_add_cpu(snapshot, cpu->cpu, collector->cpu_shares[i]);
	}
}

int tick_snapshot(struct collector *collector, const struct view_spec *spec, uint64_t refresh_ns,
		  struct snapshot **ret_snapshot, struct err *err)
{
	const struct target *target = collector->options.target;
	struct event_set_info info;
	struct query_context context = {
		.profile = collector->profile,
		.table = collector->table,
		.symbolizer = collector->symbolizer,
		.cpumap = collector->options.cpumap,
		.event_names = collector->event_names,
		.nr_events = collector->options.event_list->nr,
		.refresh_ns = refresh_ns,
		.uid = target->uid,
	};
	uint64_t start_ns = clock_now_ns();
	int ret;

	get_set_info(collector, &info);
	context.filter_user = info.filter_in_user_space && target->kind == TARGET_USER;
	context.filter_target = info.filter_in_user_space && target->kind != TARGET_USER;
	ret = query_run(&context, spec, ret_snapshot, err);
	if (ret < 0)
		return ret;
	fill_header(collector, *ret_snapshot);
	add_notes(collector, *ret_snapshot);
	add_cpus(collector, *ret_snapshot);
	tick_add_engine(collector, *ret_snapshot);
	latency_tick(collector->options.latency, TICK_QUERY, clock_now_ns() - start_ns);
	return 0;
}
