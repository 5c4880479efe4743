/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who goes to which CPU, to open, map, enable, disable or close its events.
 *
 * CPU-major: all that is to be done for a CPU is done before the next one. The kernel
 * interrupts the CPU of an event for each one that is enabled, disabled or closed, and
 * waits, unless the caller runs there itself. So with many events workers move to each
 * CPU first. Only workers move, never the caller: a pass of one worker that moves starts
 * one too.
 *
 * The CPUs are shared out in slices of equal work, neighbours of a node together. What
 * workers write is their own until they have ended. A pass fails with the error of the
 * lowest CPU that had one, whichever worker came first: after an error CPUs below it
 * are still visited, those above are left out.
 *
 * The process's table of descriptors is made large enough before: with several
 * threads, each of its doublings waits for all CPUs (synchronize_rcu() in
 * expand_fdtable(); 30 to 40 ms on the way to 1,400 descriptors).
 */
#include "config.h"

#include "core/event_set_private.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/worker.h"
#include "core/event_kernel.h"

/*
 * The rule: what a pass costs (event_setup_plan()).
 *
 * Measured on 2 CPUs of a virtual machine with other work to do, Linux 6.18, at nice -20,
 * in microseconds (median of 31 runs, of 15 with 700 events), events cpu-clock, faults,
 * context-switches and migrations in turn, rings of 16 pages. `--setup-threads` forces
 * the number of workers, `--latency` shows the first three columns:
 *
 *	symtop -b -n 1 -d 0.1 --latency --setup-threads N -e cpu-clock -e faults ...
 *
 *	events                           open    map  enable  disable   close     all
 *	    10  the caller, no moves      204     85     179      100     299     950
 *	        1 worker that moves       409    208     193      109     283    1302
 *	        2 workers that move       363    221     150      110     289    1258
 *	    32  the caller, no moves      384    111      68      373     587    1636
 *	        1 worker that moves       599    253     159      165     368    1670
 *	        2 workers that move       490    250     169      182     384    2865
 *	   100  the caller, no moves     1082    196     138     1200    1546    4325
 *	        1 worker that moves      1292    397     251      330     684    5823
 *	        2 workers that move      1266    365     270      318     685    3569
 *	   700  the caller, no moves     7564   1029    2312     8888   10746   31324
 *	        1 worker that moves     10120   1376    2564     1820    3541   25749
 *	        2 workers that move      7763   4414    2447     1675    4936   22921
 *
 * With 1 event nothing pays but the caller (all: 319 without moves, 712 at best with).
 * Event-major and CPU-major order without moves cost the same here: it is being there
 * that saves. What the kernel sends to the other CPU, for each event (CAL in
 * /proc/interrupts): 0 to open, redirect and map it, 1 to enable, disable and close it
 * each; none from the CPU itself. Older kernels send 1 to open it as well; 6.1 does not.
 * On 64 emulated CPUs 100 events took 14,100 in all without moves, 1,500 with.
 *
 * Without starters (event_open.c) enabling 700 events took 120 to 300 ms in any order,
 * and 9.2, 7.4, 2.1, 1.6 or 1.0 ms with starters of 16, 32, 128, 256 or 700 events;
 * opening then took 5.7, 5.6, 10, 15 or 29 ms (all at best).
 *
 * So a descriptor costs about 5 us a pass, an interrupt of another CPU 8 us and more
 * (up to 40 when it is busy), a move 20 to 50 us, a worker 100 us. The move is rated
 * higher: on a CPU that is busy a worker waits for its turn, which at a load of 8 made
 * 3 ms of a pass of 0.2 ms. Where there are no interrupts to save, workers move when
 * that is at most a tenth of the work, for old kernels and to have memory of the node at
 * hand. A slice is worth a worker when it is 20 times what the worker costs. More than
 * two workers at a time could not be measured: 64 CPUs emulated by two are opened by 4
 * workers as fast as by one, and by 8 and 16 half as fast and slower, since they wait
 * for each other's locks (the table of descriptors, software events). With CPUs of
 * their own they should wait less, so 8 is a guess.
 */
#define FD_NS UINT64_C(5000)
#define IPI_NS UINT64_C(8000)
#define MOVE_NS UINT64_C(100000)
#define START_NS UINT64_C(100000)
#define MIN_SLICE_NS (20 * START_NS)
#define MAX_WORKERS 8

