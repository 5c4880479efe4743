/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector's readers: how many there are, who runs them, what each of them did.
 *
 * The first is run by the collector's own worker, so that a small machine needs no other;
 * the rest are workers that are started together for each drain.
 *
 * Their number changes between ticks only, while all of them rest. A reader that goes may
 * still hold samples that wait for their task's maps: it stays aside, without CPUs and
 * without a worker, until these are placed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/affinity.h"
#include "core/base/mem.h"
#include "core/collector_internal.h"

#define CPUS_PER_READER 64

/* Who started this worker may have been bound to a place by then. */
static void leave_place(const struct collector *collector)
{
	int ignored = 0;

	if (collector->options.affinity != AFFINITY_SYS)
		ignored = affinity_set(&collector->home);
	(void)ignored; /* then it reads from there: slower, and nothing else */
}

static void reader_worker_run(void *arg)
{
	struct reader_worker *reader = arg;
	struct collector *collector = reader->collector;

	leave_place(collector);
	mutex_lock(&collector->lock);
	for (;;) {
		uint64_t cut_ns;

		while (!collector->stop && !reader->stop &&
		       collector->reader_round == reader->round)
			cond_wait(&collector->readers_wake, &collector->lock);
		if (collector->stop || reader->stop)
			break;
		reader->round = collector->reader_round;
		cut_ns = collector->reader_cut_ns;
		mutex_unlock(&collector->lock);
		tick_run_reader(reader, cut_ns, collector->changed);
		mutex_lock(&collector->lock);
		if (!--collector->nr_reading)
			cond_broadcast(&collector->readers_done); /* also collector_finish() */
	}
	mutex_unlock(&collector->lock);
}

void collector_run_readers(struct collector *collector, uint64_t cut_ns)
{
	if (collector->nr_readers > 1) {
		mutex_lock(&collector->lock);
		collector->reader_cut_ns = cut_ns;
		collector->reader_round++;
		collector->nr_reading = collector->nr_readers - 1;
		cond_broadcast(&collector->readers_wake);
		mutex_unlock(&collector->lock);
	}
	tick_run_reader(&collector->readers[0], cut_ns, collector->changed);
	if (collector->nr_readers > 1) {
		mutex_lock(&collector->lock);
		while (collector->nr_reading)
			cond_wait(&collector->readers_done, &collector->lock);
		mutex_unlock(&collector->lock);
	}
}

/* ---- their number ---- */

/* One more at the end; the first has no worker of its own. */
static int add_reader(struct collector *collector, struct err *err)
{
	const struct reader_options options = {
		.events = collector->options.events,
		.table = collector->table,
		.synth = collector->synth,
		.recorder = collector->recorder,
		.kernel = collector->kernel,
		.unknown = collector->unknown,
		.guest = collector->guest,
		.cpumap = collector->options.cpumap,
		.affinity = collector->options.affinity,
	};
	struct reader_worker *reader = &collector->readers[collector->nr_readers];
	int ret = 0;

	*reader = (struct reader_worker){ .collector = collector, .node = -1 };
	/* Not the round that is under way when the worker gets to run. */
	mutex_lock(&collector->lock);
	reader->round = collector->reader_round;
	mutex_unlock(&collector->lock);
	reader->reader = reader_new(&options);
	if (collector->nr_readers)
		ret = worker_start("symtop/read", reader_worker_run, reader, &reader->worker, err);
	if (ret < 0) {
		reader_free(reader->reader);
		return ret;
	}
	collector->nr_readers++;
	return 0;
}

/* The last one goes; what it holds is settled by the next drains. */
static void retire_reader(struct collector *collector)
{
	struct reader_worker *reader = &collector->readers[--collector->nr_readers];

	mutex_lock(&collector->lock);
	reader->stop = true;
	cond_broadcast(&collector->readers_wake);
	mutex_unlock(&collector->lock);
	worker_join(reader->worker);
	reader_clear_cpus(reader->reader);
	mem_grow(collector->retired, collector->nr_retired, collector->nr_retired_allocated);
	collector->retired[collector->nr_retired++] = reader->reader;
	*reader = (struct reader_worker){ 0 };
}

/* What there is room for: a CPU that comes back may get one. */
static unsigned int max_readers(const struct collector *collector)
{
	return (unsigned int)MAX(event_set_nr_cpus(collector->options.events), 1U);
}

/* What there is work for: CPUs that have samples. */
static unsigned int useful_readers(const struct collector *collector)
{
	struct event_set_info info;

	event_set_get_info(collector->options.events, &info);
	return MAX(1U, MIN(info.nr_cpus_open, max_readers(collector)));
}

