/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers take one process at a time under one mutex: what was asked for first,
 * then the next of the sweep. Taking costs some 50 ns where reading costs 50 us,
 * so batches would save nothing, and would let a sampled process wait behind one.
 *
 * Large processes (more than LARGE_THREADS threads) take a queue of their own: a
 * reader refuses them (-E2BIG) when it has seen stat, before the long part. At
 * most one worker is at a large process, and never the first one unless it is
 * alone; so neither the sweep nor a request waits for ten thousand threads, and
 * with two workers the large ones do not wait for the sweep either.
 *
 * How many workers, when the caller leaves it to us: the first one lists /proc and
 * starts one more per PROCESSES_PER_WORKER, up to the number of CPUs. A process
 * costs about 50 us to read, a worker about as much to start, but all of them
 * contend for the kernel's locks and for CPUs the watched load wants: below a few
 * hundred processes (25 ms of work) more workers have been measured to take longer
 * than one. A large process is worth a second worker whatever the number.
 * Only the first worker starts others, and it alone stays after the sweep.
 *
 * Sweeps are numbered and a job says which one waits for it, so that what a sweep that
 * was given up left behind, in the queues or in a worker's hands, counts for none.
 *
 * Pids below PID_LIMIT (the kernel's own) index bit sets, so a request costs one
 * bit test when it is not new.
 */
#include "config.h"

#include "core/synth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "core/procfs.h"

#define PID_LIMIT (UINT32_C(1) << 22)
#define PROCESSES_PER_WORKER 500
#define MAX_WORKERS 64
#define LARGE_THREADS 1000

/* One process to read. */
struct job {
	uint32_t pid;
	uint64_t sweep;	 /* the number of the sweep that waits for it; 0: none */
	bool large;	 /* to be read whatever its size */
	uint64_t ticket; /* the request that waits for it; 0: none */
};

/* First in, first out; a job taken leaves a hole at the front until half are holes. */
struct job_queue {
	struct job *jobs;
	size_t first, end, nr_allocated;
};

struct synth_worker {
	struct synth *synth;
	struct worker *worker; /* the first worker's; after its end, synth_stop()'s */
	bool runs GUARDED_BY(synth.lock);
	struct job job GUARDED_BY(synth.lock); /* all zero: at none */
};

/*
 * Threads: everything below the lock is guarded by it. It is held for a few
 * instructions, never across a read of /proc or a call to the thread table.
 */
struct synth {
	char *proc;
	struct thread_table *table;

	struct mutex lock;
	struct cond work; /* a job, or the end */
	struct cond done; /* a request or the sweep is done */
	bool stop GUARDED_BY(lock);
	bool is_alone GUARDED_BY(lock);		/* until synth_use_all_workers() */
	unsigned int nr_fixed GUARDED_BY(lock); /* 0: adaptive */
	unsigned int nr_cpus GUARDED_BY(lock);	/* as of the start of the sweep */
	uint64_t start_ns GUARDED_BY(lock);	/* of the sweep */
	bool list_wanted GUARDED_BY(lock);	/* the sweep begins, the first worker is to list */
	bool listed GUARDED_BY(lock);
	uint32_t *pids GUARDED_BY(lock); /* the sweep */
	size_t nr_pids GUARDED_BY(lock);
	size_t cursor GUARDED_BY(lock);
	struct job_queue requests GUARDED_BY(lock);
	struct job_queue large GUARDED_BY(lock);
	bool large_active GUARDED_BY(lock);
	uint64_t last_ticket GUARDED_BY(lock);
	uint64_t *waiting GUARDED_BY(lock); /* bit set: pids in requests */
	uint64_t *known GUARDED_BY(lock);   /* bit set: read already, the sweep may pass */
	struct synth_progress progress GUARDED_BY(lock);
	struct synth_worker workers[MAX_WORKERS];
};

static bool bit_test(const uint64_t *bits, uint32_t pid)
{
	return pid < PID_LIMIT && (bits[pid / 64] >> (pid % 64) & 1);
}

static void bit_set(uint64_t *bits, uint32_t pid)
{
	if (pid < PID_LIMIT)
		bits[pid / 64] |= UINT64_C(1) << (pid % 64);
}

static void bit_clear(uint64_t *bits, uint32_t pid)
{
	if (pid < PID_LIMIT)
		bits[pid / 64] &= ~(UINT64_C(1) << (pid % 64));
}

static size_t queue_nr(const struct job_queue *queue)
{
	return queue->end - queue->first;
}

static void queue_push(struct job_queue *queue, const struct job *job)
{
	if (queue->first > queue_nr(queue)) {
		memmove(queue->jobs, queue->jobs + queue->first,
			queue_nr(queue) * sizeof(*queue->jobs));
		queue->end -= queue->first;
		queue->first = 0;
	}
	mem_grow(queue->jobs, queue->end, queue->nr_allocated);
	queue->jobs[queue->end++] = *job;
}

static bool queue_pop(struct job_queue *queue, struct job *ret_job)
{
	if (!queue_nr(queue))
		return false;
	*ret_job = queue->jobs[queue->first++];
	return true;
}

/* ---- what to do next ---- */

static void forget_pids_locked(struct synth *synth) REQUIRES(synth->lock)
{
	free(synth->pids);
	synth->pids = NULL;
	synth->nr_pids = 0;
	synth->cursor = 0;
}

static void check_sweep_locked(struct synth *synth) REQUIRES(synth->lock)
{
	struct synth_progress *progress = &synth->progress;

	if (progress->sweep_done || !synth->listed || progress->nr_done < progress->nr_total)
		return;
	progress->sweep_done = true;
	progress->sweep_ns = clock_now_ns() - synth->start_ns;
	forget_pids_locked(synth);
	cond_broadcast(&synth->work); /* workers that have nothing left end */
	cond_broadcast(&synth->done);
}

static bool take_sweep_locked(struct synth *synth, struct job *ret_job) REQUIRES(synth->lock)
{
	while (synth->cursor < synth->nr_pids) {
		uint32_t pid = synth->pids[synth->cursor++];

		if (!bit_test(synth->known, pid)) {
			*ret_job = (struct job){ .pid = pid, .sweep = synth->progress.nr_sweeps };
			return true;
		}
		synth->progress.nr_done++;
	}
	check_sweep_locked(synth);
	return false;
}

static bool take_large_locked(struct synth *synth, struct job *ret_job) REQUIRES(synth->lock)
{
	if (synth->large_active || !queue_pop(&synth->large, ret_job))
		return false;
	synth->large_active = true;
	return true;
}

static bool take_job_locked(struct synth *synth, struct synth_worker *self) REQUIRES(synth->lock)
{
	bool first = self == synth->workers;
	bool alone = synth->progress.nr_workers == 1;

	if (!first && take_large_locked(synth, &self->job))
		return true;
	if (queue_pop(&synth->requests, &self->job)) {
		bit_clear(synth->waiting, self->job.pid);
		return true;
	}
	if (take_sweep_locked(synth, &self->job))
		return true;
	return first && alone && !synth->is_alone && take_large_locked(synth, &self->job);
}

/* ---- what came of it ---- */

/* A large process goes to its queue; the sweep and a request may both wait for it. */
static void defer_locked(struct synth *synth, struct job *job) REQUIRES(synth->lock)
{
	struct job_queue *queue = &synth->large;

	job->large = true;
	for (size_t i = queue->first; i < queue->end; i++) {
		struct job *other = &queue->jobs[i];

		if (other->pid != job->pid || (other->sweep && job->sweep) ||
		    (other->ticket && job->ticket))
			continue;
		other->sweep |= job->sweep;   /* one of them is 0, too */
		other->ticket |= job->ticket; /* one of them is 0 */
		return;
	}
	queue_push(queue, job);
	cond_broadcast(&synth->work);
}

static void finish_locked(struct synth *synth, const struct job *job, int result, bool has_maps)
	REQUIRES(synth->lock)
{
	struct synth_progress *progress = &synth->progress;

	if (job->large)
		synth->large_active = false;
	if (result == -ESRCH)
		progress->nr_vanished++;
	else if (result < 0 || !has_maps)
		progress->nr_denied++;
	if (job->ticket) {
		progress->nr_on_demand++;
		cond_broadcast(&synth->done);
	}
	if (!progress->sweep_done)
		bit_set(synth->known, job->pid);
	if (job->sweep == progress->nr_sweeps && !progress->sweep_done) {
		progress->nr_done++;
		check_sweep_locked(synth);
	}
}

static void do_job(struct synth *synth, struct synth_worker *self, struct procfs_reader *reader)
{
	const struct synth_process *process = NULL;
	uint64_t start_ns = clock_now_ns();
	struct job job = self->job; /* only its own worker writes it */
	int ret;

	procfs_reader_set_max_threads(reader, job.large ? 0 : LARGE_THREADS);
	ret = procfs_read_process(reader, job.pid, &process);
	if (ret == 0)
		thread_table_synthesize(synth->table, process);
	else if (ret != -E2BIG)
		thread_table_scan_failed(synth->table, job.pid, start_ns);

	mutex_lock(&synth->lock);
	if (ret == -E2BIG)
		defer_locked(synth, &job);
	else
		finish_locked(synth, &job, ret, process && process->has_maps);
	self->job = (struct job){ 0 };
	mutex_unlock(&synth->lock);
}

/* ---- workers ---- */

static void worker_run(void *arg);

static unsigned int nr_wanted_locked(struct synth *synth) REQUIRES(synth->lock)
{
	size_t nr_left = synth->nr_pids - synth->cursor;
	size_t nr_large = queue_nr(&synth->large);
	size_t nr = synth->nr_fixed;

	if (synth->is_alone)
		return 1;
	if (!nr) {
		nr = 1 + nr_left / PROCESSES_PER_WORKER;
		nr = MIN(nr, (size_t)synth->nr_cpus);
		nr = MAX(nr, nr_large ? 2 : 1);
	}
	/* More workers than processes have nothing to do. */
	nr = MIN(nr, MAX(nr_left + nr_large, nr_large ? 2 : 1));
	return (unsigned int)MIN(nr, (size_t)MAX_WORKERS);
}

static bool wants_workers_locked(struct synth *synth) REQUIRES(synth->lock)
{
	return !synth->stop && synth->progress.nr_workers < nr_wanted_locked(synth);
}

/* A place for one more worker, which counts as running from here on; or NULL. */
static struct synth_worker *reserve_worker(struct synth *synth)
{
	struct synth_worker *place = NULL;

	mutex_lock(&synth->lock);
	for (size_t i = 1; i < MAX_WORKERS && !place && wants_workers_locked(synth); i++) {
		if (!synth->workers[i].runs)
			place = &synth->workers[i];
	}
	if (place) {
		place->runs = true;
		synth->progress.nr_workers++;
		synth->progress.max_workers =
			MAX(synth->progress.max_workers, synth->progress.nr_workers);
	}
	mutex_unlock(&synth->lock);
	return place;
}

/* Called by the first worker only. One that cannot be started is done without. */
static void start_workers(struct synth *synth)
{
	struct synth_worker *place;
	char name[32];

	while ((place = reserve_worker(synth))) {
		worker_join(place->worker); /* who had the place before has ended */
		place->worker = NULL;
		snprintf(name, sizeof(name), "symtop/synth-%d", (int)(place - synth->workers));
		if (worker_start(name, worker_run, place, &place->worker, NULL) == 0)
			continue;
		mutex_lock(&synth->lock);
		place->runs = false;
		synth->progress.nr_workers--;
		/* And not tried again at each process. */
		synth->nr_fixed = synth->progress.nr_workers;
		mutex_unlock(&synth->lock);
	}
}

/*
 * The youngest first: /proc lists the oldest first, and those that are about to end are
 * young, mostly. Old ones will still be there.
 */
static void reverse(uint32_t *pids, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		uint32_t pid = pids[i];

		pids[i] = pids[nr - 1 - i];
		pids[nr - 1 - i] = pid;
	}
}

