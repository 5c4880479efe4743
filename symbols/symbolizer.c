/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two queues of dsos, first come first served: files to hold and symbols to load.
 * Holding is a matter of microseconds and cannot wait, since the file may be gone the
 * next moment; loading may take a second. So one worker only holds, and the others
 * load. A dso is in each queue or in the hands of its worker once at most, so that its
 * symbols are one worker's at any time; its held file is whose who took it out.
 *
 * Queued and running requests have a reference. Look-ups take no lock unless they ask
 * for something: state before base, as these were stored the other way round.
 *
 * No other lock is taken while symbolizer.lock is held.
 */
#include "config.h"

#include "symbols/symbolizer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/mutex.h"
#include "core/base/worker.h"
#include "symbols/dso_file.h"
#include "symbols/dso_internal.h"
#include "symbols/overlay.h"
#include "symbols/symbol_loader.h"

#define MAX_LOADERS 64

/* A quarter of an unlimited number of files is still a number. */
#define MAX_HELD_FILES 65536

struct queue {
	struct dso *first;
	struct dso **end; /* where the next one is linked in */
	unsigned int nr;
	struct cond more;
};

struct symbolizer {
	struct symbolizer_options options;
	struct symbol_accounts *accounts;

	struct mutex lock;
	struct queue queues[NR_REQUESTS] GUARDED_BY(lock);
	uint64_t nr_waiting GUARDED_BY(lock); /* queued or running */
	struct cond idle;
	bool started GUARDED_BY(lock);
	bool stop GUARDED_BY(lock);

	/* Of who set started, then of symbolizer_free(). The first one holds. */
	struct worker *workers[1 + MAX_LOADERS];
};

static unsigned int default_held_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 64;
	return (unsigned int)MIN(MAX(limit.rlim_cur / 4, 1), MAX_HELD_FILES);
}

static unsigned int default_workers(void)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return nr_cpus < 1 ? 1 : (unsigned int)MIN(nr_cpus, 4);
}

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
	struct symbolizer *symbolizer = mem_zalloc(sizeof(*symbolizer));
	struct symbolizer_options *own = &symbolizer->options;

	*own = *options;
	if (!own->proc)
		own->proc = "/proc";
	if (!own->nr_workers)
		own->nr_workers = default_workers();
	own->nr_workers = MIN(own->nr_workers, MAX_LOADERS);
	if (!own->nr_held_files)
		own->nr_held_files = default_held_files();
	symbolizer->accounts = symbol_accounts_new();
	mutex_init(&symbolizer->lock);
	cond_init(&symbolizer->idle);
	for (int kind = 0; kind < NR_REQUESTS; kind++) {
		symbolizer->queues[kind].end = &symbolizer->queues[kind].first;
		cond_init(&symbolizer->queues[kind].more);
	}
	return symbolizer;
}

/* The first in the queue, taken out; or NULL. */
static struct dso *take_locked(struct symbolizer *symbolizer, enum request kind)
	REQUIRES(symbolizer->lock)
{
	struct queue *queue = &symbolizer->queues[kind];
	struct dso *dso = queue->first;

	if (!dso)
		return NULL;
	queue->first = dso->symbols.next[kind];
	dso->symbols.next[kind] = NULL;
	if (!queue->first)
		queue->end = &queue->first;
	queue->nr--;
	return dso;
}

static void drop_queue(struct symbolizer *symbolizer, enum request kind)
{
	struct dso *dso;

	do {
		mutex_lock(&symbolizer->lock);
		dso = take_locked(symbolizer, kind);
		if (dso)
			atomic_store_explicit(&dso->symbols.wanted, 0, memory_order_relaxed);
		mutex_unlock(&symbolizer->lock);
		dso_put(dso);
	} while (dso);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	mutex_lock(&symbolizer->lock);
	symbolizer->stop = true;
	for (int kind = 0; kind < NR_REQUESTS; kind++)
		cond_broadcast(&symbolizer->queues[kind].more);
	mutex_unlock(&symbolizer->lock);
	for (size_t i = 0; i < ARRAY_SIZE(symbolizer->workers); i++)
		worker_join(symbolizer->workers[i]);
	for (int kind = 0; kind < NR_REQUESTS; kind++) {
		drop_queue(symbolizer, kind);
		cond_release(&symbolizer->queues[kind].more);
	}
	cond_release(&symbolizer->idle);
	mutex_release(&symbolizer->lock);
	symbol_accounts_put(symbolizer->accounts);
	free(symbolizer);
}

