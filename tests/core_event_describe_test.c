/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a perf.data file is told of the events. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/perf_data_write.h"
#include "tests/event_set_fixture.h"

static struct perf_data_write_event *described;
static size_t nr_described;

static void describe(void)
{
	nr_described = event_set_describe(set, &described);
}

static void forget(void)
{
	event_set_describe_free(described, nr_described);
}

static void test_one_event_stands_for_all_records_and_has_no_ids(void **state)
{
	const uint64_t trailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	(void)state;
	add_named("cycles", 0);
	must_open();
	describe();
	assert_int_equal(nr_described, 1);
	assert_string_equal(described[0].name, "cycles");
	assert_int_equal(described[0].nr_ids, 0);
	assert_int_equal(described[0].attr.sample_type, event_set_sample_format(set)->sample_type);
	/* Metadata has the same at its end, though its event asks for less. */
	assert_int_equal(event_set_metadata_format(set)->sample_type, trailer);
	assert_int_equal(described[0].attr.sample_type &
				 (trailer | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID |
				  PERF_SAMPLE_STREAM_ID),
			 trailer);
	assert_true(described[0].attr.sample_id_all);
	forget();
}

static bool has_id(const struct perf_data_write_event *event, uint64_t id)
{
	for (size_t i = 0; i < event->nr_ids; i++) {
		if (event->ids[i] == id)
			return true;
	}
	return false;
}

/* That of the calls which opened what is open now. */
static const struct perf_data_write_event *owner(const struct fake_open *call)
{
	bool is_hardware = fake_is_hardware(&call->attr);

	return &described[is_hardware ? call->attr.config : nr_described - 1];
}

static void test_several_events_and_the_metadata_have_the_ids_of_all_cpus(void **state)
{
	size_t nr = 0;

	(void)state;
	set_cpus("0-3", "0-3");
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	describe();
	assert_int_equal(nr_described, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(described[i].nr_ids, 4);
		assert_true(described[i].attr.sample_type & PERF_SAMPLE_IDENTIFIER);
		assert_true(described[i].attr.sample_id_all);
	}
	for (size_t i = 0; i < fake.nr_opens; i++) {
		const struct fake_open *call = &fake.opens[i];

		if (!fake_is_open(call))
			continue;
		assert_true(has_id(owner(call), call->id));
		nr++;
	}
	assert_int_equal(nr, 12);
	assert_true(described[2].attr.mmap && described[2].attr.comm && described[2].attr.task);
	forget();
}

static void test_ids_of_a_cpu_that_came_later_are_told(void **state)
{
	unsigned int nr_opened, nr_closed;

	(void)state;
	set_cpus("0-1", "0-3");
	add_named("cycles", 0);
	add_named("instructions", 1);
	must_open();
	set_cpus("0-2", "0-3");
	assert_int_equal(event_set_refresh_cpus(set, &cpumap, &nr_opened, &nr_closed, &err), 0);
	assert_int_equal(nr_opened, 1);
	describe();
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(described[i].nr_ids, 3);
	forget();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_event_stands_for_all_records_and_has_no_ids),
		TEST(test_several_events_and_the_metadata_have_the_ids_of_all_cpus),
		TEST(test_ids_of_a_cpu_that_came_later_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
