/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "fake_rings.h"

#include "core/affinity.h"
#include "core/reader.h"

struct fixture {
	struct dso_table *dsos;
	struct thread_table *table;
	struct dso *kernel, *unknown, *guest;
	struct reader *reader;
	uint64_t changed[1024];
	struct cpumap cpumap;
	uint16_t nodes[NR_FAKE_CPUS];
};

/* ---- the synthesizer, which only writes down what it is asked ---- */

static uint32_t asked[16];
static size_t nr_asked;

void synth_request(struct synth *synth, uint32_t pid)
{
	(void)synth;
	assert_true(nr_asked < ARRAY_SIZE(asked));
	asked[nr_asked++] = pid;
}

/* ---- a recording, which only counts; records of the fake rings do not lie side by side ---- */

static struct recorded {
	size_t nr_spans, nr_records, len, nr_flushes;
	uint64_t newest_ns;
	bool off;
	int nr_streams;
} recorded;

struct record_stream *record_stream_new(struct recorder *recorder)
{
	recorded.nr_streams++;
	return (struct record_stream *)recorder;
}

void record_stream_free(struct record_stream *stream)
{
	recorded.nr_streams -= stream != NULL;
}

void record_stream_set_node(struct record_stream *stream, unsigned int node)
{
	(void)stream;
	(void)node;
}

bool record_stream_is_on(const struct record_stream *stream)
{
	(void)stream;
	return !recorded.off;
}

void record_stream_add(struct record_stream *stream, const void *records, size_t len, size_t nr,
		       uint64_t newest_ns)
{
	assert_non_null(stream);
	assert_non_null(records);
	recorded.nr_spans++;
	recorded.nr_records += nr;
	recorded.len += len;
	recorded.newest_ns = newest_ns;
}

void record_stream_flush(struct record_stream *stream)
{
	assert_non_null(stream);
	recorded.nr_flushes++;
}

/* ---- */

static struct dso *special(struct fixture *fixture, enum dso_kind kind, uint64_t inode)
{
	const struct dso_key key = { .kind = kind, .inode = inode };

	return dso_table_get(fixture->dsos, &key, "[x]", 0, NULL);
}

static struct reader *make_reader(struct fixture *fixture, enum reader_affinity affinity)
{
	const struct reader_options options = {
		.events = (struct event_set *)fixture, /* only handed through */
		.table = fixture->table,
		.synth = (struct synth *)fixture,
		.recorder = (struct recorder *)fixture,
		.kernel = fixture->kernel,
		.unknown = fixture->unknown,
		.guest = fixture->guest,
		.cpumap = &fixture->cpumap,
		.affinity = affinity,
	};
	struct reader *reader = reader_new(&options);

	for (size_t i = 0; i < NR_FAKE_CPUS; i++)
		reader_add_cpu(reader, i);
	return reader;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct thread_table_options options = { 0 };

	fixture->dsos = dso_table_new();
	options.dsos = fixture->dsos;
	fixture->table = thread_table_new(&options);
	fixture->kernel = special(fixture, DSO_KERNEL, 0);
	fixture->unknown = special(fixture, DSO_UNKNOWN, 0);
	fixture->guest = special(fixture, DSO_UNKNOWN, 1);
	fixture->cpumap.node_of_cpu = fixture->nodes;
	fixture->cpumap.nr_node_of_cpu = NR_FAKE_CPUS;
	for (unsigned int i = 0; i < NR_FAKE_CPUS; i++)
		cpuset_add(&fixture->cpumap.possible, i);
	recorded = (struct recorded){ .off = true };
	fixture->reader = make_reader(fixture, AFFINITY_SYS);
	fake_rings_init();
	nr_asked = 0;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	uint64_t nr_dsos, nr_files;

	reader_free(fixture->reader);
	assert_int_equal(recorded.nr_streams, 0);
	thread_table_free(fixture->table);
	dso_put(fixture->kernel);
	dso_put(fixture->unknown);
	dso_put(fixture->guest);
	dso_table_stats(fixture->dsos, &nr_dsos, &nr_files);
	assert_int_equal(nr_dsos, 0); /* no reference was lost */
	dso_table_free(fixture->dsos);
	free(fixture);
	return 0;
}

