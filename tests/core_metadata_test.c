/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdio.h>

#include "fake_rings.h"

#include "core/base/clock.h"
#include "core/metadata.h"
#include "core/synth.h"

static uint32_t asked[16];
static size_t nr_asked;

void synth_request(struct synth *synth, uint32_t pid)
{
	(void)synth;
	if (nr_asked < ARRAY_SIZE(asked))
		asked[nr_asked++] = pid;
}

/*
 * Event time of the tests: an hour ahead, so that the worker, which drains up to now,
 * applies nothing by itself, whenever it runs.
 */
static uint64_t base_ns;

struct fixture {
	struct dso_table *dsos;
	struct thread_table *table;
	struct symbolizer *symbolizer;
	struct dso *kernel;
	struct metadata *metadata;
};

static int setup(void **state)
{
	const struct symbolizer_options symbolizer_options = { 0 };
	const struct dso_key key = { .kind = DSO_KERNEL };
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct thread_table_options options = { 0 };
	struct metadata_options metadata_options = { 0 };
	struct err err = { 0 };

	fake_rings_init();
	base_ns = clock_now_ns() + 3600 * NSEC_PER_SEC;
	nr_asked = 0;
	fixture->dsos = dso_table_new();
	options.dsos = fixture->dsos;
	fixture->table = thread_table_new(&options);
	fixture->symbolizer = symbolizer_new(&symbolizer_options);
	fixture->kernel = dso_table_get(fixture->dsos, &key, "[kernel]", 0, NULL);
	metadata_options.events = (struct event_set *)fixture; /* only handed through */
	metadata_options.table = fixture->table;
	metadata_options.symbolizer = fixture->symbolizer;
	metadata_options.kernel = fixture->kernel;
	metadata_options.synth = (struct synth *)fixture;
	/* The worker is held off the rings: the test drains. */
	fake_cpus[0].metadata = fake_cpus[1].metadata = NULL;
	if (metadata_start(&metadata_options, &fixture->metadata, &err) < 0)
		return -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	metadata_stop(fixture->metadata);
	thread_table_free(fixture->table);
	dso_put(fixture->kernel);
	symbolizer_free(fixture->symbolizer);
	dso_table_free(fixture->dsos);
	free(fixture);
	return 0;
}

static void show_rings(struct fixture *fixture, bool shown)
{
	metadata_pause(fixture->metadata);
	for (size_t i = 0; i < NR_FAKE_CPUS; i++)
		fake_cpus[i].metadata = shown ? &fake_metadata[i] : NULL;
	metadata_resume(fixture->metadata);
}

static void drain(struct fixture *fixture, uint64_t cut_ns)
{
	show_rings(fixture, true);
	metadata_drain(fixture->metadata, base_ns + cut_ns);
	show_rings(fixture, false);
}

static void put_trailer(struct build *build, uint32_t pid, uint64_t time)
{
	put_pair(build, pid, pid);
	put(build, base_ns + time);
	put_pair(build, 0, 0);
	end(build);
}

static void put_text(struct build *build, const char *text)
{
	uint64_t words[8] = { 0 };

	snprintf((char *)words, sizeof(words), "%s", text);
	for (size_t i = 0; i <= strlen(text) / 8; i++)
		put(build, words[i]);
}

