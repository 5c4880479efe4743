/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of symbols/symbolizer.c and symbols/symbol_loader.c. procfs is a folder, the
 * clock is the test's, and the ELF file is this program itself.
 */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <link.h>
#include <stdatomic.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/worker.h"
#include "symbols/symbolizer.h"
#include "tests/symbols_fixture.h"

#define LONG_ENOUGH_NS (60 * NSEC_PER_SEC)

void marker_alpha(void);

static struct dso_table *table;
static struct symbolizer *symbolizer;
static atomic_uint nr_loaded_calls;
static _Atomic uint64_t skipped_ns;

/* In place of the one in core/base/clock.c. */
uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec +
	       atomic_load(&skipped_ns);
}

static void skip_seconds(unsigned int nr)
{
	atomic_fetch_add(&skipped_ns, nr * NSEC_PER_SEC);
}

__attribute__((noinline)) void marker_alpha(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

static void count_loaded(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_loaded_calls, 1);
}

static struct symbolizer *new_symbolizer(unsigned int nr_held_files)
{
	return symbolizer_new(&(struct symbolizer_options){
		.proc = fixture_folder,
		.nr_workers = 2,
		.nr_held_files = nr_held_files,
		.on_loaded = count_loaded,
	});
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	atomic_store(&nr_loaded_calls, 0);
	table = dso_table_new();
	symbolizer = new_symbolizer(0);
	return 0;
}

static int teardown(void **state)
{
	uint64_t nr_dsos, nr_files;

	symbolizer_free(symbolizer);
	dso_table_stats(table, &nr_dsos, &nr_files);
	dso_table_free(table);
	return fixture_teardown(state) || nr_dsos || nr_files;
}

static struct dso *get(const struct dso_key *key, const char *path, uint32_t pid)
{
	return dso_table_get(table, key, path, pid, NULL);
}

static struct dso *get_kernel(void)
{
	const struct dso_key key = { .kind = DSO_KERNEL };

	return get(&key, "[kernel.kallsyms]", 0);
}

static struct dso *get_generated(uint32_t pid)
{
	const struct dso_key key = { .kind = DSO_GENERATED, .owner = pid };

	return get(&key, "//anon", pid);
}

static struct symbolizer_stats stats(void)
{
	struct symbolizer_stats stats;

	symbolizer_get_stats(symbolizer, &stats);
	return stats;
}

static void wait_idle(void)
{
	assert_true(symbolizer_wait_idle(symbolizer, LONG_ENOUGH_NS));
}

/* What a first look answers, in words, and what the same look answers after. */
static const char *look(struct dso *dso, uint64_t offset)
{
	const struct symbol *symbol = NULL;

	switch (symbolizer_lookup(symbolizer, dso, offset, &symbol)) {
	case LOOKUP_FOUND:
		return symbol->raw;
	case LOOKUP_NONE:
		return "(none)";
	case LOOKUP_PENDING:
		return "(pending)";
	}
	return "(what?)";
}

static const char *look_twice(struct dso *dso, uint64_t offset)
{
	look(dso, offset);
	wait_idle();
	return look(dso, offset);
}

/* ---- files ---- */

struct position {
	uintptr_t address;
	uint64_t offset;
};

static int find_position(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct position *position = arg;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && position->address >= start &&
		    position->address - start < segment->p_filesz) {
			position->offset = position->address - start + segment->p_offset;
			return 1;
		}
	}
	return 0;
}

/* Where marker_alpha() is in the file of this program. */
static uint64_t marker_offset(void)
{
	struct position position = { .address = (uintptr_t)marker_alpha };

	assert_int_equal(dl_iterate_phdr(find_position, &position), 1);
	return position.offset;
}

/* A copy of this program at @path, with marker_alpha() called @name (as long). */
static void copy_program(const char *path, const char *name)
{
	size_t size = 64 * 1024 * 1024;
	char *bytes = mem_zalloc(size);
	FILE *file = fopen("/proc/self/exe", "r");
	size_t len = fread(bytes, 1, size, file);

	fclose(file);
	assert_int_equal(strlen(name), strlen("marker_alpha"));
	for (size_t i = 0; i + strlen(name) < len; i++) {
		if (!memcmp(bytes + i, "marker_alpha", strlen(name)))
			memcpy(bytes + i, name, strlen(name));
	}
	fixture_write_bytes(path, "w", bytes, len);
	free(bytes);
}