/* A process that was exec'ed in our sight, with one file mapped at 0x1000. */
static void add_process(struct fixture *fixture, uint32_t pid, const char *comm, uint64_t time,
			uint64_t inode)
{
	const struct map_fact map = {
		.start = 0x1000,
		.end = 0x3000,
		.pgoff = 0x500,
		.dev_major = 8,
		.inode = inode,
		.path = "/bin/x",
	};

	thread_table_fork(fixture->table, pid, pid, 1, 1, time);
	thread_table_comm(fixture->table, pid, pid, comm, true, time + 1);
	thread_table_mmap(fixture->table, pid, &map, time + 2);
}

static void read_all(struct fixture *fixture, uint64_t cut_ns)
{
	reader_read(fixture->reader, cut_ns, fixture->changed);
}

static void test_a_user_sample_gets_its_file_and_offset(void **state)
{
	struct fixture *fixture = *state;
	const struct placed *placed;

	add_process(fixture, 42, "app", 10, 7);
	fake_sample(1, 42, 42, 0x1234, 100, PERF_RECORD_MISC_USER);
	fake_sample(1, 42, 42, 0x1234, 101, PERF_RECORD_MISC_USER);
	read_all(fixture, 1000);
	assert_int_equal(reader_locate(fixture->reader), 0);
	assert_int_equal(reader_nr_placed(fixture->reader), 1);
	placed = reader_placed(fixture->reader, 0);
	assert_int_equal(placed->nr_samples, 2);
	assert_int_equal(placed->period, 500000);
	assert_int_equal(placed->key.offset, 0x734);
	assert_int_equal(placed->key.cpu, 1);
	assert_int_equal(placed->key.flags, 0);
	assert_string_equal(placed->key.comm->text, "app");
	assert_string_equal(dso_path(placed->key.dso)->text, "/bin/x");
	reader_clear(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 0);
}

static void test_kernel_guest_and_strange_modes_have_their_dsos(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		uint16_t mode;
		uint8_t flags;
	} cases[] = {
		{ PERF_RECORD_MISC_KERNEL, CELL_KERNEL },
		{ PERF_RECORD_MISC_GUEST_KERNEL, CELL_KERNEL | CELL_GUEST },
		{ PERF_RECORD_MISC_GUEST_USER, CELL_GUEST },
		{ PERF_RECORD_MISC_CPUMODE_UNKNOWN, CELL_UNRESOLVED },
	};

	add_process(fixture, 42, "app", 10, 7);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		fake_sample(0, 42, 42, 0x1234, 100 + i, cases[i].mode);
	read_all(fixture, 1000);
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), ARRAY_SIZE(cases));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		/* Newest first. */
		const struct placed *placed =
			reader_placed(fixture->reader, ARRAY_SIZE(cases) - 1 - i);

		assert_int_equal(placed->key.flags, cases[i].flags);
		assert_int_equal(placed->key.offset, 0x1234);
	}
	reader_clear(fixture->reader);
}

static void test_samples_after_the_cut_stay_for_the_next_read(void **state)
{
	struct fixture *fixture = *state;
	struct reader_figures figures;

	add_process(fixture, 42, "app", 10, 7);
	for (uint64_t time = 100; time < 110; time++)
		fake_sample(0, 42, 42, 0x1000 + time, time, PERF_RECORD_MISC_USER);
	read_all(fixture, 104);
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 5);
	reader_clear(fixture->reader);
	read_all(fixture, 1000);
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 5);
	reader_clear(fixture->reader);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_samples, 10);
}

static void test_an_out_of_order_sample_is_counted_once(void **state)
{
	struct fixture *fixture = *state;
	struct reader_figures figures;

	add_process(fixture, 42, "app", 10, 7);
	fake_sample(0, 42, 42, 0x1001, 100, PERF_RECORD_MISC_USER);
	fake_sample(0, 42, 42, 0x1002, 300,
		    PERF_RECORD_MISC_USER); /* an NMI's, too early in the ring */
	fake_sample(0, 42, 42, 0x1003, 150, PERF_RECORD_MISC_USER);
	fake_sample(0, 42, 42, 0x1004, 310, PERF_RECORD_MISC_USER);
	read_all(fixture, 200);
	read_all(fixture, 1000);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_samples, 4);
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 4);
	reader_clear(fixture->reader);
}