/* Reads a file, so it is not asked at each process, nor under the lock. */
static unsigned int count_cpus(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return (unsigned int)MAX(nr, 1);
}

/* Called by the first worker only. */
static void list_processes(struct synth *synth)
{
	unsigned int nr_cpus = count_cpus();
	uint32_t *pids = NULL;
	size_t nr = 0;

	mutex_lock(&synth->lock);
	synth->list_wanted = false;
	mutex_unlock(&synth->lock);
	/* A /proc that cannot be listed is an empty sweep; requests will say the same. */
	if (procfs_list_processes(synth->proc, &pids, &nr) < 0)
		nr = 0;
	reverse(pids, nr);
	mutex_lock(&synth->lock);
	synth->nr_cpus = nr_cpus;
	if (synth->list_wanted) { /* a list for a sweep that was given up meanwhile */
		mutex_unlock(&synth->lock);
		free(pids);
		return;
	}
	synth->pids = pids;
	synth->nr_pids = nr;
	synth->progress.nr_total = nr;
	synth->listed = true;
	check_sweep_locked(synth);
	mutex_unlock(&synth->lock);
}

/* After a rescan with fewer workers those that are too many go, whatever there is to do. */
static bool is_surplus_locked(const struct synth *synth, bool first) REQUIRES(synth->lock)
{
	return !first && synth->nr_fixed && synth->progress.nr_workers > synth->nr_fixed;
}