static void test_name_comes_after_it_was_asked_for(void **state)
{
	const char *path = fixture_path("1/root/app");
	struct dso *dso;
	struct dso_key key;
	uint32_t generation;

	(void)state;
	copy_program(path, "marker_alpha");
	key = fixture_key(path);
	dso = get(&key, "/app", 1);
	generation = symbolizer_generation(dso);
	assert_string_equal(look(dso, marker_offset()), "(pending)");
	wait_idle();
	assert_int_not_equal(symbolizer_generation(dso), generation);
	assert_string_equal(look(dso, marker_offset()), "marker_alpha");
	assert_string_equal(look(dso, UINT64_MAX), "(none)");
	assert_int_equal(stats().nr_loaded, 1);
	assert_true(stats().symbol_bytes > 0);
	assert_int_equal(nr_loaded_calls, 1);
	/* Once loaded it is never asked for again. */
	skip_seconds(1000);
	look(dso, UINT64_MAX);
	assert_int_equal(stats().nr_waiting, 0);
	dso_put(dso);
	assert_int_equal(stats().nr_loaded, 0);
	assert_int_equal(stats().symbol_bytes, 0);
}

static void test_unknown_dso_has_no_symbols(void **state)
{
	const struct dso_key key = { .kind = DSO_UNKNOWN };
	struct dso *dso = get(&key, "", 1);

	(void)state;
	assert_string_equal(look(dso, 0), "(none)");
	symbolizer_hold(symbolizer, dso);
	assert_int_equal(stats().nr_waiting, 0);
	dso_put(dso);
}

static void test_fc057_file_held_before_it_was_deleted_gives_names(void **state)
{
	const char *path = fixture_path("1/root/gone");
	uint64_t nr_dsos, nr_files;
	struct dso_key key;
	struct dso *dso;

	(void)state;
	copy_program(path, "marker_alpha");
	key = fixture_key(path);
	dso = get(&key, "/gone", 1);
	symbolizer_hold(symbolizer, dso);
	wait_idle();
	symbolizer_hold(symbolizer, dso); /* twice is once */
	wait_idle();
	dso_table_stats(table, &nr_dsos, &nr_files);
	assert_int_equal(nr_files, 1);
	assert_int_equal(unlink(path), 0);
	assert_string_equal(look_twice(dso, marker_offset()), "marker_alpha");
	dso_table_stats(table, &nr_dsos, &nr_files);
	assert_int_equal(nr_files, 0);
	symbolizer_hold(symbolizer, dso); /* nothing to hold for any more */
	assert_int_equal(stats().nr_waiting, 0);
	dso_put(dso);
}

static void test_fc055_same_path_in_two_processes_gives_two_names(void **state)
{
	const char *first = fixture_path("1/root/app");
	const char *second = fixture_path("2/root/app");
	struct dso_key first_key, second_key;
	struct dso *dsos[2];

	(void)state;
	copy_program(first, "marker_alpha");
	copy_program(second, "marker_bravo");
	first_key = fixture_key(first);
	second_key = fixture_key(second);
	dsos[0] = get(&first_key, "/app", 1);
	dsos[1] = get(&second_key, "/app", 2);
	assert_string_equal(look_twice(dsos[0], marker_offset()), "marker_alpha");
	assert_string_equal(look_twice(dsos[1], marker_offset()), "marker_bravo");
	dso_put(dsos[0]);
	dso_put(dsos[1]);
}

static void test_fc058_replaced_file_names_nothing_of_the_old_one(void **state)
{
	const char *path = fixture_path("1/root/repl");
	const char *other = fixture_path("other");
	struct dso_key key;
	struct dso *dso;

	(void)state;
	copy_program(path, "marker_alpha");
	copy_program(other, "marker_bravo");
	key = fixture_key(path);
	dso = get(&key, "/repl", 1);
	assert_int_equal(rename(other, path), 0);
	assert_string_equal(look_twice(dso, marker_offset()), "(none)");
	assert_int_equal(stats().nr_failed, 1);
	dso_put(dso);
	assert_int_equal(stats().nr_failed, 0);
}

static void test_missing_file_is_looked_for_at_a_limited_rate(void **state)
{
	const char *path = fixture_path("1/root/app");
	const char *away = fixture_path("away");
	struct dso_key key;
	struct dso *dso;

	(void)state;
	copy_program(path, "marker_alpha");
	key = fixture_key(path);
	assert_int_equal(rename(path, away), 0);
	dso = get(&key, "/app", 1);
	assert_string_equal(look_twice(dso, marker_offset()), "(none)");
	assert_int_equal(rename(away, path), 0);
	assert_string_equal(look_twice(dso, marker_offset()), "(none)"); /* too early */
	skip_seconds(2);
	assert_string_equal(look_twice(dso, marker_offset()), "marker_alpha");
	assert_int_equal(stats().nr_failed, 0);
	assert_int_equal(stats().nr_loaded, 1);
	dso_put(dso);
}

