/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers what core/engine.c makes rows of. Called for each snapshot by the collector's
 * worker, while readers rest: everything is there, nothing is measured for it.
 */
#include "config.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/collector_internal.h"
#include "core/engine.h"

static struct engine_reader *gather_readers(const struct collector *collector)
{
	struct engine_reader *readers = mem_calloc(collector->nr_readers, sizeof(*readers));

	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		const struct reader_worker *reader = &collector->readers[i];
		struct reader_figures figures;

		reader_get_figures(reader->reader, &figures);
		readers[i] = (struct engine_reader){
			.nr_cpus = reader->nr_cpus,
			.node = reader->node,
			.nr_samples = reader->last.nr_samples,
			.copy_ns = reader->last.copy_ns,
			.decode_ns = reader->last.decode_ns,
			.locate_ns = reader->last.locate_ns,
			.nr_moves = figures.nr_moves,
		};
	}
	return readers;
}

/* What a recording does not have. */
static void gather_live(struct collector *collector, struct engine_figures *figures)
{
	const struct snapshot_header *header = &collector->figures;
	struct reader_figures sum;

	collector_sum_readers(collector, &sum);
	figures->live = true;
	figures->affinity = collector->options.affinity;
	figures->nr_readers = collector->nr_readers;
	figures->tick_elapsed_ns = collector->tick_elapsed_ns;
	figures->drain_interval_ns = collector->drain_interval_ns;
	figures->nr_deferred = sum.nr_deferred;
	figures->nr_overwritten = header->nr_overwritten;
	figures->nr_lost = header->nr_lost;
	figures->nr_throttled = header->nr_throttled;
	figures->nr_corrupt = header->nr_corrupt;
	event_set_get_info(collector->options.events, &figures->rings);
	metadata_get_figures(collector->metadata, &figures->metadata);
	synth_get_progress(collector->synth, &figures->synth);
}

void tick_add_engine(struct collector *collector, struct snapshot *snapshot)
{
	struct engine_reader *readers = gather_readers(collector);
	struct engine_figures figures = {
		.readers = readers,
		.self_cpu = collector->figures.self_cpu,
		.self_rss_bytes = collector->figures.self_rss_bytes,
	};

	if (!collector->options.replay)
		gather_live(collector, &figures);
	latency_get(collector->options.latency, &figures.latency);
	thread_table_get_stats(collector->table, &figures.table);
	profile_get_stats(collector->profile, &figures.profile);
	symbolizer_get_stats(collector->symbolizer, &figures.symbols);
	engine_add(snapshot, &figures);
	free(readers);
}
