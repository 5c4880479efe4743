/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of core/synth.c share: a fixture folder for /proc. The thread table is a
 * recorder of its calls, with a gate at which a chosen call waits, so order is tested
 * without sleeping.
 */
#ifndef SYMTOP_TESTS_CORE_SYNTH_FIXTURE_H
#define SYMTOP_TESTS_CORE_SYNTH_FIXTURE_H

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/base/mutex.h"
#include "core/synth.h"
#include "tests/file_fixture.h"

#define NR_PROCESSES 60
#define LARGE 30 /* a pid among them */
#define FAR (clock_now_ns() + 600 * NSEC_PER_SEC)

static char proc[64];

static struct {
	struct mutex lock;
	struct cond changed;
	uint32_t read[16384]; /* pids in the order they were delivered */
	size_t nr_read;
	uint32_t failed[64];
	size_t nr_failed;
	size_t nr_threads;
	uint32_t gate_pid; /* its delivery waits at the gate; 0: the nth and later ones do */
	uint32_t gate_pid2;
	size_t gate_nth;
	unsigned int gate_round; /* who waits from an earlier one may pass */
	bool gate_closed, gate_reached;
} recorder;

static struct thread_table *const table = (void *)&recorder;

void thread_table_synthesize(struct thread_table *to, const struct synth_process *process)
{
	assert(to == table);
	mutex_lock(&recorder.lock);
	recorder.read[recorder.nr_read++] = process->pid;
	recorder.nr_threads += process->nr_threads;
	if (recorder.gate_closed &&
	    (process->pid == recorder.gate_pid || process->pid == recorder.gate_pid2 ||
	     (recorder.gate_nth && recorder.nr_read >= recorder.gate_nth))) {
		unsigned int round = recorder.gate_round;

		recorder.gate_reached = true;
		cond_broadcast(&recorder.changed);
		while (recorder.gate_closed && recorder.gate_round == round)
			cond_wait(&recorder.changed, &recorder.lock);
	}
	mutex_unlock(&recorder.lock);
}

void thread_table_scan_failed(struct thread_table *to, uint32_t pid, uint64_t scan_start_ns)
{
	assert(to == table);
	assert(scan_start_ns);
	mutex_lock(&recorder.lock);
	recorder.failed[recorder.nr_failed++] = pid;
	mutex_unlock(&recorder.lock);
}

static UNUSED void close_gate(uint32_t pid, size_t nth)
{
	mutex_lock(&recorder.lock);
	recorder.gate_pid = pid;
	recorder.gate_nth = nth;
	recorder.gate_closed = true;
	recorder.gate_reached = false;
	mutex_unlock(&recorder.lock);
}

static UNUSED void wait_at_gate(void)
{
	mutex_lock(&recorder.lock);
	while (!recorder.gate_reached)
		cond_wait(&recorder.changed, &recorder.lock);
	mutex_unlock(&recorder.lock);
}

/* Let through who waits; from now on the @nth and later ones do. */
static UNUSED void move_gate(size_t nth)
{
	mutex_lock(&recorder.lock);
	recorder.gate_nth = nth;
	recorder.gate_round++;
	cond_broadcast(&recorder.changed);
	mutex_unlock(&recorder.lock);
}

static UNUSED void open_gate(void)
{
	mutex_lock(&recorder.lock);
	recorder.gate_closed = false;
	cond_broadcast(&recorder.changed);
	mutex_unlock(&recorder.lock);
}

/* How often @pid was delivered; *@ret_first: the place of the first time. */
static UNUSED size_t count_reads(uint32_t pid, size_t *ret_first)
{
	size_t nr = 0;

	mutex_lock(&recorder.lock);
	for (size_t i = 0; i < recorder.nr_read; i++) {
		if (recorder.read[i] != pid)
			continue;
		if (!nr && ret_first)
			*ret_first = i;
		nr++;
	}
	mutex_unlock(&recorder.lock);
	return nr;
}

static UNUSED size_t nr_delivered(void)
{
	size_t nr;

	mutex_lock(&recorder.lock);
	nr = recorder.nr_read;
	mutex_unlock(&recorder.lock);
	return nr;
}

/* ---- the fixture: processes 1 to NR_PROCESSES ---- */

static UNUSED void put(const char *name, const char *text)
{
	put_file(proc, name, text, strlen(text));
}

static UNUSED void put_process(uint32_t pid, unsigned int nr_threads)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (p) S 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 %u 0 9 1000 200\n", pid,
		 nr_threads);
	put(name, text);
	snprintf(name, sizeof(name), "%u/maps", pid);
	put(name, "1000-2000 r-xp 0 08:01 5 /x\n");
	if (nr_threads > 1) {
		snprintf(name, sizeof(name), "%u/task/100000/comm", pid);
		put(name, "t\n");
	}
}

static UNUSED int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static UNUSED int set_up(void **state)
{
	(void)state;
	memset(&recorder, 0, sizeof(recorder));
	mutex_init(&recorder.lock);
	cond_init(&recorder.changed);
	snprintf(proc, sizeof(proc), "/tmp/synth-test-XXXXXX");
	if (!mkdtemp(proc))
		return -1;
	for (uint32_t pid = 1; pid <= NR_PROCESSES; pid++)
		put_process(pid, 1);
	return 0;
}

static UNUSED int tear_down(void **state)
{
	(void)state;
	cond_release(&recorder.changed);
	mutex_release(&recorder.lock);
	return nftw(proc, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static UNUSED struct synth *start(unsigned int nr_workers, bool sweep)
{
	struct synth_options options = {
		.proc = proc,
		.nr_workers = nr_workers,
		.table = table,
		.sweep = sweep,
	};
	struct synth *synth = NULL;
	struct err err;

	assert_int_equal(synth_start(&options, &synth, &err), 0);
	return synth;
}

static UNUSED struct synth_progress progress_of(struct synth *synth)
{
	struct synth_progress progress;

	synth_get_progress(synth, &progress);
	return progress;
}

#endif /* SYMTOP_TESTS_CORE_SYNTH_FIXTURE_H */