static void test_file_that_is_no_elf_is_read_once(void **state)
{
	const char *path = fixture_path("1/root/app");
	struct dso_key key;
	struct dso *dso;

	(void)state;
	fixture_write(path, "#!/bin/sh\n");
	key = fixture_key(path);
	dso = get(&key, "/app", 1);
	assert_string_equal(look_twice(dso, 0), "(none)");
	assert_int_equal(stats().nr_failed, 1);
	skip_seconds(1000);
	look(dso, 0);
	assert_int_equal(stats().nr_waiting, 0);
	dso_put(dso);
}

static void test_fc121_pipe_in_place_of_a_program_does_not_hang(void **state)
{
	const char *path = fixture_path("1/root/app");
	struct dso_key key;
	struct dso *dso;

	(void)state;
	assert_int_equal(mkfifo(path, 0644), 0);
	key = fixture_key(path);
	dso = get(&key, "/app", 1);
	symbolizer_hold(symbolizer, dso);
	assert_string_equal(look_twice(dso, 0), "(none)");
	dso_put(dso);
}

static void test_held_files_are_bounded(void **state)
{
	struct dso *dsos[10];
	uint64_t nr_dsos, nr_files;

	(void)state;
	symbolizer_free(symbolizer);
	symbolizer = new_symbolizer(3);
	for (unsigned int i = 0; i < ARRAY_SIZE(dsos); i++) {
		const char *path = fixture_path("1/root/app%u", i);
		struct dso_key key;

		fixture_write(path, "x");
		key = fixture_key(path);
		dsos[i] = get(&key, path, 1);
		symbolizer_hold(symbolizer, dsos[i]);
		wait_idle();
	}
	dso_table_stats(table, &nr_dsos, &nr_files);
	assert_int_equal(nr_files, 3);
	for (size_t i = 0; i < ARRAY_SIZE(dsos); i++)
		dso_put(dsos[i]);
}

static void test_fc041_vdso_has_names(void **state)
{
	const struct dso_key key = { .kind = DSO_VDSO, .inode = 8 * sizeof(void *) };
	struct dso *dso = get(&key, "[vdso]", 1);
	bool found = false;

	(void)state;
	look_twice(dso, 0);
	for (uint64_t offset = 0; !found && offset < 65536; offset += 16)
		found = strstr(look(dso, offset), "gettime");
	if (stats().nr_failed) {
		dso_put(dso);
		print_message("this kernel gives no vdso\n");
		skip();
	}
	assert_true(found);
	dso_put(dso);
}

/* ---- kernel ---- */

#define KALLSYMS                               \
	"ffffffff81000000 T alpha_in_kernel\n" \
	"ffffffff81001000 T bravo_in_kernel\n" \
	"ffffffff81002000 T last_in_kernel\n"

static void test_kernel_is_loaded_from_kallsyms(void **state)
{
	struct dso *kernel = get_kernel();

	(void)state;
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	symbolizer_preload_kernel(symbolizer, kernel);
	wait_idle();
	assert_string_equal(look(kernel, 0xffffffff81000010), "alpha_in_kernel");
	assert_string_equal(look(kernel, 0xffffffff81001010), "bravo_in_kernel");
	assert_string_equal(look(kernel, 0xffffffff80000000), "(none)");
	assert_false(stats().kernel_hidden);
	symbolizer_preload_kernel(symbolizer, kernel);
	assert_int_equal(stats().nr_waiting, 0);
	dso_put(kernel);
}

static void test_fc037_hidden_kernel_names_nothing_and_says_so(void **state)
{
	struct dso *kernel = get_kernel();

	(void)state;
	fixture_write(fixture_path("kallsyms"), "0000000000000000 T alpha_in_kernel\n"
						"0000000000000000 T bravo_in_kernel\n");
	assert_string_equal(look_twice(kernel, 0xffffffff81000010), "(none)");
	assert_string_equal(look(kernel, 0), "(none)");
	assert_true(stats().kernel_hidden);
	/* Allowed later. */
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	skip_seconds(11);
	assert_string_equal(look_twice(kernel, 0xffffffff81000010), "alpha_in_kernel");
	assert_false(stats().kernel_hidden);
	dso_put(kernel);
}

