/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files go through the tables that a live run fills, without its workers. The last case
 * changes bytes of files at random; the environment variable SYMTOP_MUTATIONS says how
 * many it makes (2,000), so that it can run for long by hand under sanitizers.
 */
#include "config.h"

#include "core/replay.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/replay_kernel.h"
#include "tests/perf_data_fixture.h"

/* ---- replay ---- */

/* The tables that a replay fills, without workers. */
struct tables {
	struct dso_table *dsos;
	struct dso *kernel, *unknown;
	struct thread_table *table;
	struct symbolizer *symbolizer;
	struct reader *reader;
	uint64_t nr_placed;
	char places[1024]; /* "COMM:OBJECT+OFFSET " each */
};

static void on_place(void *arg)
{
	struct tables *tables = arg;

	reader_locate(tables->reader);
	for (size_t i = 0; i < reader_nr_placed(tables->reader); i++) {
		const struct placed *placed = reader_placed(tables->reader, i);
		size_t len = strlen(tables->places);

		tables->nr_placed += placed->nr_samples;
		snprintf(tables->places + len, sizeof(tables->places) - len, "%s:%s+%llx ",
			 placed->key.comm->text, dso_name(placed->key.dso)->text,
			 (unsigned long long)placed->key.offset);
	}
	reader_clear(tables->reader);
}

static void tables_init(struct tables *tables, struct replay *replay)
{
	const struct dso_key kernel = { .kind = DSO_KERNEL };
	const struct dso_key unknown = { .kind = DSO_UNKNOWN };
	const struct symbolizer_options symbolizer_options = { .origin = replay_origin(replay) };
	struct thread_table_options table_options = { 0 };
	struct reader_options reader_options = { 0 };
	struct replay_sink sink = { .place = on_place, .arg = tables };

	*tables = (struct tables){ .dsos = dso_table_new() };
	tables->kernel = dso_table_get(tables->dsos, &kernel, "", 0, NULL);
	tables->unknown = dso_table_get(tables->dsos, &unknown, "", 0, NULL);
	tables->symbolizer = symbolizer_new(&symbolizer_options);
	table_options.dsos = tables->dsos;
	tables->table = thread_table_new(&table_options);
	reader_options.table = tables->table;
	reader_options.kernel = tables->kernel;
	reader_options.unknown = reader_options.guest = tables->unknown;
	tables->reader = reader_new(&reader_options);
	sink.records = (struct record_sink){ .table = tables->table,
					     .symbolizer = tables->symbolizer,
					     .kernel = tables->kernel };
	sink.reader = tables->reader;
	replay_set_sink(replay, &sink);
}

static void tables_release(struct tables *tables)
{
	reader_free(tables->reader);
	thread_table_check_invariants(tables->table);
	thread_table_free(tables->table);
	dso_put(tables->kernel);
	dso_put(tables->unknown);
	symbolizer_free(tables->symbolizer);
	dso_table_free(tables->dsos);
}

static void test_samples_are_placed_as_things_were_at_their_time(void **state)
{
	struct bytes file = whole_image();
	struct replay_figures figures;
	struct replay *replay;
	struct tables tables;
	struct err err = { 0 };
	char path[64];
	int fd = file_of(&file, path);

	(void)state;
	assert_int_equal(replay_open(path, &replay, &err), 0);
	tables_init(&tables, replay);
	assert_int_equal(replay_next_ns(replay), 1000);
	assert_int_equal(replay_run(replay, 2000, UINT64_MAX), REPLAY_REACHED);
	assert_string_equal(tables.places, "first:first+20 ");
	assert_int_equal(replay_next_ns(replay), 2000);
	assert_int_equal(replay_run(replay, UINT64_MAX, UINT64_MAX), REPLAY_ENDED);
	/* The child has its parent's name and maps until it takes its own name. */
	assert_string_equal(tables.places,
			    "first:first+20 first:first+10 first:first+10 first:first+10 "
			    "second:first+10 second:[kernel]+ffffffff81000010 ");
	replay_get_figures(replay, &figures);
	assert_int_equal(figures.nr_samples, 6);
	assert_int_equal(figures.first_ns, 1000);
	assert_int_equal(figures.last_ns, 2800);
	assert_int_equal(figures.nr_malformed, 0);
	tables_release(&tables);
	replay_close(replay);
	close(fd);
	free(file.bytes);
}