static void hold_file(struct symbolizer *symbolizer, struct dso *dso)
{
	int fd;

	if (atomic_load(&dso->symbols.state) == SYMBOLS_LOADED)
		return;
	fd = dso_steal_file(dso);
	if (fd < 0)
		fd = dso_file_open(dso, symbolizer->options.proc);
	if (fd >= 0)
		dso_keep_file(dso, fd, symbolizer->options.nr_held_files);
}

static void serve(struct symbolizer *symbolizer, enum request kind, struct dso *dso)
{
	const struct symbolizer_options *options = &symbolizer->options;

	if (kind == REQUEST_HOLD)
		hold_file(symbolizer, dso);
	else if (symbol_loader_load(dso, options->proc, options->origin) && options->on_loaded)
		options->on_loaded(options->arg);
}

/* Serve the queue of @kind until the end. */
static void run_worker(struct symbolizer *symbolizer, enum request kind)
{
	struct queue *queue = &symbolizer->queues[kind];

	mutex_lock(&symbolizer->lock);
	while (!symbolizer->stop) {
		struct dso *dso = take_locked(symbolizer, kind);

		if (!dso) {
			cond_wait(&queue->more, &symbolizer->lock);
			continue;
		}
		mutex_unlock(&symbolizer->lock);
		serve(symbolizer, kind, dso);
		atomic_fetch_and_explicit(&dso->symbols.wanted, ~(1u << kind),
					  memory_order_release);
		dso_put(dso); /* maybe the last one */
		mutex_lock(&symbolizer->lock);
		if (!--symbolizer->nr_waiting)
			cond_broadcast(&symbolizer->idle);
	}
	mutex_unlock(&symbolizer->lock);
}

static void run_holder(void *arg)
{
	run_worker(arg, REQUEST_HOLD);
}

static void run_loader(void *arg)
{
	run_worker(arg, REQUEST_LOAD);
}

/*
 * Start those that do not run yet. One thread at a time does this. When the system
 * refuses one, fewer serve, and the next request tries again.
 */
static void start_workers(struct symbolizer *symbolizer)
{
	bool complete = true;

	for (unsigned int i = 0; i <= symbolizer->options.nr_workers; i++) {
		if (symbolizer->workers[i])
			continue;
		if (worker_start(i ? "symtop/symbol" : "symtop/hold", i ? run_loader : run_holder,
				 symbolizer, &symbolizer->workers[i], NULL))
			complete = false;
	}
	mutex_lock(&symbolizer->lock);
	symbolizer->started = complete;
	mutex_unlock(&symbolizer->lock);
}

static void request(struct symbolizer *symbolizer, enum request kind, struct dso *dso)
{
	struct queue *queue = &symbolizer->queues[kind];
	uint32_t bit = 1u << kind;
	bool start = false;

	if (atomic_load_explicit(&dso->symbols.wanted, memory_order_relaxed) & bit)
		return;
	mutex_lock(&symbolizer->lock);
	symbol_loader_attach(dso, symbolizer->accounts);
	if (!(atomic_fetch_or_explicit(&dso->symbols.wanted, bit, memory_order_acquire) & bit)) {
		*queue->end = dso_get(dso);
		queue->end = &dso->symbols.next[kind];
		queue->nr++;
		symbolizer->nr_waiting++;
		cond_signal(&queue->more);
		start = !symbolizer->started;
		symbolizer->started = true;
	}
	mutex_unlock(&symbolizer->lock);
	if (start)
		start_workers(symbolizer);
}

void symbolizer_preload_kernel(struct symbolizer *symbolizer, struct dso *kernel)
{
	if (atomic_load(&kernel->symbols.state) == SYMBOLS_NEW)
		request(symbolizer, REQUEST_LOAD, kernel);
}

void symbolizer_hold(struct symbolizer *symbolizer, struct dso *dso)
{
	bool full;

	if (symbolizer->options.origin || dso_kind(dso) != DSO_FILE ||
	    atomic_load(&dso->symbols.state) == SYMBOLS_LOADED)
		return;
	/* More than can be held: those in front would be closed again. */
	mutex_lock(&symbolizer->lock);
	full = symbolizer->queues[REQUEST_HOLD].nr >= symbolizer->options.nr_held_files;
	mutex_unlock(&symbolizer->lock);
	if (!full)
		request(symbolizer, REQUEST_HOLD, dso);
}