static void test_module_that_was_loaded_later_is_found_at_a_limited_rate(void **state)
{
	static const uint64_t in_module = 0xffffffff70001010;
	struct dso *kernel = get_kernel();
	const struct symbol *before, *after;
	uint64_t bytes;

	(void)state;
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	assert_string_equal(look_twice(kernel, in_module), "(none)");
	assert_int_equal(symbolizer_lookup(symbolizer, kernel, 0xffffffff81001010, &before),
			 LOOKUP_FOUND);
	bytes = stats().symbol_bytes;
	skip_seconds(11);
	assert_string_equal(look_twice(kernel, in_module), "(none)");
	assert_int_equal(stats().symbol_bytes, bytes); /* the same again costs nothing */
	fixture_append(fixture_path("kallsyms"), "ffffffff70001000 t in_module\t[later]\n"
						 "ffffffff70002000 t last_in_module\t[later]\n");
	skip_seconds(11);
	assert_string_equal(look_twice(kernel, in_module), "(none)"); /* twice as long now */
	skip_seconds(11);
	assert_string_equal(look_twice(kernel, in_module), "in_module");
	assert_int_equal(symbolizer_lookup(symbolizer, kernel, 0xffffffff81001010, &after),
			 LOOKUP_FOUND);
	assert_ptr_equal(before, after);
	dso_put(kernel);
}

static void test_fc038_bpf_program_loaded_later_has_its_name(void **state)
{
	static const uint64_t start = 0xffffffff70000000;
	struct dso *kernel = get_kernel();
	const struct symbol *symbol;
	uint32_t generation;

	(void)state;
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	look_twice(kernel, start);
	generation = symbolizer_generation(kernel);
	symbolizer_ksymbol(symbolizer, kernel, start, 0x100, "bpf_prog_1_hot_bpf_fn", false);
	assert_int_not_equal(symbolizer_generation(kernel), generation);
	assert_int_equal(symbolizer_lookup(symbolizer, kernel, start + 0xff, &symbol),
			 LOOKUP_FOUND);
	assert_string_equal(symbol->raw, "bpf_prog_1_hot_bpf_fn");
	assert_string_equal(symbol->object, "bpf");
	assert_int_equal(symbol->start, start);
	/* Unloaded: old samples keep it. */
	symbolizer_ksymbol(symbolizer, kernel, start, 0x100, "bpf_prog_1_hot_bpf_fn", true);
	assert_string_equal(look(kernel, start), "bpf_prog_1_hot_bpf_fn");
	/* A later one at the same address gets its own. */
	symbolizer_ksymbol(symbolizer, kernel, start, 0x80, "bpf_prog_2_other", false);
	assert_string_equal(look(kernel, start), "bpf_prog_2_other");
	assert_string_equal(symbol->raw, "bpf_prog_1_hot_bpf_fn"); /* handed out: stays */
	symbolizer_ksymbol(symbolizer, kernel, start + 0x1000, 0x40, "ftrace_trampoline", false);
	assert_int_equal(symbolizer_lookup(symbolizer, kernel, start + 0x1000, &symbol),
			 LOOKUP_FOUND);
	assert_null(symbol->object);
	symbolizer_ksymbol(symbolizer, kernel, UINT64_MAX - 1, 0x40, "wraps", false);
	symbolizer_ksymbol(symbolizer, kernel, start + 0x2000, 0, "empty", false);
	dso_put(kernel);
}

static void test_bpf_programs_that_come_and_go_cost_no_memory(void **state)
{
	struct dso *kernel = get_kernel();
	uint64_t bytes;

	(void)state;
	symbolizer_ksymbol(symbolizer, kernel, 0x1000, 0x100, "bpf_prog_1", false);
	bytes = stats().symbol_bytes;
	assert_true(bytes > 0);
	for (int i = 0; i < 100; i++) {
		symbolizer_ksymbol(symbolizer, kernel, 0x1000, 0x100, "bpf_prog_1", true);
		symbolizer_ksymbol(symbolizer, kernel, 0x1000, 0x100, "bpf_prog_1", false);
	}
	assert_int_equal(stats().symbol_bytes, bytes);
	dso_put(kernel);
	assert_int_equal(stats().symbol_bytes, 0);
}

/* ---- generated code ---- */