/* ---- whose kernel ---- */

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void remove_files(const char *folder)
{
	static const char *const names[] = { "kallsyms", "kernel/notes", "kernel", "" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void test_only_the_very_kernel_gives_names(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000100 t work\n"
				       "ffffffff82000000 T _etext\n"
				       "ffffffffa0000000 t _text\t[module]\n";
	struct {
		uint32_t sizes[3];
		char name[4];
		unsigned char id[20];
	} note = { { 4, 20, 3 }, "GNU", { 0xab } };
	const struct kernel_facts same = { .build_id = { 0xab },
					   .build_id_size = 20,
					   .symbol = "_text",
					   .address = 0xffffffff81000000,
					   .text_end = 0xffffffff82000000 };
	char folder[] = "/tmp/symtop-replay-XXXXXX";
	struct kernel_facts facts = same;
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/kernel", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file(folder, "kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_file(folder, "kernel/notes", &note, sizeof(note));
	assert_true(kernel_facts_match(&facts, folder, folder));
	facts.address += 0x200000; /* another boot */
	assert_false(kernel_facts_match(&facts, folder, folder));
	facts = same;
	facts.build_id[19] = 1; /* another build, not moved */
	assert_false(kernel_facts_match(&facts, folder, folder));
	facts.build_id_size = 0; /* nothing but the length of its code is known */
	assert_true(kernel_facts_match(&facts, folder, folder));
	facts.text_end += 16;
	assert_false(kernel_facts_match(&facts, folder, folder));
	facts.text_end = same.text_end;
	snprintf(facts.release, sizeof(facts.release), "0.0-other");
	assert_false(kernel_facts_match(&facts, folder, folder));
	facts = same;
	facts.symbol[0] = '\0';
	assert_false(kernel_facts_match(&facts, folder, folder));
	remove_files(folder);
}

/* ---- mutations ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void mutate(struct bytes *file, uint64_t *random)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, 0x7fffffff, 0xffff, 0x8000, UINT64_MAX, UINT32_MAX, (uint64_t)1 << 63
	};
	uint64_t nr = 1 + next_random(random) % 4;

	while (nr--) {
		size_t at = next_random(random) % file->nr;
		size_t size = (size_t)1 << next_random(random) % 4;
		uint64_t value = values[next_random(random) % ARRAY_SIZE(values)];

		switch (next_random(random) % 4) {
		case 0:
			file->bytes[at] ^= (unsigned char)(1U << next_random(random) % 8);
			break;
		case 1:
			file->bytes[at] = (unsigned char)next_random(random);
			break;
		case 2:
			at -= at % size;
			if (at + size <= file->nr)
				memcpy(file->bytes + at, &value, size);
			break;
		default:
			if (next_random(random) % 4 == 0)
				file->nr = at + 1;
		}
	}
}

/* Whatever it is: it ends, and nothing is touched that is not ours. */
static void replay_mutation(const struct bytes *file)
{
	struct replay *replay;
	struct tables tables;
	char path[64];
	int fd = file_of(file, path);

	if (replay_open(path, &replay, NULL) == 0) {
		const char *note;

		tables_init(&tables, replay);
		replay_next_ns(replay);
		while (replay_run(replay, UINT64_MAX, UINT64_MAX) != REPLAY_ENDED)
			;
		for (size_t i = 0; (note = replay_note(replay, i)); i++)
			assert_true(strlen(note) > 0);
		tables_release(&tables);
		replay_close(replay);
	}
	close(fd);
}

static void test_mutated_files_end_without_harm(void **state)
{
	const char *wish = getenv("SYMTOP_MUTATIONS");
	unsigned long nr = wish ? strtoul(wish, NULL, 10) : 2000;
	struct bytes images[4] = { whole_image(), pipe_image() };
	size_t nr_images = has_zstd() ? 4 : 2;
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

	(void)state;
	if (nr_images == 4) {
		images[2] = compressed_image(FILE_COMPRESSED);
		images[3] = compressed_image(FILE_COMPRESSED2);
	}
	for (unsigned long i = 0; i < nr; i++) {
		struct bytes file = { 0 };

		add(&file, images[i % nr_images].bytes, images[i % nr_images].nr);
		mutate(&file, &random);
		replay_mutation(&file);
		free(file.bytes);
	}
	for (size_t i = 0; i < nr_images; i++)
		free(images[i].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_placed_as_things_were_at_their_time),
		cmocka_unit_test(test_only_the_very_kernel_gives_names),
		cmocka_unit_test(test_mutated_files_end_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