static void test_fc108_a_process_that_changed_is_located_sample_by_sample(void **state)
{
	struct fixture *fixture = *state;
	const char *names[2];

	add_process(fixture, 42, "first", 10, 7);
	thread_table_exit(fixture->table, 42, 42, 150);
	add_process(fixture, 42, "second", 160, 8);
	fake_sample(0, 42, 42, 0x1500, 140, PERF_RECORD_MISC_USER);
	fake_sample(0, 42, 42, 0x1500, 180, PERF_RECORD_MISC_USER);
	thread_table_take_changed(fixture->table, fixture->changed);
	read_all(fixture, 1000);
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 2);
	for (size_t i = 0; i < 2; i++)
		names[i] = reader_placed(fixture->reader, i)->key.comm->text;
	assert_string_equal(names[0], "second"); /* newest first */
	assert_string_equal(names[1], "first");
	assert_ptr_not_equal(reader_placed(fixture->reader, 0)->key.dso,
			     reader_placed(fixture->reader, 1)->key.dso);
	reader_clear(fixture->reader);
}

static void test_an_unknown_task_is_asked_for_once_and_placed_when_known(void **state)
{
	struct fixture *fixture = *state;
	const struct synth_thread thread = { .tid = 77, .comm = "late" };
	const struct map_fact map = {
		.start = 0x1000, .end = 0x2000, .inode = 9, .dev_major = 8, .path = "/bin/late"
	};
	const struct synth_process process = {
		.pid = 77,
		.has_maps = true,
		.scan_start_ns = 500,
		.scan_end_ns = 501,
		.threads = &thread,
		.nr_threads = 1,
		.maps = &map,
		.nr_maps = 1,
	};
	struct reader_figures figures;

	fake_sample(0, 77, 77, 0x1800, 100, PERF_RECORD_MISC_USER);
	fake_sample(0, 77, 77, 0x1800, 101, PERF_RECORD_MISC_USER);
	fake_sample(0, 77, 77, 0x9900, 102, PERF_RECORD_MISC_KERNEL);
	read_all(fixture, 1000);
	assert_int_equal(reader_locate(fixture->reader), 2);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0], 77);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_deferred, 3);
	assert_int_equal(reader_nr_placed(fixture->reader), 0);
	thread_table_synthesize(fixture->table, &process);
	assert_int_equal(reader_locate(fixture->reader), 0); /* in the same tick */
	assert_int_equal(reader_nr_placed(fixture->reader), 2);
	assert_string_equal(reader_placed(fixture->reader, 0)->key.comm->text, "late");
	assert_int_equal(nr_asked, 1);
	reader_clear(fixture->reader);
}

static void test_what_never_becomes_known_is_placed_as_unresolved(void **state)
{
	struct fixture *fixture = *state;
	int ticks = 0;

	fake_sample(0, 77, 77, 0x1800, 100, PERF_RECORD_MISC_USER);
	while (ticks < 50) {
		read_all(fixture, 1000);
		reader_locate(fixture->reader);
		if (reader_nr_placed(fixture->reader))
			break;
		reader_clear(fixture->reader);
		ticks++;
	}
	assert_in_range(ticks, 2, 20);
	assert_int_equal(reader_nr_placed(fixture->reader), 1);
	assert_int_equal(reader_placed(fixture->reader, 0)->key.flags, CELL_UNRESOLVED);
	assert_int_equal(reader_placed(fixture->reader, 0)->nr_samples, 1);
	reader_clear(fixture->reader);
}

static void test_a_chain_is_callers_only_each_in_its_dso(void **state)
{
	struct fixture *fixture = *state;
	struct build *build = fake_put(&fake_samples[0]);
	const struct location *frames;
	const struct placed *placed;
	static const uint64_t chain[] = { PERF_CONTEXT_KERNEL,
					  0xffff1000,
					  0xffff2000,
					  PERF_CONTEXT_USER,
					  0x1100,
					  0x666000,
					  0x1200 };

	add_process(fixture, 42, "app", 10, 7);
	fake_sample_format.sample_type |= PERF_SAMPLE_CALLCHAIN;
	begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put(build, 0xffff1000);
	put_pair(build, 42, 42);
	put(build, 100);
	put_pair(build, 0, 0);
	put(build, 1);
	put(build, ARRAY_SIZE(chain));
	for (size_t i = 0; i < ARRAY_SIZE(chain); i++)
		put(build, chain[i]);
	end(build);
	read_all(fixture, 1000);
	fake_sample_format.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	reader_locate(fixture->reader);
	assert_int_equal(reader_nr_placed(fixture->reader), 1);
	placed = reader_placed(fixture->reader, 0);
	assert_int_equal(placed->nr_frames, 4);
	frames = reader_frames(fixture->reader, placed);
	assert_ptr_equal(frames[0].dso, fixture->kernel);
	assert_int_equal(frames[0].offset, 0xffff2000);
	assert_int_equal(frames[1].offset, 0x600);
	assert_ptr_equal(frames[2].dso, fixture->unknown); /* FC-077 */
	assert_int_equal(frames[2].offset, 0);
	assert_int_equal(frames[3].offset, 0x700);
	reader_clear(fixture->reader);
}