static void test_fc044_map_that_comes_late_and_grows(void **state)
{
	const char *path = fixture_path("77/root/tmp/perf-77.map");
	struct dso *dso = get_generated(77);
	uint32_t generation;

	(void)state;
	fixture_process(77, "77");
	assert_string_equal(look_twice(dso, 0x1000), "(none)");
	assert_int_equal(stats().nr_failed, 0);
	fixture_write(path, "1000 10 first\n");
	assert_string_equal(look_twice(dso, 0x1000), "(none)"); /* too early */
	skip_seconds(2);
	assert_string_equal(look_twice(dso, 0x1000), "first");
	assert_int_equal(stats().nr_loaded, 1);
	generation = symbolizer_generation(dso);
	for (int i = 0; i < 3; i++) {
		skip_seconds(2); /* nothing new: nothing changes, and it stays prompt */
		assert_string_equal(look_twice(dso, 0x1000), "first");
	}
	assert_int_equal(symbolizer_generation(dso), generation);
	fixture_append(path, "2000 10 second\n");
	skip_seconds(2);
	assert_string_equal(look_twice(dso, 0x2000), "second");
	assert_int_not_equal(symbolizer_generation(dso), generation);
	dso_put(dso);
}

static void test_fc045_replaced_code_has_the_later_name(void **state)
{
	const char *path = fixture_path("77/root/tmp/perf-77.map");
	struct dso *dso = get_generated(77);
	const struct symbol *old;

	(void)state;
	fixture_process(77, "77");
	fixture_write(path, "a000 10 old_first\n");
	assert_string_equal(look_twice(dso, 0xa000), "old_first");
	assert_int_equal(symbolizer_lookup(symbolizer, dso, 0xa000, &old), LOOKUP_FOUND);
	fixture_append(path, "a000 10 new_first\n");
	skip_seconds(2);
	/* A look that hits is enough to look again. */
	assert_string_equal(look_twice(dso, 0xa000), "new_first");
	assert_string_equal(old->raw, "old_first");
	dso_put(dso);
}

static void test_map_written_again_costs_only_what_is_new(void **state)
{
	const char *path = fixture_path("77/root/tmp/perf-77.map");
	struct dso *dso = get_generated(77);
	uint64_t bytes;

	(void)state;
	fixture_process(77, "77");
	fixture_write(path, "1000 10 f\n2000 10 g\n");
	assert_string_equal(look_twice(dso, 0x1000), "f");
	bytes = stats().symbol_bytes;
	for (int i = 0; i < 10; i++) {
		unlink(path);
		fixture_write(path, "1000 10 f\n2000 10 g\n");
		skip_seconds(2);
		look_twice(dso, 0x1000);
	}
	assert_int_equal(stats().symbol_bytes, bytes);
	dso_put(dso);
}

static void test_dead_process_keeps_its_names(void **state)
{
	struct dso *dso = get_generated(77);

	(void)state;
	fixture_process(77, "77");
	fixture_write(fixture_path("77/root/tmp/perf-77.map"), "1000 10 f\n");
	assert_string_equal(look_twice(dso, 0x1000), "f");
	unlink(fixture_path("77/status"));
	skip_seconds(100);
	assert_string_equal(look_twice(dso, 0x1000), "f");
	assert_int_equal(stats().nr_loaded, 1);
	dso_put(dso);
}

static void test_fc120_planted_map_is_a_failure_that_names_nothing(void **state)
{
	const char *path = fixture_path("77/root/tmp/perf-77.map");
	struct dso *dso = get_generated(77);

	(void)state;
	fixture_process(77, "77");
	fixture_write(path, "1000 10 planted\n");
	assert_int_equal(chmod(path, 0666), 0);
	assert_string_equal(look_twice(dso, 0x1000), "(none)");
	assert_int_equal(stats().nr_failed, 1);
	dso_put(dso);
}

/* ---- life and death ---- */

static void test_a_hundred_dsos_leave_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct dso *dso = get_generated(1000 + i);

		look(dso, 0x1000);
		dso_put(dso); /* only the request refers to it now */
	}
	wait_idle();
	assert_int_equal(stats().symbol_bytes, 0);
	/* The teardown looks whether a dso is left. */
}

static void test_free_with_requests_waiting(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct dso_key key = { .kind = DSO_FILE, .inode = 1 + i };
		struct dso *dso = get(&key, "/nowhere", 1);

		symbolizer_hold(symbolizer, dso);
		look(dso, 0x1000);
		dso_put(dso);
	}
	symbolizer_free(symbolizer);
	symbolizer = NULL;
}