struct pass {
	struct event_set *set;
	const struct event_pass *what;
	struct event_cpu **cpus; /* by node and number */
	size_t nr_cpus;
	_Atomic uint32_t failed_cpu; /* the lowest; relaxed: to save work, results are per worker */
};

struct setup_worker {
	struct pass *pass;
	size_t first, end; /* of pass->cpus */
	bool moves;
	struct worker *worker;
	struct event_findings found;
	uint32_t failed_cpu; /* UINT32_MAX: none */
	int ret;
	struct err err;
};

struct event_setup_plan event_setup_plan(const struct event_set_options *options,
					 const struct event_setup_load *load)
{
	uint64_t nr_cpus = MAX(load->nr_cpus, 1);
	uint64_t nr_remote = load->nr_fds - load->nr_fds / nr_cpus;
	uint64_t nr_workers = options->nr_setup_workers;
	struct event_setup_plan plan;
	uint64_t cost_ns;
	uint64_t saved_ns;

	if (!nr_workers)
		nr_workers = MIN(load->nr_fds * FD_NS / MIN_SLICE_NS,
				 MIN(load->nr_own_cpus, MAX_WORKERS));
	plan.nr_workers = (unsigned int)MAX(MIN(nr_workers, nr_cpus), 1);
	cost_ns = nr_cpus * MOVE_NS + (plan.nr_workers == 1 ? START_NS : 0);
	saved_ns = load->interrupts ? nr_remote * IPI_NS : nr_remote * FD_NS / 10;
	/* Where a task's events are is where the task runs, which nobody knows. */
	plan.moves = !load->by_task && saved_ns > cost_ns;
	if (options->setup_moves != SETUP_MOVES_AUTO)
		plan.moves = options->setup_moves == SETUP_MOVES_ALWAYS;
	return plan;
}

void event_setup_reserve_fds(const struct event_set *set)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	int high;

	if (fd < 0)
		return; /* opening events will say why */
	/* Past the limit: as large as the table was is fine too. */
	high = fcntl(fd, F_DUPFD_CLOEXEC, (int)MIN(event_mode_count_fds(set), (size_t)INT32_MAX));
	if (high >= 0)
		close(high);
	close(fd);
}

bool event_setup_is_open(const struct event_set *set, const struct event_cpu *cpu)
{
	(void)set;
	return cpu->nr_fds > 0;
}

void event_findings_init(struct event_findings *found, const struct event_set *set)
{
	*found = (struct event_findings){ .max_rate = set->max_rate };
}

void event_findings_merge(struct event_set *set, const struct event_findings *found)
{
	for (size_t i = 0; i < ARRAY_SIZE(found->skipped_cpus.bits); i++)
		set->skipped_cpus.bits[i] |= found->skipped_cpus.bits[i];
	event_settle_limit_rate(set, found->max_rate);
	if (found->tasks_refused)
		event_set_add_note(set, "Some of your processes may not be watched (they have or "
					"had other rights) and are left out.");
}

