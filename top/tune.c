/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The synthesizer is measured alone, each number of workers in turn, the best of three
 * sweeps; readers, rings and ticks in real sessions of about a second. The machine goes
 * on with its work meanwhile: that is what the options are to suit.
 */
#include "config.h"

#include "top/tune.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/synth.h"
#include "core/thread_table.h"
#include "symbols/dso.h"
#include "top/session.h"
#include "top/signals.h"

#define MAX_TRIALS 8
#define NR_SWEEPS 3
#define SWEEP_LIMIT_NS (60 * NSEC_PER_SEC)
#define SESSION_NS NSEC_PER_SEC

struct reading {
	unsigned int nr_readers;
	uint64_t read_ns; /* per second of samples */
	uint64_t tick_ns;
	uint64_t nr_samples;
	uint64_t nr_overwritten;
	double bytes_per_sec; /* of the CPU that brings most */
	struct event_set_info info;
};

unsigned int tune_choose_workers(const struct tune_trial *trials, size_t nr)
{
	uint64_t best_ns = trials[0].wall_ns;

	for (size_t i = 1; i < nr; i++)
		best_ns = MIN(best_ns, trials[i].wall_ns);
	for (size_t i = 0; i < nr; i++) {
		if (trials[i].wall_ns <= best_ns + MAX(best_ns / 10, 2 * NSEC_PER_MSEC))
			return trials[i].nr_workers;
	}
	return trials[0].nr_workers;
}

uint64_t tune_choose_refresh(uint64_t tick_ns)
{
	uint64_t step_ns = 100 * NSEC_PER_MSEC;

	return MAX(step_ns, (tick_ns * 50 + step_ns - 1) / step_ns * step_ns);
}

size_t tune_choose_ring(double bytes_per_sec, uint64_t refresh_ns, size_t page_size)
{
	double wanted = bytes_per_sec * 1.5 * (double)refresh_ns / (double)NSEC_PER_SEC;
	size_t bytes = page_size;

	while ((double)bytes < wanted && bytes < ((size_t)1 << 30))
		bytes *= 2;
	return bytes;
}

/* ---- measuring ---- */

static int sweep(unsigned int nr_workers, struct synth_progress *ret_progress, struct err *err)
{
	struct dso_table *dsos = dso_table_new();
	const struct thread_table_options table_options = { .dsos = dsos };
	struct thread_table *table = thread_table_new(&table_options);
	const struct synth_options options = {
		.nr_workers = nr_workers,
		.table = table,
		.sweep = true,
	};
	struct synth *synth;
	int ret = synth_start(&options, &synth, err);

	if (ret == 0) {
		if (!synth_wait_sweep(synth, clock_now_ns() + SWEEP_LIMIT_NS))
			ret = err_set(err, -ETIMEDOUT, "a sweep over /proc");
		synth_get_progress(synth, ret_progress);
		synth_stop(synth);
	}
	thread_table_free(table);
	dso_table_free(dsos);
	return ret;
}

static int tune_synth(unsigned int nr_cpus, unsigned int *ret_nr, struct err *err)
{
	struct tune_trial trials[MAX_TRIALS];
	size_t nr = 0;

	printf("%-12s %8s %12s %12s\n", "synthesizer", "workers", "processes", "sweep ms");
	for (unsigned int workers = 1; nr < MAX_TRIALS && (workers <= 2 || workers <= nr_cpus);
	     workers *= 2) {
		struct synth_progress progress;
		uint64_t best_ns = UINT64_MAX;

		for (int i = 0; i < NR_SWEEPS; i++) {
			int ret = sweep(workers, &progress, err);

			if (ret < 0)
				return ret;
			best_ns = MIN(best_ns, progress.sweep_ns);
		}
		trials[nr].nr_workers = workers;
		trials[nr++].wall_ns = best_ns;
		printf("%-12s %8u %12llu %12.1f\n", "", workers,
		       (unsigned long long)progress.nr_total, (double)best_ns / 1e6);
		fflush(stdout);
	}
	*ret_nr = tune_choose_workers(trials, nr);
	return 0;
}

/* Until the second tick, whose length is the refresh. Returns false when interrupted. */
static bool wait_for_ticks(struct session *session, struct snapshot **ret_snapshot)
{
	struct snapshot *newest = NULL;

	while (!newest || snapshot_header(newest)->sequence < 2) {
		struct pollfd fds[] = {
			{ .fd = collector_fd(session->collector), .events = POLLIN },
			{ .fd = session->signal_fd, .events = POLLIN },
		};
		struct snapshot *snapshot;

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents) {
			snapshot_put(newest);
			return false;
		}
		snapshot = collector_take(session->collector);
		if (!snapshot)
			continue;
		snapshot_put(newest);
		newest = snapshot;
	}
	*ret_snapshot = newest;
	return true;
}

