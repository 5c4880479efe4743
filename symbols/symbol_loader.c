/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read first becomes the base table, which look-ups search without a lock and
 * which never changes: the whole truth for files and the vdso. Generated and kernel
 * code grow; what comes later goes into the overlay (overlay.h).
 *
 * When to look again
 *   file      never after success or when it is no ELF file; else after 1 s, doubling to
 *             a minute: its process may have been gone, or we out of descriptors
 *   kernel    modules come without a record, so when an address is not covered: after
 *             10 s, doubling to ten minutes while nothing new turns up
 *   JIT       with a map file every second, or less often (10 s) so that it takes 5 % of a
 *             worker's time; without, after 1 s, doubling to 10 s
 * and only when somebody asks.
 */
#include "config.h"

#include "symbols/symbol_loader.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "symbols/dso_file.h"
#include "symbols/dso_internal.h"
#include "symbols/elf_symbols.h"
#include "symbols/kallsyms.h"
#include "symbols/overlay.h"
#include "symbols/perf_map.h"
#include "symbols/symbol.h"
#include "symbols/symbolizer.h"

/* Names are dropped past this; a machine that loads code for ever must not eat us. */
#define MAX_GENERATED_BYTES (128 * 1024 * 1024)
#define MAX_KERNEL_BYTES (128 * 1024 * 1024)

#define NEVER UINT64_MAX

struct symbol_accounts *symbol_accounts_new(void)
{
	struct symbol_accounts *accounts = mem_zalloc(sizeof(*accounts));

	atomic_init(&accounts->nr_refs, 1);
	build_ids_init(&accounts->build_ids);
	return accounts;
}

void symbol_accounts_put(struct symbol_accounts *accounts)
{
	if (atomic_fetch_sub_explicit(&accounts->nr_refs, 1, memory_order_acq_rel) != 1)
		return;
	build_ids_release(&accounts->build_ids);
	free(accounts);
}

static void release_symbols(struct dso *dso)
{
	struct dso_symbols *symbols = &dso->symbols;
	struct symbol_accounts *accounts = symbols->accounts;

	symbol_table_free(atomic_load(&symbols->base));
	overlay_free(atomic_load(&symbols->overlay));
	perf_map_free(symbols->map);
	atomic_fetch_sub_explicit(&accounts->symbol_bytes, atomic_load(&symbols->bytes),
				  memory_order_relaxed);
	if (symbols->counted_loaded)
		atomic_fetch_sub_explicit(&accounts->nr_loaded, 1, memory_order_relaxed);
	if (symbols->counted_failed)
		atomic_fetch_sub_explicit(&accounts->nr_failed, 1, memory_order_relaxed);
	symbol_accounts_put(accounts);
}

void symbol_loader_attach(struct dso *dso, struct symbol_accounts *accounts)
{
	struct dso_symbols *symbols = &dso->symbols;

	if (symbols->accounts)
		return;
	atomic_fetch_add_explicit(&accounts->nr_refs, 1, memory_order_relaxed);
	symbols->accounts = accounts;
	if (dso_kind(dso) == DSO_KERNEL || dso_kind(dso) == DSO_GENERATED)
		atomic_store_explicit(&symbols->overlay, overlay_new(), memory_order_release);
	symbols->release = release_symbols;
}

static void count_bytes(struct dso_symbols *symbols, uint64_t bytes)
{
	atomic_fetch_add_explicit(&symbols->bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&symbols->accounts->symbol_bytes, bytes, memory_order_relaxed);
}

static void set_base(struct dso_symbols *symbols, struct symbol_table *table)
{
	count_bytes(symbols, symbol_table_bytes(table));
	atomic_store_explicit(&symbols->base, table, memory_order_release);
}

/* Returns true when @table, which is taken over, had something new. */
static bool add_newer(struct dso_symbols *symbols, struct symbol_table *table)
{
	uint64_t bytes = overlay_add(symbols->overlay, symbols->base, table);

	count_bytes(symbols, bytes);
	return bytes;
}

/* What the recording has to say of the file decides whether one may be used. */
static int open_recorded(struct dso *dso, const struct symbol_origin *origin)
{
	struct symbol_accounts *accounts = dso->symbols.accounts;
	unsigned char id[20];
	size_t size = origin->build_id(origin->arg, dso, id);
	bool verified;
	int fd = dso_file_open_recorded(dso, id, size, origin->recorded_ns, &verified);

	if (fd >= 0 && !verified)
		atomic_fetch_add_explicit(&accounts->nr_unverified, 1, memory_order_relaxed);
	else if (fd == -ESTALE)
		atomic_fetch_add_explicit(&accounts->nr_differing, 1, memory_order_relaxed);
	/* It will not become the right one by waiting. */
	return fd == -ESTALE ? -ENOEXEC : fd;
}