static int compare_places(const void *left, const void *right)
{
	const struct cpu_rings *a = &(*(struct event_cpu *const *)left)->rings;
	const struct cpu_rings *b = &(*(struct event_cpu *const *)right)->rings;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void note_failure(struct setup_worker *worker, uint32_t cpu, int code, const struct err *err)
{
	uint32_t lowest = atomic_load_explicit(&worker->pass->failed_cpu, memory_order_relaxed);

	worker->ret = code;
	worker->err = *err;
	worker->failed_cpu = cpu;
	while (cpu < lowest &&
	       !atomic_compare_exchange_weak_explicit(&worker->pass->failed_cpu, &lowest, cpu,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static void visit_slice(void *arg)
{
	struct setup_worker *worker = arg;
	struct pass *pass = worker->pass;
	struct err err;

	for (size_t i = worker->first; i < worker->end; i++) {
		uint32_t cpu = pass->cpus[i]->rings.cpu;
		int ret;

		if (cpu > atomic_load_explicit(&pass->failed_cpu, memory_order_relaxed))
			continue;
		/* Refused (by a cpuset cgroup): it goes from here as well, only slower. */
		if (worker->moves)
			(void)!event_kernel->move(cpu);
		ret = pass->what->visit(pass->set, pass->cpus[i], &worker->found, &err);
		if (ret)
			note_failure(worker, cpu, ret, &err);
	}
}

/* Slices of equal work: a CPU goes where the middle of its work falls, as a share of all. */
static void share_out(struct pass *pass, struct setup_worker *workers, size_t nr_workers,
		      size_t nr_fds)
{
	size_t nr_before = 0;

	for (size_t i = 0; i < pass->nr_cpus; i++) {
		size_t nr = event_mode_count_cpu_fds(pass->set, pass->cpus[i]->rings.cpu);
		size_t place = (nr_before + nr / 2) * nr_workers / nr_fds;

		if (workers[place].end == 0)
			workers[place].first = i;
		workers[place].end = i + 1;
		nr_before += nr;
	}
}

static void run_workers(struct setup_worker *workers, size_t nr_workers)
{
	for (size_t i = 0; i < nr_workers; i++) {
		if (workers[i].first == workers[i].end)
			continue;
		if (worker_start("symtop/setup", visit_slice, &workers[i], &workers[i].worker,
				 NULL) == 0)
			continue;
		/* No thread to be had: then it is ours to do, from where we are. */
		workers[i].moves = false;
		visit_slice(&workers[i]);
	}
	for (size_t i = 0; i < nr_workers; i++)
		worker_join(workers[i].worker);
}

/* Returns the error of the lowest CPU, 0 without one. */
static int merge(struct event_set *set, const struct setup_worker *workers, size_t nr_workers,
		 struct event_findings *ret_found, struct err *err)
{
	const struct setup_worker *failed = NULL;

	for (size_t i = 0; i < nr_workers; i++) {
		event_findings_merge(set, &workers[i].found);
		if (ret_found) {
			ret_found->nr_opened += workers[i].found.nr_opened;
			ret_found->nr_closed += workers[i].found.nr_closed;
		}
		if (workers[i].ret && (!failed || workers[i].failed_cpu < failed->failed_cpu))
			failed = &workers[i];
	}
	if (!failed)
		return 0;
	if (err)
		*err = failed->err;
	return failed->ret;
}

/* The CPUs to visit into @pass; returns the number of descriptors on them. */
static size_t collect_cpus(struct pass *pass, struct event_set *set)
{
	size_t nr_fds = 0;

	pass->cpus = mem_calloc(MAX(set->nr_cpus, 1), sizeof(struct event_cpu *));
	for (size_t i = 0; i < set->nr_cpus; i++) {
		if (!pass->what->wants(set, set->cpus[i]))
			continue;
		pass->cpus[pass->nr_cpus++] = set->cpus[i];
		nr_fds += event_mode_count_cpu_fds(set, set->cpus[i]->rings.cpu);
	}
	if (pass->nr_cpus)
		qsort(pass->cpus, pass->nr_cpus, sizeof(struct event_cpu *), compare_places);
	return nr_fds;
}

int event_setup_run(struct event_set *set, const struct event_pass *what,
		    struct event_findings *ret_found, struct err *err)
{
	struct pass pass = { .set = set, .what = what, .failed_cpu = UINT32_MAX };
	struct event_setup_load load = { .by_task = set->by_task, .nr_own_cpus = set->nr_own_cpus };
	struct setup_worker *workers;
	struct event_setup_plan plan;
	int ret;

	load.nr_fds = collect_cpus(&pass, set);
	load.nr_cpus = pass.nr_cpus;
	load.interrupts = what->interrupts;
	plan = event_setup_plan(&set->options, &load);
	workers = mem_calloc(plan.nr_workers, sizeof(*workers));
	for (size_t i = 0; i < plan.nr_workers; i++) {
		workers[i].pass = &pass;
		workers[i].moves = plan.moves;
		event_findings_init(&workers[i].found, set);
	}
	share_out(&pass, workers, plan.nr_workers, load.nr_fds);
	if (plan.nr_workers > 1 || plan.moves)
		run_workers(workers, plan.nr_workers);
	else
		visit_slice(&workers[0]);
	ret = merge(set, workers, plan.nr_workers, ret_found, err);
	set->plan = plan;
	free(workers);
	free(pass.cpus);
	return ret;
}