/* Wait for a job into self->job. False: this worker's work is over. */
static bool wait_job(struct synth *synth, struct synth_worker *self)
{
	bool first = self == synth->workers;
	bool found = false;

	mutex_lock(&synth->lock);
	while (!synth->stop) {
		if (first && synth->list_wanted) {
			mutex_unlock(&synth->lock);
			list_processes(synth);
			mutex_lock(&synth->lock);
			continue;
		}
		if (first && wants_workers_locked(synth)) {
			mutex_unlock(&synth->lock);
			start_workers(synth);
			mutex_lock(&synth->lock);
			continue;
		}
		if (is_surplus_locked(synth, first))
			break;
		found = take_job_locked(synth, self);
		if (found || (!first && synth->progress.sweep_done))
			break;
		cond_wait(&synth->work, &synth->lock);
	}
	if (!found) {
		self->runs = false;
		synth->progress.nr_workers--;
		cond_broadcast(&synth->work); /* the first may be alone now */
	}
	mutex_unlock(&synth->lock);
	return found;
}

static void worker_run(void *arg)
{
	struct synth_worker *self = arg;
	struct synth *synth = self->synth;
	struct procfs_reader *reader = procfs_reader_new(synth->proc);

	while (wait_job(synth, self))
		do_job(synth, self, reader);
	procfs_reader_free(reader);
}