int collector_start_readers(struct collector *collector, struct err *err)
{
	unsigned int wanted = collector->options.nr_readers;
	unsigned int nr_cpus = useful_readers(collector);
	unsigned int nr_nodes = MAX(1U, collector->options.cpumap->nr_nodes);
	int ret;

	if (!wanted)
		wanted = (nr_cpus + CPUS_PER_READER - 1) / CPUS_PER_READER;
	/* The same number for each node, so that no reader has to move. */
	if (!collector->options.nr_readers && collector->options.affinity == AFFINITY_NODE)
		wanted = (wanted + nr_nodes - 1) / nr_nodes * nr_nodes;
	wanted = MAX(1U, MIN(wanted, nr_cpus));
	if (collector->options.affinity != AFFINITY_SYS) {
		ret = affinity_get(&collector->home);
		if (ret < 0)
			return err_set(err, ret, "readers: the CPUs that they may run on");
	}
	/* Workers keep pointers into it, so it has its last size from the start. */
	collector->readers = mem_calloc(max_readers(collector), sizeof(*collector->readers));
	while (collector->nr_readers < wanted) {
		ret = add_reader(collector, err);
		if (ret < 0)
			return ret;
	}
	tick_share_cpus(collector);
	return 0;
}

void collector_change_readers(struct collector *collector, unsigned int nr_readers)
{
	unsigned int wanted = MAX(1U, MIN(nr_readers, useful_readers(collector)));
	struct err err = { 0 };
	int ret = 0;

	if (collector->nr_readers == wanted)
		return;
	while (collector->nr_readers > wanted)
		retire_reader(collector);
	while (collector->nr_readers < wanted && ret == 0)
		ret = add_reader(collector, &err);
	if (ret < 0)
		snprintf(collector->trouble, sizeof(collector->trouble), "%s", err.text);
	tick_share_cpus(collector);
}

void collector_stop_readers(struct collector *collector)
{
	for (unsigned int i = 0; i < collector->nr_readers; i++)
		worker_join(collector->readers[i].worker);
}

void collector_free_readers(struct collector *collector)
{
	for (unsigned int i = 0; i < collector->nr_readers; i++)
		reader_free(collector->readers[i].reader);
	for (size_t i = 0; i < collector->nr_retired; i++)
		reader_free(collector->retired[i]);
	free(collector->readers);
	free(collector->retired);
}

/* ---- what they did ---- */

static void add_figures(struct reader_figures *sum, const struct reader_figures *figures)
{
	sum->nr_samples += figures->nr_samples;
	sum->nr_malformed += figures->nr_malformed;
	sum->nr_unknown_id += figures->nr_unknown_id;
	sum->nr_throttled += figures->nr_throttled;
	sum->nr_lost += figures->nr_lost;
	sum->nr_deferred += figures->nr_deferred;
	sum->nr_moves += figures->nr_moves;
	sum->nr_moves_refused += figures->nr_moves_refused;
}

void collector_settle_retired(struct collector *collector)
{
	size_t nr = 0;

	for (size_t i = 0; i < collector->nr_retired; i++) {
		struct reader *reader = collector->retired[i];
		struct reader_figures figures;

		reader_locate(reader);
		tick_merge_reader(collector, reader);
		reader_get_figures(reader, &figures);
		if (figures.nr_deferred) {
			collector->retired[nr++] = reader;
			continue;
		}
		add_figures(&collector->gone_figures, &figures);
		reader_free(reader);
	}
	collector->nr_retired = nr;
}

void collector_sum_readers(const struct collector *collector, struct reader_figures *ret_sum)
{
	struct reader_figures figures;

	*ret_sum = collector->gone_figures;
	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		reader_get_figures(collector->readers[i].reader, &figures);
		add_figures(ret_sum, &figures);
	}
	for (size_t i = 0; i < collector->nr_retired; i++) {
		reader_get_figures(collector->retired[i], &figures);
		add_figures(ret_sum, &figures);
	}
}

void collector_note_work(struct collector *collector)
{
	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		struct reader_worker *reader = &collector->readers[i];
		struct reader_figures figures;

		reader_get_figures(reader->reader, &figures);
		reader->tick.nr_samples += figures.nr_samples - reader->samples_seen;
		reader->tick.copy_ns += figures.copy_ns;
		reader->tick.decode_ns += figures.decode_ns;
		reader->tick.locate_ns += figures.locate_ns;
		reader->samples_seen = figures.nr_samples;
	}
}

void collector_end_work(struct collector *collector)
{
	for (unsigned int i = 0; i < collector->nr_readers; i++) {
		struct reader_worker *reader = &collector->readers[i];

		reader->last = reader->tick;
		reader->tick = (struct reader_work){ 0 };
	}
}