/* While the file is open anyway: it may be gone when somebody wants to know. */
static void note_build_id(struct dso *dso, int fd)
{
	unsigned char id[20];
	size_t size = elf_symbols_build_id(fd, id);

	build_ids_add(&dso->symbols.accounts->build_ids, dso_path(dso), id, size);
}

static int load_file(struct dso *dso, const char *proc, const struct symbol_origin *origin,
		     bool *ret_changed)
{
	struct symbol_table *table;
	int fd = dso_steal_file(dso);
	int ret;

	if (fd < 0)
		fd = origin ? open_recorded(dso, origin) : dso_file_open(dso, proc);
	if (fd < 0)
		return fd;
	ret = elf_symbols_read(fd, &table, NULL);
	if (!ret)
		note_build_id(dso, fd);
	close(fd);
	if (ret)
		return ret;
	set_base(&dso->symbols, table);
	*ret_changed = true;
	return 0;
}

static int load_vdso(struct dso *dso, const char *proc, bool *ret_changed)
{
	struct symbol_table *table;
	void *image;
	size_t size;
	int ret;

	ret = dso_vdso_read(dso, proc, &image, &size);
	if (ret)
		return ret;
	ret = elf_symbols_read_image(image, size, &table, NULL);
	free(image);
	if (ret)
		return ret;
	set_base(&dso->symbols, table);
	*ret_changed = true;
	return 0;
}

static int load_kernel(struct dso *dso, const char *proc, bool *ret_changed)
{
	struct dso_symbols *symbols = &dso->symbols;
	char *path = mem_printf("%s/kallsyms", proc);
	struct symbol_table *table;
	int ret;

	if (atomic_load(&symbols->bytes) > MAX_KERNEL_BYTES) {
		free(path);
		return -EFBIG;
	}
	ret = kallsyms_read(path, &table, NULL);
	free(path);
	atomic_store_explicit(&symbols->accounts->kernel_hidden, ret == -EACCES,
			      memory_order_relaxed);
	if (ret)
		return ret;
	if (atomic_load(&symbols->base)) {
		*ret_changed = add_newer(symbols, table);
	} else {
		set_base(symbols, table);
		*ret_changed = true;
	}
	return 0;
}

static int load_generated(struct dso *dso, const char *proc, bool *ret_changed)
{
	struct dso_symbols *symbols = &dso->symbols;
	struct symbol_table *table;
	int ret;

	if (!symbols->map)
		symbols->map = perf_map_new(proc, dso_key(dso)->owner);
	do {
		if (atomic_load(&symbols->bytes) > MAX_GENERATED_BYTES)
			return -EFBIG;
		ret = perf_map_refresh(symbols->map, &table, NULL);
		if (table)
			*ret_changed |= add_newer(symbols, table);
	} while (!ret && table);
	return ret;
}

static int load_by_kind(struct dso *dso, const char *proc, const struct symbol_origin *origin,
			bool *ret_changed)
{
	if (origin && dso_kind(dso) != DSO_FILE && !origin->has_our_kernel(origin->arg)) {
		if (dso_kind(dso) == DSO_KERNEL)
			atomic_store_explicit(&dso->symbols.accounts->kernel_differs, true,
					      memory_order_relaxed);
		return dso_kind(dso) == DSO_GENERATED ? -ENOENT : -ENOEXEC;
	}
	switch (dso_kind(dso)) {
	case DSO_FILE:
		return load_file(dso, proc, origin, ret_changed);
	case DSO_VDSO:
		return load_vdso(dso, proc, ret_changed);
	case DSO_KERNEL:
		return load_kernel(dso, proc, ret_changed);
	case DSO_GENERATED:
		return load_generated(dso, origin ? NULL : proc, ret_changed);
	case DSO_UNKNOWN:
	case NR_DSO_KINDS:
		break;
	}
	return -ENOEXEC;
}

static uint64_t back_off(struct dso_symbols *symbols, uint64_t first_ns, uint64_t most_ns)
{
	uint64_t next_ns = 2 * symbols->backoff_ns;

	symbols->backoff_ns = next_ns ? MIN(next_ns, most_ns) : first_ns;
	return symbols->backoff_ns;
}

