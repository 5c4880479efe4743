/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fixed figures of an engine with any number of readers, for the tests of the engine view.
 */
#ifndef SYMTOP_TESTS_ENGINE_FIXTURE_H
#define SYMTOP_TESTS_ENGINE_FIXTURE_H

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/engine.h"

#define FIXTURE_MAX_READERS 64

static inline void fixture_engine_times(struct latency_figures *latency)
{
	static const uint64_t start_us[NR_START_STAGES] = { 640,  82,	 21400, 9300, 1800,
							    4100, 61000, 74000, 92400 };
	static const uint64_t mean_us[NR_TICK_STAGES] = { 410,	5200, 31000, 9900,
							  2400, 1900, 53000, 320 };

	for (int i = 0; i < NR_START_STAGES; i++)
		latency->start[i] = (struct stage_figures){ 1, 0, start_us[i] * NSEC_PER_USEC, 0 };
	for (int i = 0; i < NR_TICK_STAGES; i++)
		latency->tick[i] = (struct stage_figures){
			.nr = 120,
			.last_ns = mean_us[i] * NSEC_PER_USEC + 900,
			.total_ns = 120 * mean_us[i] * NSEC_PER_USEC,
			.max_ns = 4 * mean_us[i] * NSEC_PER_USEC,
		};
}

/* Add the figures to @snapshot. */
static inline void fixture_engine(struct snapshot *snapshot, size_t nr_readers)
{
	struct engine_reader readers[FIXTURE_MAX_READERS];
	struct engine_figures figures = {
		.live = true,
		.affinity = AFFINITY_NODE,
		.readers = readers,
		.nr_readers = MIN(nr_readers, (size_t)FIXTURE_MAX_READERS),
		.tick_elapsed_ns = 2 * NSEC_PER_SEC,
		.drain_interval_ns = NSEC_PER_SEC / 2,
		.rings = { .sample_ring_bytes = 1 << 20,
			   .metadata_ring_bytes = 1 << 19,
			   .nr_cpus_open = 272,
			   .nr_fds = 544 },
		.nr_overwritten = 12,
		.metadata = { .nr_records = 1234567 },
		.synth = { .nr_sweeps = 1,
			   .nr_done = 5083,
			   .nr_total = 5083,
			   .nr_vanished = 3,
			   .nr_on_demand = 71,
			   .sweep_done = true,
			   .sweep_ns = 92400 * NSEC_PER_USEC,
			   .nr_workers = 1,
			   .max_workers = 11 },
		.table = { .nr_tasks = 61234, .nr_live = 60988, .nr_processes = 5083 },
		.profile = { .nr_cells = 20311, .nr_slots = 60, .slot_bytes = 3 << 20 },
		.symbols = { .nr_loaded = 312, .nr_failed = 1, .symbol_bytes = 41 << 20 },
		.self_cpu = 0.012,
		.self_rss_bytes = UINT64_C(84) << 20,
	};

	for (size_t i = 0; i < figures.nr_readers; i++)
		readers[i] = (struct engine_reader){
			.nr_cpus = 272 / figures.nr_readers,
			.node = i % 8,
			.nr_samples = 2180000 / figures.nr_readers,
			.copy_ns = (900 + 100 * i) * NSEC_PER_USEC,
			.decode_ns = (8000 + 500 * i) * NSEC_PER_USEC,
			.locate_ns = 2500 * NSEC_PER_USEC,
			.nr_moves = 1,
		};
	fixture_engine_times(&figures.latency);
	engine_add(snapshot, &figures);
	snapshot_edit_header(snapshot)->nr_readers = (unsigned int)figures.nr_readers;
	snapshot_edit_header(snapshot)->nr_scans = figures.synth.nr_sweeps;
	snapshot_edit_header(snapshot)->scan_workers = figures.synth.max_workers;
}

#endif /* SYMTOP_TESTS_ENGINE_FIXTURE_H */