static void test_odd_records_are_counted_and_nothing_else(void **state)
{
	struct fixture *fixture = *state;
	struct reader_figures figures;
	struct build *build = fake_put(&fake_samples[0]);

	begin(build, PERF_RECORD_SAMPLE, 0); /* too short */
	end(build);
	build = fake_put(&fake_samples[0]);
	begin(build, PERF_RECORD_THROTTLE, 0);
	put(build, 1);
	put(build, 2);
	put(build, 3);
	end(build);
	build = fake_put(&fake_samples[0]);
	begin(build, PERF_RECORD_LOST, 0);
	put(build, 1);
	put(build, 1234);
	end(build);
	build = fake_put(&fake_samples[0]);
	begin(build, 60000, 0);
	end(build);
	read_all(fixture, 1000);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_malformed, 2);
	assert_int_equal(figures.nr_throttled, 1);
	assert_int_equal(figures.nr_lost, 1234);
	assert_int_equal(figures.nr_samples, 0);
}

static void test_idle_is_told_by_its_pid_and_not_busy(void **state)
{
	struct fixture *fixture = *state;
	uint64_t nr, nr_busy;

	fake_sample(1, 0, 0, 0xffff, 100, PERF_RECORD_MISC_KERNEL);
	fake_sample(1, 42, 42, 0xffff, 101, PERF_RECORD_MISC_KERNEL);
	read_all(fixture, 1000);
	reader_cpu_samples(fixture->reader, 1, &nr, &nr_busy);
	assert_int_equal(nr, 2);
	assert_int_equal(nr_busy, 1);
	reader_cpu_samples(fixture->reader, 0, &nr, &nr_busy);
	assert_int_equal(nr, 0);
}

static void test_a_reader_goes_to_the_cpu_and_comes_home(void **state)
{
	struct fixture *fixture = *state;
	struct cpuset before, after;
	struct reader_figures figures;

	reader_free(fixture->reader);
	fixture->reader = make_reader(fixture, AFFINITY_CPU);
	assert_int_equal(affinity_get(&before), 0);
	fake_sample(0, 0, 0, 1, 100, PERF_RECORD_MISC_KERNEL);
	read_all(fixture, 1000);
	assert_int_equal(affinity_get(&after), 0);
	assert_memory_equal(&before, &after, sizeof(before));
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_moves, NR_FAKE_CPUS);
}

static void test_a_reader_of_one_node_stays_there(void **state)
{
	struct fixture *fixture = *state;
	struct reader_figures figures;
	struct cpuset home;

	assert_int_equal(affinity_get(&home), 0);
	reader_free(fixture->reader);
	fixture->reader = make_reader(fixture, AFFINITY_NODE);
	for (int i = 0; i < 3; i++)
		read_all(fixture, 1000);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_moves, 1);
	assert_int_equal(affinity_set(&home), 0);
}

/* ---- recording ---- */

static void put_lost(unsigned int cpu, uint64_t nr, uint64_t time)
{
	struct build *build = fake_put(&fake_samples[cpu]);

	begin(build, PERF_RECORD_LOST, 0);
	put(build, 1);
	put(build, nr);
	put_pair(build, 42, 42);
	put(build, time);
	put_pair(build, cpu, 0);
	end(build);
}