static void test_dso_outlives_the_symbolizer(void **state)
{
	struct dso *kernel = get_kernel();
	const struct symbol *symbol;

	(void)state;
	symbolizer_ksymbol(symbolizer, kernel, 0x1000, 0x100, "bpf_prog_1", false);
	assert_int_equal(symbolizer_lookup(symbolizer, kernel, 0x1000, &symbol), LOOKUP_FOUND);
	symbolizer_free(symbolizer);
	symbolizer = NULL;
	assert_string_equal(symbol->raw, "bpf_prog_1");
	dso_put(kernel);
	symbolizer_free(NULL);
}

struct crowd {
	struct dso *file, *kernel, *generated;
	uint64_t marker;
};

static void look_for_a_while(void *arg)
{
	const struct crowd *crowd = arg;

	for (unsigned int i = 0; i < 3000; i++) {
		const char *name = look(crowd->file, crowd->marker);

		if (name[0] != '(' && strcmp(name, "marker_alpha"))
			abort();
		look(crowd->kernel, 0xffffffff81000010);
		look(crowd->generated, 0x1000 + i % 300 * 0x10);
		symbolizer_hold(symbolizer, crowd->file);
		symbolizer_ksymbol(symbolizer, crowd->kernel, 0x1000 + i % 7 * 0x1000, 0x100,
				   i % 2 ? "bpf_prog_odd" : "bpf_prog_even", false);
		if (!(i % 100)) {
			skip_seconds(3);
			symbolizer_generation(crowd->generated);
		}
	}
}

static void test_looks_from_four_threads_while_loading(void **state)
{
	const char *path = fixture_path("1/root/app");
	const char *map_path = fixture_path("77/root/tmp/perf-77.map");
	struct crowd crowd = { .kernel = get_kernel(), .generated = get_generated(77) };
	struct worker *workers[4];
	struct dso_key key;

	(void)state;
	copy_program(path, "marker_alpha");
	fixture_write(fixture_path("kallsyms"), KALLSYMS);
	fixture_process(77, "77");
	fixture_write(map_path, "1000 10 f\n");
	key = fixture_key(path);
	crowd.file = get(&key, "/app", 1);
	crowd.marker = marker_offset();
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(worker_start("test", look_for_a_while, &crowd, &workers[i], NULL),
				 0);
	for (unsigned int i = 0; i < 200; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%x 10 g%u\n", 0x1010 + i * 0x10, i);
		fixture_append(map_path, line);
	}
	for (size_t i = 0; i < 4; i++)
		worker_join(workers[i]);
	wait_idle();
	assert_string_equal(look(crowd.file, crowd.marker), "marker_alpha");
	assert_string_equal(look(crowd.kernel, 0xffffffff81000010), "alpha_in_kernel");
	skip_seconds(11);
	assert_string_equal(look_twice(crowd.generated, 0x1010 + 199 * 0x10), "g199");
	dso_put(crowd.file);
	dso_put(crowd.kernel);
	dso_put(crowd.generated);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_name_comes_after_it_was_asked_for),
		CASE(test_unknown_dso_has_no_symbols),
		CASE(test_fc057_file_held_before_it_was_deleted_gives_names),
		CASE(test_fc055_same_path_in_two_processes_gives_two_names),
		CASE(test_fc058_replaced_file_names_nothing_of_the_old_one),
		CASE(test_missing_file_is_looked_for_at_a_limited_rate),
		CASE(test_file_that_is_no_elf_is_read_once),
		CASE(test_fc121_pipe_in_place_of_a_program_does_not_hang),
		CASE(test_held_files_are_bounded),
		CASE(test_fc041_vdso_has_names),
		CASE(test_kernel_is_loaded_from_kallsyms),
		CASE(test_fc037_hidden_kernel_names_nothing_and_says_so),
		CASE(test_module_that_was_loaded_later_is_found_at_a_limited_rate),
		CASE(test_fc038_bpf_program_loaded_later_has_its_name),
		CASE(test_bpf_programs_that_come_and_go_cost_no_memory),
		CASE(test_fc044_map_that_comes_late_and_grows),
		CASE(test_fc045_replaced_code_has_the_later_name),
		CASE(test_map_written_again_costs_only_what_is_new),
		CASE(test_dead_process_keeps_its_names),
		CASE(test_fc120_planted_map_is_a_failure_that_names_nothing),
		CASE(test_a_hundred_dsos_leave_nothing),
		CASE(test_free_with_requests_waiting),
		CASE(test_dso_outlives_the_symbolizer),
		CASE(test_looks_from_four_threads_while_loading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