static const struct symbol *find_symbol(struct dso_symbols *symbols, uint64_t offset)
{
	struct overlay *overlay = atomic_load_explicit(&symbols->overlay, memory_order_acquire);
	struct symbol_table *base;
	const struct symbol *symbol;

	if (overlay && overlay_find(overlay, offset, &symbol))
		return symbol;
	base = atomic_load_explicit(&symbols->base, memory_order_acquire);
	return base ? symbol_table_find(base, offset) : NULL;
}

static bool is_due(const struct dso_symbols *symbols)
{
	uint64_t retry_ns = atomic_load_explicit(&symbols->retry_ns, memory_order_relaxed);

	return retry_ns != UINT64_MAX && clock_now_ns() >= retry_ns;
}

enum lookup symbolizer_lookup(struct symbolizer *symbolizer, struct dso *dso, uint64_t offset,
			      const struct symbol **ret_symbol)
{
	struct dso_symbols *symbols = &dso->symbols;
	enum dso_kind kind = dso_kind(dso);
	const struct symbol *symbol;
	uint32_t state;

	if (kind == DSO_UNKNOWN)
		return LOOKUP_NONE;
	state = atomic_load_explicit(&symbols->state, memory_order_acquire);
	symbol = find_symbol(symbols, offset);
	/* A name found in generated code may have been replaced since. */
	if (state == SYMBOLS_NEW || ((!symbol || kind == DSO_GENERATED) && is_due(symbols)))
		request(symbolizer, REQUEST_LOAD, dso);
	if (symbol) {
		*ret_symbol = symbol;
		return LOOKUP_FOUND;
	}
	return state == SYMBOLS_NEW ? LOOKUP_PENDING : LOOKUP_NONE;
}

uint32_t symbolizer_generation(const struct dso *dso)
{
	return atomic_load_explicit(&dso->symbols.generation, memory_order_acquire);
}

void symbolizer_ksymbol(struct symbolizer *symbolizer, struct dso *kernel, uint64_t start,
			uint64_t size, const char *name, bool unregistered)
{
	/* What went keeps its name for old samples until something new is there. */
	if (unregistered)
		return;
	mutex_lock(&symbolizer->lock);
	symbol_loader_attach(kernel, symbolizer->accounts);
	mutex_unlock(&symbolizer->lock);
	symbol_loader_add_kernel_code(kernel, start, size, name);
}

void symbolizer_get_stats(struct symbolizer *symbolizer, struct symbolizer_stats *ret_stats)
{
	struct symbol_accounts *accounts = symbolizer->accounts;

	*ret_stats = (struct symbolizer_stats){
		.nr_loaded = atomic_load_explicit(&accounts->nr_loaded, memory_order_relaxed),
		.nr_failed = atomic_load_explicit(&accounts->nr_failed, memory_order_relaxed),
		.symbol_bytes = atomic_load_explicit(&accounts->symbol_bytes, memory_order_relaxed),
		.kernel_hidden =
			atomic_load_explicit(&accounts->kernel_hidden, memory_order_relaxed),
		.nr_differing = atomic_load_explicit(&accounts->nr_differing, memory_order_relaxed),
		.nr_unverified =
			atomic_load_explicit(&accounts->nr_unverified, memory_order_relaxed),
		.kernel_differs =
			atomic_load_explicit(&accounts->kernel_differs, memory_order_relaxed),
	};
	mutex_lock(&symbolizer->lock);
	ret_stats->nr_waiting = symbolizer->nr_waiting;
	mutex_unlock(&symbolizer->lock);
}

void symbolizer_build_ids(struct symbolizer *symbolizer,
			  void (*each)(void *arg, const char *path, const unsigned char *id,
				       size_t size),
			  void *arg)
{
	build_ids_walk(&symbolizer->accounts->build_ids, each, arg);
}

bool symbolizer_wait_idle(struct symbolizer *symbolizer, uint64_t timeout_ns)
{
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;
	bool in_time = true;
	bool idle;

	mutex_lock(&symbolizer->lock);
	while (symbolizer->nr_waiting && in_time)
		in_time = cond_wait_until(&symbolizer->idle, &symbolizer->lock, deadline_ns);
	idle = !symbolizer->nr_waiting;
	mutex_unlock(&symbolizer->lock);
	return idle;
}