static void test_what_is_read_is_recorded_once_though_a_cut_lies_in_it(void **state)
{
	struct fixture *fixture = *state;

	recorded.off = false;
	add_process(fixture, 42, "app", 10, 7);
	for (uint64_t time = 100; time < 110; time++)
		fake_sample(0, 42, 42, 0x1234, time, PERF_RECORD_MISC_USER);
	read_all(fixture, 105);
	assert_int_equal(recorded.nr_records, 6);
	assert_int_equal(recorded.nr_spans, 1);
	assert_int_equal(recorded.newest_ns, 105);
	assert_int_equal(recorded.len, 6 * 48);
	assert_int_equal(recorded.nr_flushes, 1);
	read_all(fixture, 1000);
	assert_int_equal(recorded.nr_records, 10);
	assert_int_equal(recorded.newest_ns, 109);
}

static void test_nothing_is_recorded_while_it_is_off(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(0, 42, 42, 0x1234, 100, PERF_RECORD_MISC_USER);
	put_lost(0, 3, 101);
	read_all(fixture, 1000);
	assert_int_equal(recorded.nr_records, 0);
}

static void test_a_malformed_record_is_left_out_of_the_recording(void **state)
{
	struct fixture *fixture = *state;
	struct build *build;

	recorded.off = false;
	fake_sample(0, 42, 42, 0x1234, 100, PERF_RECORD_MISC_USER);
	build = fake_put(&fake_samples[0]);
	begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(build, 0x1234);
	end(build);
	fake_sample(0, 42, 42, 0x1234, 102, PERF_RECORD_MISC_USER);
	read_all(fixture, 1000);
	assert_int_equal(recorded.nr_records, 2);
	assert_int_equal(recorded.nr_spans, 2);
	assert_int_equal(recorded.len, 2 * 48);
}

/* The kernel gives page faults the id of another session's event, while there is one. */
static void test_a_sample_of_a_foreign_event_is_left_out_of_the_recording(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t sample_type = fake_sample_format.sample_type;
	struct build *build;

	recorded.off = false;
	fake_sample_format.sample_type |= PERF_SAMPLE_IDENTIFIER;
	for (uint64_t id = 665; id <= 667; id++) {
		build = fake_put(&fake_samples[0]);
		begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put(build, id);
		put(build, 0x1234);
		put_pair(build, 42, 42);
		put(build, 100 + id);
		put_pair(build, 0, 0);
		put(build, 250000);
		end(build);
	}
	read_all(fixture, 1000);
	fake_sample_format.sample_type = sample_type;
	assert_int_equal(recorded.nr_records, 2);
	assert_int_equal(recorded.nr_spans, 2);
}

static void test_a_record_of_losses_counts_once_when_a_cut_lies_before_it(void **state)
{
	struct fixture *fixture = *state;
	struct reader_figures figures;

	recorded.off = false;
	fake_sample_format.sample_id_all = true;
	fake_sample(0, 42, 42, 0x1234, 100, PERF_RECORD_MISC_USER);
	fake_sample(0, 42, 42, 0x1234, 200, PERF_RECORD_MISC_USER);
	put_lost(0, 3, 201);
	read_all(fixture, 150);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_lost, 0);
	assert_int_equal(recorded.nr_records, 1);
	read_all(fixture, 1000);
	reader_get_figures(fixture->reader, &figures);
	assert_int_equal(figures.nr_lost, 3);
	assert_int_equal(recorded.nr_records, 3);
	fake_sample_format.sample_id_all = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_a_user_sample_gets_its_file_and_offset),
		CASE(test_kernel_guest_and_strange_modes_have_their_dsos),
		CASE(test_samples_after_the_cut_stay_for_the_next_read),
		CASE(test_an_out_of_order_sample_is_counted_once),
		CASE(test_fc108_a_process_that_changed_is_located_sample_by_sample),
		CASE(test_an_unknown_task_is_asked_for_once_and_placed_when_known),
		CASE(test_what_never_becomes_known_is_placed_as_unresolved),
		CASE(test_a_chain_is_callers_only_each_in_its_dso),
		CASE(test_odd_records_are_counted_and_nothing_else),
		CASE(test_idle_is_told_by_its_pid_and_not_busy),
		CASE(test_a_reader_goes_to_the_cpu_and_comes_home),
		CASE(test_a_reader_of_one_node_stays_there),
		CASE(test_what_is_read_is_recorded_once_though_a_cut_lies_in_it),
		CASE(test_nothing_is_recorded_while_it_is_off),
		CASE(test_a_malformed_record_is_left_out_of_the_recording),
		CASE(test_a_sample_of_a_foreign_event_is_left_out_of_the_recording),
		CASE(test_a_record_of_losses_counts_once_when_a_cut_lies_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
