/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * (dso, offset) -> symbol, without ever waiting for a file.
 *
 * A look-up answers from what is loaded and otherwise asks a worker to load the
 * dso, hottest first by arrival; the answer is there at some later look-up.
 * Workers start with the first request: min(4, CPUs) that load, and one that holds
 * files. Files are opened O_NONBLOCK|O_NOCTTY|O_CLOEXEC, must be regular and must be
 * the very file that is mapped (device and inode are compared), and are looked for at
 * /proc/PID/root/PATH, /proc/PID/exe, PATH, then /proc/PID/map_files.
 *
 * Threads: any worker may call anything here.
 */
#ifndef SYMTOP_SYMBOLS_SYMBOLIZER_H
#define SYMTOP_SYMBOLS_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"
#include "symbols/dso.h"
#include "symbols/symbol.h"

struct symbolizer;

/*
 * For a recording, which may be of another machine and of another time: no process is
 * asked for its files, and what is found at a path must be the file that was mapped. Called
 * by the symbolizer's workers.
 */
struct symbol_origin {
	void *arg;
	uint64_t recorded_ns; /* CLOCK_REALTIME when it ended */
	/* The build id of @dso (a file) and its size; 0: it is not known. */
	size_t (*build_id)(void *arg, const struct dso *dso, unsigned char ret_id[static 20]);
	/* Is the kernel that runs here the one that ran there, since the same boot? */
	bool (*has_our_kernel)(void *arg);
};

struct symbolizer_options {
	const char *proc;	    /* procfs; NULL: "/proc". Borrowed for the symbolizer's life */
	unsigned int nr_workers;    /* that load; 0: min(4, CPUs) */
	unsigned int nr_held_files; /* files kept open at most; 0: a quarter of RLIMIT_NOFILE */
	const struct symbol_origin *origin; /* NULL: this machine, now. Borrowed likewise */
	/* Called by a worker after something new can be found; must not block. May be NULL. */
	void (*on_loaded)(void *arg);
	void *arg;
};

struct symbolizer_stats {
	uint64_t nr_loaded;    /* dsos whose symbols are there */
	uint64_t nr_failed;    /* dsos that could not be read; a JIT without a map file is none */
	uint64_t nr_waiting;   /* requests not yet done */
	uint64_t symbol_bytes; /* memory of the symbol tables */
	bool kernel_hidden;    /* kallsyms shows zeros: kptr_restrict */
	/* Of a recording: files that are not those recorded, so not used; and used by path alone.
	 */
	uint64_t nr_differing, nr_unverified;
	bool kernel_differs; /* ... and the kernel is another one */
};

enum lookup {
	LOOKUP_FOUND,	/* *ret_symbol is set */
	LOOKUP_NONE,	/* loaded, and nothing has this offset (or it cannot be loaded) */
	LOOKUP_PENDING, /* ask again later */
};

/* Starts no worker yet. @options is copied. Never NULL. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);

/*
 * Ends the workers. NULL is fine. References to dsos may be put before or after, but
 * the dsos' table must still exist: requests refer to dsos.
 */
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Begin loading the kernel's symbols now, off every path (done once at start).
 */
void symbolizer_preload_kernel(struct symbolizer *symbolizer, struct dso *kernel);

/*
 * A dso was just seen to be mapped: open its file soon and hold it, so that a
 * deleted or replaced file still gives names. Cheap, never blocks, may be dropped
 * when too many wait (counted in nr_failed only if it then cannot be loaded).
 */
void symbolizer_hold(struct symbolizer *symbolizer, struct dso *dso);

/*
 * Look @offset of @dso up. On LOOKUP_FOUND *@ret_symbol is borrowed and lives as
 * long as @dso. Asking costs tens of ns when loaded.
 *
 * Asking is also what makes a worker look again, at a limited rate: for a JIT's map
 * that was absent or has grown, for kernel modules, for a file that could not be
 * opened. Who keeps a LOOKUP_NONE of such a dso asks again every few seconds.
 */
enum lookup symbolizer_lookup(struct symbolizer *symbolizer, struct dso *dso, uint64_t offset,
			      const struct symbol **ret_symbol);

/*
 * Counts up whenever an earlier LOOKUP_NONE or LOOKUP_PENDING answer for @dso may
 * have changed (loaded, map file grown). Read it before the look-up it is for.
 */
uint32_t symbolizer_generation(const struct dso *dso);

/*
 * The kernel said that code came or went (PERF_RECORD_KSYMBOL): a BPF program or
 * trampoline named @name now covers [@start, @start + @size) or, with
 * @unregistered, no longer does. Old samples keep the old name as long as nothing
 * new is registered there. Never blocks.
 */
void symbolizer_ksymbol(struct symbolizer *symbolizer, struct dso *kernel, uint64_t start,
			uint64_t size, const char *name, bool unregistered);

void symbolizer_get_stats(struct symbolizer *symbolizer, struct symbolizer_stats *ret_stats);

/*
 * The build ids of the files whose symbols were loaded so far, their dsos may be gone.
 * @path is the dso's. A path that stood for several files is left out, since it does not
 * tell which. @each is called without a lock; all is borrowed during the call.
 */
void symbolizer_build_ids(struct symbolizer *symbolizer,
			  void (*each)(void *arg, const char *path, const unsigned char *id,
				       size_t size),
			  void *arg);

/* Wait until nothing is asked for any more or @timeout_ns passed; true when idle. For batch and
 * tests. */
bool symbolizer_wait_idle(struct symbolizer *symbolizer, uint64_t timeout_ns);

#endif /* SYMTOP_SYMBOLS_SYMBOLIZER_H */
