/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tick of a recording: a slot of the file's time, read in pieces that are short enough
 * for the person to be answered in between.
 *
 * Times without records are skipped, unless the file is shown at a speed: a recording
 * has pauses, and a hostile one a record in a thousand years.
 */
#include "config.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/collector_internal.h"
#include "core/replay.h"

/* Reading goes on for so long before keys and views are looked at. */
#define PIECE_NS (50 * NSEC_PER_MSEC)
/* Dead tasks stay for so long in the file's time, for records that are out of order. */
#define KEEP_DEAD_NS (10 * NSEC_PER_SEC)
#define TRIM_NS NSEC_PER_SEC

static uint64_t add_time(uint64_t time_ns, uint64_t length_ns)
{
	return time_ns + MIN(length_ns, UINT64_MAX - time_ns);
}

/* What a report does not show and nobody can ask for later. */
struct surplus {
	bool cpu, task;
};

static struct surplus find_surplus(const struct collector *collector)
{
	const struct view_spec *spec = &collector->running_spec;
	struct surplus surplus = { .cpu = true, .task = true };

	if (!collector->options.replay_shows_end || spec->filter[0])
		return (struct surplus){ 0 };
	for (size_t i = 0; i < spec->keys.nr; i++) {
		enum sort_key key = spec->keys.keys[i];

		surplus.cpu &= key != SORT_CPU && key != SORT_NODE;
		surplus.task &= key != SORT_PID && key != SORT_TID;
	}
	return surplus;
}

/*
 * Without the surplus the cells of a long recording fit, whatever number of tasks it
 * has: no weight has to be merged into [other], and the cells stay in the cache.
 */
static void merge(struct collector *collector, const struct placed *placed,
		  const struct surplus *surplus)
{
	struct profile *profile = collector->profile;
	struct cell_key key = placed->key;

	if (surplus->cpu)
		key.cpu = PROFILE_NO_CPU;
	if (surplus->task) {
		key.task = NULL;
		key.flags |= CELL_EXITED;
	}
	if (placed->nr_frames)
		key.chain = chain_table_add(profile_chains(profile),
					    reader_frames(collector->readers[0].reader, placed),
					    placed->nr_frames);
	profile_add(profile, &key, placed->nr_samples, placed->period);
}

void tick_replay_place(void *arg)
{
	struct collector *collector = arg;
	struct reader *reader = collector->readers[0].reader;
	struct surplus surplus = find_surplus(collector);

	reader_locate(reader);
	for (size_t i = 0; i < reader_nr_placed(reader); i++)
		merge(collector, reader_placed(reader, i), &surplus);
	reader_clear(reader);
}

void tick_replay_begin(struct collector *collector, uint64_t length_ns)
{
	uint64_t next_ns = replay_next_ns(collector->options.replay);
	uint64_t start_ns = collector->tick_start_ns;

	if (!start_ns)
		start_ns = next_ns;
	if (!(collector->options.replay_speed > 0) && next_ns > start_ns)
		start_ns += (next_ns - start_ns) / length_ns * length_ns;
	collector->tick_start_ns = start_ns;
	collector->cut_ns = add_time(start_ns, length_ns);
	profile_slot_begin(collector->profile, start_ns, start_ns);
	collector->slot_open = true;
}

/* An open slot, and the last one, are not longer than there are samples for. */
static void extend_slot(struct collector *collector, enum replay_result result)
{
	struct replay_figures figures;
	uint64_t end_ns = collector->cut_ns;

	if (result != REPLAY_REACHED) {
		replay_get_figures(collector->options.replay, &figures);
		end_ns = MIN(end_ns, add_time(figures.last_ns, 1));
	}
	profile_slot_extend(collector->profile, end_ns);
	if (result == REPLAY_ENDED)
		collector->cut_ns = MAX(end_ns, collector->tick_start_ns);
}

enum replay_result tick_replay(struct collector *collector)
{
	uint64_t start_ns = clock_now_ns();
	enum replay_result result;

	result = replay_run(collector->options.replay, collector->cut_ns, start_ns + PIECE_NS);
	extend_slot(collector, result);
	collector->tick_all_ns += clock_now_ns() - start_ns;
	return result;
}

static void note_figures(struct collector *collector, uint64_t length_ns)
{
	struct snapshot_header *header = &collector->figures;
	struct replay_figures figures;

	replay_get_figures(collector->options.replay, &figures);
	header->nr_lost = figures.nr_lost;
	header->nr_throttled = figures.nr_throttled;
	header->nr_corrupt = figures.nr_malformed;
	for (size_t i = 0; i < collector->nr_cpu_figures; i++) {
		replay_take_cpu_samples(collector->options.replay, i, &collector->cpu_samples[i],
					&collector->cpu_busy[i]);
		collector->tick_samples += collector->cpu_samples[i];
	}
	header->samples_per_sec = length_ns ? (double)collector->tick_samples *
						      (double)NSEC_PER_SEC / (double)length_ns
					    : 0;
	collector->tick_samples = 0;
	tick_note_cpu_shares(collector, length_ns);
}

void tick_replay_end(struct collector *collector, uint64_t refresh_ns)
{
	struct snapshot_header *header = &collector->figures;
	uint64_t now_ns = clock_now_ns();

	if (!header->sequence)
		latency_start(collector->options.latency, START_FIRST_TICK,
			      now_ns - collector->enabled_ns);
	if (collector->slot_open)
		profile_slot_end(collector->profile);
	collector->slot_open = false;
	note_figures(collector, collector->cut_ns - collector->tick_start_ns);
	tick_note_self(collector, header, now_ns);
	header->sequence++;
	header->tick_ns = collector->tick_all_ns;
	header->read_ns = collector->tick_all_ns;
	header->read_share = (double)header->read_ns / (double)refresh_ns;
	header->refresh_ns = refresh_ns;
	header->scan_finished = true;
	latency_tick(collector->options.latency, TICK_ALL, collector->tick_all_ns);
	collector->tick_all_ns = 0;
	collector->tick_start_ns = collector->cut_ns;
	if (collector->cut_ns > add_time(collector->trimmed_ns, TRIM_NS)) {
		collector->trimmed_ns = collector->cut_ns;
		thread_table_trim(collector->table, collector->cut_ns > KEEP_DEAD_NS
							    ? collector->cut_ns - KEEP_DEAD_NS
							    : 0);
	}
}
