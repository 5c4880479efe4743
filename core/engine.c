/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function a section. Names are written for people and are stable for programs: a
 * figure that is added goes to the end of its section.
 */
#include "config.h"

#include "core/engine.h"

#include <math.h>
#include <stdio.h>

#include "core/base/clock.h"

/* A section being filled; @item is "" or what the figures are of. */
struct section {
	struct snapshot *snapshot;
	const char *name;
	const char *item;
};

static void add(const struct section *section, const char *name, enum engine_unit unit,
		double value)
{
	const struct engine_figure figure = {
		.section = section->name,
		.item = section->item,
		.name = name,
		.value = value,
		.unit = unit,
	};

	snapshot_add_engine(section->snapshot, &figure);
}

static void add_count(const struct section *section, const char *name, uint64_t count)
{
	add(section, name, ENGINE_COUNT, (double)count);
}

static void add_bytes(const struct section *section, const char *name, uint64_t bytes)
{
	add(section, name, ENGINE_BYTES, (double)bytes);
}

static void add_time(const struct section *section, const char *name, uint64_t ns)
{
	add(section, name, ENGINE_SECONDS, (double)ns / (double)NSEC_PER_SEC);
}

/* What cannot be computed is not known: NaN. */
static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* ---- time ---- */

static void add_ticks(struct snapshot *snapshot, const struct latency_figures *latency)
{
	for (int i = 0; i < NR_TICK_STAGES; i++) {
		const struct stage_figures *stage = &latency->tick[i];
		const struct section section = { snapshot, "tick",
						 tick_stage_name((enum tick_stage)i) };

		if (!stage->nr)
			continue;
		add_count(&section, "times", stage->nr);
		add_time(&section, "mean", stage->total_ns / stage->nr);
		add_time(&section, "max", stage->max_ns);
		add_time(&section, "last", stage->last_ns);
	}
}

static void add_start(struct snapshot *snapshot, const struct latency_figures *latency)
{
	const struct section section = { snapshot, "start", "" };

	for (int i = 0; i < NR_START_STAGES; i++) {
		const struct stage_figures *stage = &latency->start[i];

		if (stage->nr)
			add_time(&section, start_stage_name((enum start_stage)i), stage->total_ns);
	}
}

/* ---- reading ---- */

static void add_reader(struct snapshot *snapshot, const struct engine_figures *figures,
		       size_t index)
{
	const struct engine_reader *reader = &figures->readers[index];
	uint64_t busy_ns = reader->copy_ns + reader->decode_ns + reader->locate_ns;
	double samples = (double)reader->nr_samples;
	struct section section = { snapshot, "reader", "" };
	char item[24];

	snprintf(item, sizeof(item), "%zu", index);
	section.item = item;
	add_count(&section, "CPUs", reader->nr_cpus);
	add(&section, "node", ENGINE_COUNT, reader->node < 0 ? NAN : (double)reader->node);
	add(&section, "samples", ENGINE_RATE,
	    ratio(samples * (double)NSEC_PER_SEC, (double)figures->tick_elapsed_ns));
	add_time(&section, "copy", reader->copy_ns);
	add_time(&section, "decode", reader->decode_ns);
	add_time(&section, "locate", reader->locate_ns);
	add(&section, "per sample", ENGINE_SECONDS,
	    ratio((double)busy_ns / (double)NSEC_PER_SEC, samples));
	add_count(&section, "moves", reader->nr_moves);
}

static void add_reading(struct snapshot *snapshot, const struct engine_figures *figures)
{
	static const char *const places[] = {
		[AFFINITY_SYS] = "readers, anywhere",
		[AFFINITY_NODE] = "readers, on a node",
		[AFFINITY_CPU] = "readers, on the CPU",
	};
	const struct section section = { snapshot, "reading", "" };

	add_count(&section, places[figures->affinity], figures->nr_readers);
	add_time(&section, "drain interval", figures->drain_interval_ns);
	add_count(&section, "ticks late", figures->latency.nr_ticks_late);
	add_count(&section, "samples deferred", figures->nr_deferred);
}

