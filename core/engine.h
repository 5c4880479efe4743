/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of the engine itself, for the engine view and for reports: where the
 * start and the ticks spend their time, what each reader does, how full the tables are.
 *
 * Pure: values in, rows of a snapshot out.
 */
#ifndef SYMTOP_CORE_ENGINE_H
#define SYMTOP_CORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event_set.h"
#include "core/latency.h"
#include "core/metadata.h"
#include "core/profile.h"
#include "core/reader.h"
#include "core/snapshot.h"
#include "core/synth.h"
#include "core/thread_table.h"
#include "symbols/symbolizer.h"

/* What one reader did in the last tick. */
struct engine_reader {
	size_t nr_cpus;
	int64_t node; /* of its CPUs; -1: of several, or none */
	uint64_t nr_samples;
	uint64_t copy_ns, decode_ns, locate_ns;
	uint64_t nr_moves; /* to another node or CPU, since the start */
};

struct engine_figures {
	struct latency_figures latency;
	bool live; /* false: a recording, which has neither rings nor readers nor a synthesizer */
	enum reader_affinity affinity;
	const struct engine_reader *readers; /* borrowed */
	size_t nr_readers;
	uint64_t tick_elapsed_ns; /* wall time of the last tick */
	uint64_t drain_interval_ns;
	uint64_t nr_deferred; /* samples that wait for their task's maps */
	struct event_set_info rings;
	uint64_t nr_overwritten, nr_lost, nr_throttled, nr_corrupt;
	struct metadata_figures metadata;
	struct synth_progress synth;
	struct thread_table_stats table;
	struct profile_stats profile;
	struct symbolizer_stats symbols;
	double self_cpu;
	uint64_t self_rss_bytes;
};

/* Add all of it to @snapshot. */
void engine_add(struct snapshot *snapshot, const struct engine_figures *figures);

#endif /* SYMTOP_CORE_ENGINE_H */