/* ---- the public functions ---- */

static void synth_free(struct synth *synth)
{
	cond_release(&synth->work);
	cond_release(&synth->done);
	mutex_release(&synth->lock);
	free(synth->requests.jobs);
	free(synth->large.jobs);
	free(synth->pids);
	free(synth->waiting);
	free(synth->known);
	free(synth->proc);
	free(synth);
}

int synth_start(const struct synth_options *options, struct synth **ret_synth, struct err *err)
{
	struct synth *synth = mem_zalloc(sizeof(*synth));
	int ret;

	mutex_init(&synth->lock);
	cond_init(&synth->work);
	cond_init(&synth->done);
	synth->proc = mem_strdup(options->proc ? options->proc : "/proc");
	synth->table = options->table;
	synth->nr_fixed = options->nr_workers;
	synth->nr_cpus = count_cpus();
	synth->start_ns = clock_now_ns();
	synth->list_wanted = options->sweep;
	synth->waiting = mem_calloc(PID_LIMIT / 64, sizeof(*synth->waiting));
	synth->known = mem_calloc(PID_LIMIT / 64, sizeof(*synth->known));
	synth->is_alone = options->starts_alone;
	synth->progress.sweep_done = !options->sweep;
	synth->progress.nr_sweeps = options->sweep;
	for (size_t i = 0; i < MAX_WORKERS; i++)
		synth->workers[i].synth = synth;
	synth->workers[0].runs = true;
	synth->progress.nr_workers = 1;
	synth->progress.max_workers = 1;
	ret = worker_start("symtop/synth-0", worker_run, &synth->workers[0],
			   &synth->workers[0].worker, err);
	if (ret < 0) {
		synth_free(synth);
		return ret;
	}
	*ret_synth = synth;
	return 0;
}

void synth_stop(struct synth *synth)
{
	if (!synth)
		return;
	mutex_lock(&synth->lock);
	synth->stop = true;
	cond_broadcast(&synth->work);
	cond_broadcast(&synth->done);
	mutex_unlock(&synth->lock);
	/* The first worker first: once it has ended, nobody starts others. */
	for (size_t i = 0; i < MAX_WORKERS; i++)
		worker_join(synth->workers[i].worker);
	synth_free(synth);
}