static void add_rings(struct snapshot *snapshot, const struct engine_figures *figures)
{
	const struct section section = { snapshot, "rings", "" };

	add_count(&section, "CPUs", figures->rings.nr_cpus_open);
	add_count(&section, "descriptors", figures->rings.nr_fds);
	add_bytes(&section, "sample ring", figures->rings.sample_ring_bytes);
	add_bytes(&section, "metadata ring", figures->rings.metadata_ring_bytes);
	add_count(&section, "overwritten", figures->nr_overwritten);
	add_count(&section, "lost", figures->nr_lost);
	add_count(&section, "throttled", figures->nr_throttled);
	add_count(&section, "corrupt", figures->nr_corrupt);
}

static void add_metadata(struct snapshot *snapshot, const struct metadata_figures *metadata)
{
	const struct section section = { snapshot, "metadata", "" };

	add_count(&section, "records", metadata->nr_records);
	add_count(&section, "lost", metadata->nr_lost);
	add_count(&section, "malformed", metadata->nr_malformed);
	add_count(&section, "unknown", metadata->nr_unknown);
}

static void add_synth(struct snapshot *snapshot, const struct synth_progress *synth)
{
	const struct section section = { snapshot, "synthesizer", "" };

	add_count(&section, "workers", synth->nr_workers);
	add_count(&section, "scans", synth->nr_sweeps);
	add_time(&section, "scan", synth->sweep_ns);
	add_count(&section, "workers at most", synth->max_workers);
	add_count(&section, "processes", synth->nr_total);
	add_count(&section, "read", synth->nr_done);
	add_count(&section, "vanished", synth->nr_vanished);
	add_count(&section, "denied", synth->nr_denied);
	add_count(&section, "on demand", synth->nr_on_demand);
	add_count(&section, "waiting", synth->nr_waiting);
}

/* ---- tables ---- */

static void add_threads(struct snapshot *snapshot, const struct thread_table_stats *table)
{
	const struct section section = { snapshot, "threads", "" };

	add_count(&section, "tasks", table->nr_tasks);
	add_count(&section, "live", table->nr_live);
	add_count(&section, "processes", table->nr_processes);
	add_count(&section, "address spaces", table->nr_spaces);
	add_count(&section, "scanned", table->nr_scanned);
	add_count(&section, "evicted", table->nr_evicted);
}

static void add_profile(struct snapshot *snapshot, const struct profile_stats *profile)
{
	const struct section section = { snapshot, "profile", "" };

	add_count(&section, "cells", profile->nr_cells);
	add_count(&section, "coarsened", profile->nr_coarsened);
	add_count(&section, "slots", profile->nr_slots);
	add_bytes(&section, "slot memory", profile->slot_bytes);
	add_count(&section, "chain nodes", profile->nr_chain_nodes);
	add_count(&section, "chains refused", profile->nr_chains_refused);
}

static void add_symbols(struct snapshot *snapshot, const struct symbolizer_stats *symbols)
{
	const struct section section = { snapshot, "symbols", "" };

	add_count(&section, "objects loaded", symbols->nr_loaded);
	add_count(&section, "failed", symbols->nr_failed);
	add_count(&section, "waiting", symbols->nr_waiting);
	add_bytes(&section, "memory", symbols->symbol_bytes);
}

static void add_self(struct snapshot *snapshot, const struct engine_figures *figures)
{
	const struct section section = { snapshot, "self", "" };

	add(&section, "CPU", ENGINE_SHARE, figures->self_cpu);
	add_bytes(&section, "memory", figures->self_rss_bytes);
}

void engine_add(struct snapshot *snapshot, const struct engine_figures *figures)
{
	add_ticks(snapshot, &figures->latency);
	add_start(snapshot, &figures->latency);
	if (figures->live) {
		for (size_t i = 0; i < figures->nr_readers; i++)
			add_reader(snapshot, figures, i);
		add_reading(snapshot, figures);
		add_rings(snapshot, figures);
		add_synth(snapshot, &figures->synth);
		add_metadata(snapshot, &figures->metadata);
	}
	add_threads(snapshot, &figures->table);
	add_profile(snapshot, &figures->profile);
	add_symbols(snapshot, &figures->symbols);
	add_self(snapshot, figures);
}