static void put_comm(unsigned int cpu, uint32_t pid, const char *comm, bool exec, uint64_t time)
{
	struct build *build = fake_put(&fake_metadata[cpu]);

	begin(build, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put_pair(build, pid, pid);
	put_text(build, comm);
	put_trailer(build, pid, time);
}

static void put_fork(unsigned int cpu, uint32_t pid, uint32_t ppid, uint64_t time)
{
	struct build *build = fake_put(&fake_metadata[cpu]);

	begin(build, PERF_RECORD_FORK, 0);
	put_pair(build, pid, ppid);
	put_pair(build, pid, ppid);
	put(build, base_ns + time);
	put_trailer(build, ppid, time);
}

static void put_mmap(unsigned int cpu, uint32_t pid, uint64_t addr, uint64_t len, uint32_t prot,
		     uint64_t time)
{
	struct build *build = fake_put(&fake_metadata[cpu]);

	begin(build, PERF_RECORD_MMAP2, 0);
	put_pair(build, pid, pid);
	put(build, addr);
	put(build, len);
	put(build, 0);
	put_pair(build, 8, 1);
	put(build, 77);
	put(build, 0);
	put_pair(build, prot, 2);
	put_text(build, "/bin/app");
	put_trailer(build, pid, time);
}

static void assert_comm(struct fixture *fixture, uint32_t pid, uint64_t time, const char *comm)
{
	struct task *task = thread_table_get(fixture->table, pid, pid, base_ns + time, NULL);
	struct str *text = task_comm(fixture->table, task, base_ns + time);

	assert_string_equal(text->text, comm);
	str_put(text);
	task_put(task);
}

static bool is_mapped(struct fixture *fixture, uint32_t pid, uint64_t ip, uint64_t time)
{
	struct task *task = thread_table_get(fixture->table, pid, pid, base_ns + time, NULL);
	struct location location;
	bool found = thread_table_locate(fixture->table, task, ip, base_ns + time, &location) ==
		     LOCATE_FOUND;

	if (found)
		dso_put(location.dso);
	task_put(task);
	return found;
}

static void test_fc014_records_of_all_cpus_apply_in_the_order_of_time(void **state)
{
	struct fixture *fixture = *state;

	/* Ring 0 is read first, and what it says came last. */
	put_comm(0, 50, "new", false, 300);
	put_fork(1, 50, 1, 100);
	put_comm(1, 50, "old", true, 200);
	drain(fixture, 1000);
	assert_comm(fixture, 50, 250, "old");
	assert_comm(fixture, 50, 350, "new");
}

static void test_records_after_the_cut_wait(void **state)
{
	struct fixture *fixture = *state;
	struct metadata_figures figures;

	put_fork(0, 50, 1, 100);
	put_comm(0, 50, "early", true, 200);
	put_comm(0, 50, "late", false, 2000);
	drain(fixture, 1000);
	assert_comm(fixture, 50, 3000, "early");
	/* One that is older came on another CPU meanwhile. */
	put_comm(1, 50, "between", false, 1500);
	drain(fixture, 5000);
	assert_comm(fixture, 50, 1600, "between");
	assert_comm(fixture, 50, 3000, "late");
	metadata_get_figures(fixture->metadata, &figures);
	assert_int_equal(figures.nr_records, 4);
	assert_int_equal(figures.nr_malformed, 0);
}

static void test_only_executable_maps_count(void **state)
{
	struct fixture *fixture = *state;

	put_fork(0, 50, 1, 100);
	put_comm(0, 50, "app", true, 200);
	put_mmap(0, 50, 0x1000, 0x1000, 5, 210);
	put_mmap(0, 50, 0x8000, 0x1000, 3, 211);
	put_mmap(0, 50, UINT64_MAX - 10, 0x1000, 5, 212); /* wraps */
	drain(fixture, 1000);
	assert_true(is_mapped(fixture, 50, 0x1800, 300));
	assert_false(is_mapped(fixture, 50, 0x1800, 205));
	assert_false(is_mapped(fixture, 50, 0x8800, 300));
	assert_false(is_mapped(fixture, 50, UINT64_MAX - 5, 300));
}

static void test_lost_and_broken_records_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct metadata_figures figures;
	struct build *build = fake_put(&fake_metadata[0]);

	begin(build, PERF_RECORD_LOST, 0);
	put(build, 1);
	put(build, 17);
	put_trailer(build, 0, 100);
	build = fake_put(&fake_metadata[0]);
	begin(build, PERF_RECORD_COMM, 0); /* no room for anything */
	end(build);
	build = fake_put(&fake_metadata[0]);
	begin(build, 62, 0);
	put_trailer(build, 0, 100);
	drain(fixture, 1000);
	metadata_get_figures(fixture->metadata, &figures);
	assert_int_equal(figures.nr_lost, 17);
	assert_int_equal(figures.nr_malformed, 1);
	assert_int_equal(figures.nr_unknown, 1);
}

static void test_who_execs_is_looked_at_for_its_user(void **state)
{
	struct fixture *fixture = *state;

	put_fork(0, 50, 1, 100);
	put_comm(0, 50, "renamed", false, 150);
	put_comm(0, 51, "started", true, 200);
	drain(fixture, 1000);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0], 51);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_fc014_records_of_all_cpus_apply_in_the_order_of_time),
		CASE(test_records_after_the_cut_wait),
		CASE(test_only_executable_maps_count),
		CASE(test_lost_and_broken_records_are_counted),
		CASE(test_who_execs_is_looked_at_for_its_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