void synth_request(struct synth *synth, uint32_t pid)
{
	struct job job = { .pid = pid };

	if (pid >= PID_LIMIT) { /* no such process in any kernel */
		thread_table_scan_failed(synth->table, pid, clock_now_ns());
		return;
	}
	mutex_lock(&synth->lock);
	if (!bit_test(synth->waiting, pid)) {
		bit_set(synth->waiting, pid);
		job.ticket = ++synth->last_ticket;
		queue_push(&synth->requests, &job);
		/* All: the one woken might take a large process instead. */
		cond_broadcast(&synth->work);
	}
	mutex_unlock(&synth->lock);
}

/* Nobody waits any more for what the sweeps so far have in the queue of large ones. */
static void give_up_sweep_locked(struct synth *synth) REQUIRES(synth->lock)
{
	struct job_queue *large = &synth->large;
	size_t nr = 0;

	for (size_t i = large->first; i < large->end; i++) {
		struct job job = large->jobs[i];

		job.sweep = 0;
		if (job.ticket)
			large->jobs[large->first + nr++] = job;
	}
	large->end = large->first + nr;
	forget_pids_locked(synth);
}

void synth_use_all_workers(struct synth *synth)
{
	mutex_lock(&synth->lock);
	if (synth->is_alone)
		cond_broadcast(&synth->work);
	synth->is_alone = false;
	mutex_unlock(&synth->lock);
}

void synth_rescan(struct synth *synth, unsigned int nr_workers)
{
	struct synth_progress *progress = &synth->progress;

	mutex_lock(&synth->lock);
	give_up_sweep_locked(synth);
	memset(synth->known, 0, PID_LIMIT / 8);
	*progress = (struct synth_progress){
		.nr_sweeps = progress->nr_sweeps + 1,
		.nr_on_demand = progress->nr_on_demand,
		.nr_workers = progress->nr_workers,
		.max_workers = progress->nr_workers,
	};
	synth->nr_fixed = nr_workers;
	synth->start_ns = clock_now_ns();
	synth->listed = false;
	synth->list_wanted = true;
	cond_broadcast(&synth->work);
	mutex_unlock(&synth->lock);
}

/* How many requests up to @ticket are not done. */
static uint64_t nr_waiting_locked(struct synth *synth, uint64_t ticket) REQUIRES(synth->lock)
{
	const struct job_queue *requests = &synth->requests;
	const struct job_queue *large = &synth->large;
	uint64_t nr = 0;

	/* Tickets in the queue are in order and without holes. */
	if (queue_nr(requests) && requests->jobs[requests->first].ticket <= ticket)
		nr = MIN(ticket - requests->jobs[requests->first].ticket + 1, queue_nr(requests));
	for (size_t i = large->first; i < large->end; i++)
		nr += large->jobs[i].ticket && large->jobs[i].ticket <= ticket;
	for (size_t i = 0; i < MAX_WORKERS; i++) {
		const struct job *job = &synth->workers[i].job;

		nr += job->ticket && job->ticket <= ticket;
	}
	return nr;
}

bool synth_wait_requests(struct synth *synth, uint64_t deadline_ns)
{
	bool done, in_time = true;
	uint64_t ticket;

	mutex_lock(&synth->lock);
	ticket = synth->last_ticket;
	while (!(done = !nr_waiting_locked(synth, ticket)) && in_time && !synth->stop)
		in_time = cond_wait_until(&synth->done, &synth->lock, deadline_ns);
	mutex_unlock(&synth->lock);
	return done;
}

bool synth_wait_sweep(struct synth *synth, uint64_t deadline_ns)
{
	bool done, in_time = true;

	mutex_lock(&synth->lock);
	while (!(done = synth->progress.sweep_done) && in_time && !synth->stop)
		in_time = cond_wait_until(&synth->done, &synth->lock, deadline_ns);
	mutex_unlock(&synth->lock);
	return done;
}

void synth_get_progress(struct synth *synth, struct synth_progress *ret_progress)
{
	mutex_lock(&synth->lock);
	*ret_progress = synth->progress;
	ret_progress->nr_waiting = nr_waiting_locked(synth, synth->last_ticket);
	if (!ret_progress->sweep_done)
		ret_progress->sweep_ns = clock_now_ns() - synth->start_ns;
	mutex_unlock(&synth->lock);
}