static double busiest_ring(struct session *session, double seconds)
{
	uint64_t most = 0;

	for (size_t i = 0; i < event_set_nr_cpus(session->events); i++) {
		struct cpu_rings *cpu = event_set_cpu(session->events, i);
		struct ring_stats stats;

		if (!cpu->samples)
			continue;
		ring_get_stats(cpu->samples, &stats);
		most = MAX(most, stats.bytes_read + stats.bytes_overwritten);
	}
	return (double)most / seconds;
}

static int measure_session(const struct options *template, unsigned int nr_readers,
			   struct reading *ret, struct err *err)
{
	struct options options = *template;
	struct session session = { .options = &options, .exec_ns = clock_now_ns() };
	struct snapshot *snapshot = NULL;
	int status;

	options.nr_readers = nr_readers;
	options.refresh_ns = SESSION_NS;
	status = session_start(&session, err);
	if (status == 0 && !wait_for_ticks(&session, &snapshot))
		status = err_say(err, -EINTR, "interrupted");
	if (status == 0) {
		const struct snapshot_header *header = snapshot_header(snapshot);
		double seconds = (double)header->elapsed_ns / 1e9;

		ret->nr_readers = header->nr_readers;
		ret->read_ns = header->read_ns;
		ret->tick_ns = header->tick_ns;
		ret->nr_samples = (uint64_t)header->samples_per_sec;
		ret->nr_overwritten = header->nr_overwritten;
		event_set_get_info(session.events, &ret->info);
		snapshot_put(snapshot);
		/* The rings are the collector's until it has stopped. */
		collector_stop(session.collector);
		session.collector = NULL;
		ret->bytes_per_sec = busiest_ring(&session, seconds);
	}
	session_release(&session);
	return status;
}

static int tune_readers(const struct options *options, unsigned int nr_cpus,
			struct reading *ret_best, struct err *err)
{
	struct tune_trial trials[MAX_TRIALS] = { 0 };
	struct reading readings[MAX_TRIALS];
	unsigned int chosen;
	size_t nr = 0;

	printf("\n%-12s %8s %12s %12s %12s %12s\n", "readers", "workers", "samples/s", "read ms",
	       "tick ms", "overwritten");
	for (unsigned int workers = 1; nr < MAX_TRIALS && workers <= nr_cpus; workers *= 2) {
		struct reading *reading = &readings[nr];
		int ret = measure_session(options, workers, reading, err);

		if (ret < 0)
			return ret;
		trials[nr].nr_workers = workers;
		trials[nr++].wall_ns = reading->read_ns;
		printf("%-12s %8u %12llu %12.2f %12.2f %12llu\n", "", workers,
		       (unsigned long long)reading->nr_samples, (double)reading->read_ns / 1e6,
		       (double)reading->tick_ns / 1e6, (unsigned long long)reading->nr_overwritten);
		fflush(stdout);
	}
	chosen = tune_choose_workers(trials, nr);
	for (size_t i = 0; i < nr; i++) {
		if (trials[i].nr_workers == chosen)
			*ret_best = readings[i];
	}
	ret_best->nr_readers = chosen;
	return 0;
}

static int recommend(const struct options *options, unsigned int nr_synth,
		     const struct reading *reading)
{
	uint64_t fastest_ns = tune_choose_refresh(reading->tick_ns);
	uint64_t refresh_ns = MAX(fastest_ns, options->refresh_ns);
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t ring = tune_choose_ring(reading->bytes_per_sec, refresh_ns, page_size);

	printf("\n%-12s %.0f KiB/s on the busiest CPU: %zu KiB hold 1.5 refreshes of %.1f s "
	       "(in use: %zu KiB)\n",
	       "rings", reading->bytes_per_sec / 1024, ring / 1024, (double)refresh_ns / 1e9,
	       reading->info.sample_ring_bytes / 1024);
	printf("%-12s a tick takes %.2f ms: at most 2 %% of a refresh of %.1f s or more\n",
	       "refresh", (double)reading->tick_ns / 1e6, (double)fastest_ns / 1e9);
	printf("\nrecommended: symtop -d %.1f -m %zuK --readers %u --synth-threads %u\n",
	       (double)refresh_ns / 1e9, ring / 1024, reading->nr_readers, nr_synth);
	if (fflush(stdout) == EOF || ferror(stdout))
		return 1;
	return 0;
}

int tune_run(const struct options *options)
{
	struct cpumap cpumap;
	struct reading reading = { 0 };
	struct err err = { 0 };
	unsigned int nr_synth = 1;
	int ret;

	ret = cpumap_init(&cpumap, "/sys", &err);
	if (ret < 0) {
		session_complain(&err);
		return 1;
	}
	printf("%u CPUs online, %u nodes\n\n", cpumap.nr_online, cpumap.nr_nodes);
	ret = tune_synth(cpumap.nr_online, &nr_synth, &err);
	if (ret == 0)
		ret = tune_readers(options, cpumap.nr_online, &reading, &err);
	cpumap_release(&cpumap);
	if (ret == -EINTR)
		return 130;
	if (ret < 0) {
		session_complain(&err);
		return 1;
	}
	return recommend(options, nr_synth, &reading);
}