/* How long from now on asking again is of no use. */
static uint64_t quiet_time(struct dso *dso, int ret, bool changed, uint64_t took_ns)
{
	struct dso_symbols *symbols = &dso->symbols;

	if (changed || (!ret && dso_kind(dso) != DSO_KERNEL))
		symbols->backoff_ns = 0;
	switch (dso_kind(dso)) {
	case DSO_KERNEL:
		return back_off(symbols, 10 * NSEC_PER_SEC, 600 * NSEC_PER_SEC);
	case DSO_GENERATED:
		if (!ret)
			return MIN(MAX(NSEC_PER_SEC, 20 * took_ns), 10 * NSEC_PER_SEC);
		return back_off(symbols, NSEC_PER_SEC, 10 * NSEC_PER_SEC);
	case DSO_FILE:
	case DSO_VDSO:
		if (ret && ret != -ENOEXEC && ret != -EFBIG)
			return back_off(symbols, NSEC_PER_SEC, 60 * NSEC_PER_SEC);
		break;
	case DSO_UNKNOWN:
	case NR_DSO_KINDS:
		break;
	}
	return NEVER;
}

/* A process without a map file is no failure: most generated code has none. */
static void count_result(struct dso *dso, int ret)
{
	struct dso_symbols *symbols = &dso->symbols;
	struct symbol_accounts *accounts = symbols->accounts;
	bool missing_map = ret == -ENOENT && dso_kind(dso) == DSO_GENERATED;

	if (!ret && !symbols->counted_loaded)
		atomic_fetch_add_explicit(&accounts->nr_loaded, 1, memory_order_relaxed);
	symbols->counted_loaded |= !ret;
	if (symbols->counted_loaded || missing_map) {
		if (symbols->counted_failed)
			atomic_fetch_sub_explicit(&accounts->nr_failed, 1, memory_order_relaxed);
		symbols->counted_failed = false;
	} else if (!symbols->counted_failed) {
		atomic_fetch_add_explicit(&accounts->nr_failed, 1, memory_order_relaxed);
		symbols->counted_failed = true;
	}
}

bool symbol_loader_load(struct dso *dso, const char *proc, const struct symbol_origin *origin)
{
	struct dso_symbols *symbols = &dso->symbols;
	uint32_t old_state = atomic_load(&symbols->state);
	uint32_t state = old_state;
	uint64_t begin_ns = clock_now_ns();
	uint64_t end_ns, quiet_ns;
	bool changed = false;
	int ret;

	if (state == SYMBOLS_LOADED && (dso_kind(dso) == DSO_FILE || dso_kind(dso) == DSO_VDSO))
		return false; /* asked for twice */
	ret = load_by_kind(dso, proc, origin, &changed);
	if (!ret)
		state = SYMBOLS_LOADED;
	else if (state == SYMBOLS_NEW)
		state = SYMBOLS_FAILED;
	end_ns = clock_now_ns();
	quiet_ns = quiet_time(dso, ret, changed, end_ns - begin_ns);
	atomic_store_explicit(&symbols->retry_ns, quiet_ns == NEVER ? NEVER : end_ns + quiet_ns,
			      memory_order_relaxed);
	count_result(dso, ret);
	if (!changed && state == old_state)
		return false;
	atomic_store_explicit(&symbols->state, state, memory_order_release);
	atomic_fetch_add_explicit(&symbols->generation, 1, memory_order_release);
	return true;
}

void symbol_loader_add_kernel_code(struct dso *kernel, uint64_t start, uint64_t size,
				   const char *name)
{
	struct dso_symbols *symbols = &kernel->symbols;
	struct symbol_table *table;
	const char *object = strncmp(name, "bpf_", 4) ? NULL : "bpf";

	if (!size || start + size < start)
		return;
	if (atomic_load(&symbols->bytes) > MAX_KERNEL_BYTES) {
		overlay_hide(symbols->overlay, start, start + size);
	} else {
		table = symbol_table_new();
		symbol_table_add(table, start, size, 0, SYMBOL_GLOBAL, name, strlen(name), object);
		symbol_table_finish(table);
		/* Not against the base: it may be older than what was loaded over it. */
		count_bytes(symbols, overlay_add(symbols->overlay, NULL, table));
	}
	atomic_fetch_add_explicit(&symbols->generation, 1, memory_order_release);
}
