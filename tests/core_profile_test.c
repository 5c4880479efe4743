/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile over fake tasks and dsos whose references are counted. Sums are
 * checked against what was added; profile_check_invariants() after each step.
 */
#include "config.h"

#include "core/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/core_fakes.h"

#define SEC UINT64_C(1000000000)
#define NR_TASKS 50

struct fixture {
	struct task tasks[NR_TASKS];
	struct str *comm;
	struct dso *dso, *unknown;
	struct profile *profile;
	uint64_t now;
};

static void fixture_init(struct fixture *fixture, const struct profile_limits *limits)
{
	*fixture = (struct fixture){ .now = 100 * SEC };
	for (uint32_t i = 0; i < NR_TASKS; i++)
		fixture->tasks[i] = (struct task){ .nr_refs = 1, .pid = i + 1, .tid = i + 1 };
	fixture->comm = str_from("worker");
	fixture->dso = fake_dso(DSO_FILE, "/bin/worker");
	fake_symbol(fixture->dso, 0x1000, 0x2000, "one");
	fake_symbol(fixture->dso, 0x2000, 0x3000, "two");
	fixture->unknown = fake_dso(DSO_UNKNOWN, "[unknown]");
	fixture->profile = profile_new(limits, &fake_symbolizer);
}

static void fixture_release(struct fixture *fixture)
{
	uint64_t nr, bytes;

	profile_free(fixture->profile);
	for (size_t i = 0; i < NR_TASKS; i++)
		assert_int_equal(fixture->tasks[i].nr_refs, 1);
	fake_dso_free(fixture->dso);
	fake_dso_free(fixture->unknown);
	str_put(fixture->comm);
	str_stats(&nr, &bytes);
	assert_int_equal(nr, 0);
}

static struct cell_key key_of(struct fixture *fixture, size_t task, uint64_t offset)
{
	return (struct cell_key){
		.task = &fixture->tasks[task],
		.comm = fixture->comm,
		.dso = fixture->dso,
		.offset = offset,
		.chain = CHAIN_NONE,
	};
}

static void begin(struct fixture *fixture, uint64_t length_ns)
{
	profile_slot_begin(fixture->profile, fixture->now, fixture->now + length_ns);
	fixture->now += length_ns;
}

static void end(struct fixture *fixture)
{
	profile_slot_end(fixture->profile);
	profile_check_invariants(fixture->profile);
}

static void add(struct fixture *fixture, size_t task, uint64_t offset, uint64_t nr)
{
	struct cell_key key = key_of(fixture, task, offset);

	profile_add(fixture->profile, &key, nr, 10 * nr);
}

/* A slot of one second with one cell. */
static void tick(struct fixture *fixture, uint64_t offset, uint64_t nr)
{
	begin(fixture, SEC);
	add(fixture, 0, offset, nr);
	end(fixture);
}

struct sum {
	size_t nr_cells;
	double nr_samples, period;
	uint64_t only_offset;
	double of_offset;
	uint64_t start_ns, end_ns;
	struct cell_key last;
};

static void sum_cell(void *arg, const struct cell_view *cell)
{
	struct sum *sum = arg;

	sum->nr_cells++;
	sum->nr_samples += cell->nr_samples;
	sum->period += cell->period;
	if (cell->key.offset == sum->only_offset)
		sum->of_offset += cell->nr_samples;
	sum->last = cell->key;
}

static struct sum sum_of(struct fixture *fixture, struct window window, uint64_t only_offset)
{
	struct sum sum = { .only_offset = only_offset };

	profile_each(fixture->profile, &window, sum_cell, &sum, &sum.start_ns, &sum.end_ns);
	return sum;
}

static void assert_near(double value, double wanted)
{
	if (!(value > wanted - 1e-6 && value < wanted + 1e-6))
		fail_msg("%f instead of %f", value, wanted);
}

static void test_an_empty_profile_has_nothing(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	profile_check_invariants(fixture.profile);
	for (int kind = WINDOW_TICK; kind <= WINDOW_ALL; kind++) {
		sum = sum_of(&fixture, (struct window){ .kind = (enum window_kind)kind }, 0);
		assert_int_equal(sum.nr_cells, 0);
		assert_true(!sum.start_ns && !sum.end_ns);
	}
	assert_true(!profile_oldest_ns(fixture.profile));
	begin(&fixture, SEC);
	end(&fixture);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_DECAY }, 0);
	assert_int_equal(sum.nr_cells, 0);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_slots == 1 && !stats.nr_cells && !stats.slot_bytes);
	profile_free(NULL);
	fixture_release(&fixture);
}

static void test_the_same_cell_in_a_slot_is_one_entry(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	begin(&fixture, SEC);
	for (int reader = 0; reader < 3; reader++) {
		for (size_t task = 0; task < 4; task++)
			add(&fixture, task, 0x1000, 2);
	}
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_cells == 4 && stats.slot_bytes == 64);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0x1000);
	assert_int_equal(sum.nr_cells, 4);
	assert_near(sum.of_offset, 24);
	assert_near(sum.period, 240);
	fixture_release(&fixture);
}

static void test_every_part_of_the_key_tells_cells_apart(void **state)
{
	struct str *other = str_from("other");
	struct fixture fixture;
	struct profile_stats stats;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture, NULL);
	begin(&fixture, SEC);
	for (int what = 0; what < 9; what++) {
		key = key_of(&fixture, what == 1, 0x1000 + (what == 2));
		key.comm = what == 3 ? other : key.comm;
		key.dso = what == 4 ? fixture.unknown : key.dso;
		key.cpu = what == 5;
		key.event = what == 6 ? 256 : 0; /* 0 in a byte */
		key.flags = what == 7 ? CELL_KERNEL : 0;
		if (what == 8)
			key.chain = chain_table_add(profile_chains(fixture.profile),
						    &(struct location){ fixture.dso, 1 }, 1);
		profile_add(fixture.profile, &key, 1, 1);
	}
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_cells, 9);
	str_put(other);
	fixture_release(&fixture);
}

static void test_windows_take_their_slots(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	for (uint64_t i = 0; i < 20; i++)
		tick(&fixture, 0x1000 + i, i + 1);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_near(sum.nr_samples, 20);
	assert_true(sum.start_ns == 119 * SEC && sum.end_ns == 120 * SEC);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TIME, .length_ns = 3 * SEC }, 0);
	assert_near(sum.nr_samples, 20 + 19 + 18);
	assert_true(sum.start_ns == 117 * SEC && sum.end_ns == 120 * SEC);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TIME }, 0);
	assert_near(sum.nr_samples, 20);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TIME, .length_ns = UINT64_MAX }, 0);
	assert_near(sum.nr_samples, 210);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0);
	assert_near(sum.nr_samples, 210);
	assert_near(sum.period, 2100);
	assert_true(sum.start_ns == 100 * SEC && sum.end_ns == 120 * SEC);
	assert_true(profile_oldest_ns(fixture.profile) == 100 * SEC);
	fixture_release(&fixture);
}

/* Ticks of 2 s that come 1 ms early or late are five in ten seconds either way. */
static void test_a_time_window_does_not_jump_with_jitter(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	for (uint64_t jitter = 0; jitter <= 2; jitter++) {
		fixture_init(&fixture, NULL);
		for (int i = 0; i < 9; i++) {
			begin(&fixture, 2 * SEC + jitter * 1000000 - 1000000);
			add(&fixture, 0, 0x1000, 1);
			end(&fixture);
		}
		sum = sum_of(&fixture,
			     (struct window){ .kind = WINDOW_TIME, .length_ns = 10 * SEC }, 0);
		assert_near(sum.nr_samples, 5);
		fixture_release(&fixture);
	}
}

static void test_decay_goes_by_time_and_not_by_slots(void **state)
{
	const struct window window = { .kind = WINDOW_DECAY, .refresh_ns = 2 * SEC };
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	tick(&fixture, 0x1000, 64);
	begin(&fixture, SEC / 10);
	end(&fixture);
	begin(&fixture, SEC / 10 * 39);
	add(&fixture, 0, 0x2000, 10);
	end(&fixture);
	/* Four seconds after the first slot's end: two refreshes. */
	sum = sum_of(&fixture, window, 0x1000);
	assert_near(sum.of_offset, 49);
	assert_near(sum.nr_samples, 59);
	/* Long ago weighs nothing, whatever it was. */
	begin(&fixture, 200 * SEC);
	end(&fixture);
	sum = sum_of(&fixture, window, 0x1000);
	assert_int_equal(sum.nr_cells, 0);
	/* No division by a refresh of 0. */
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_DECAY }, 0);
	assert_near(sum.nr_samples, 0);
	fixture_release(&fixture);
}

static void test_an_open_slot_counts_except_as_a_tick(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	begin(&fixture, SEC);
	add(&fixture, 0, 0x1000, 5);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_near(sum.nr_samples, 5);
	end(&fixture);
	begin(&fixture, SEC);
	add(&fixture, 0, 0x1000, 2);
	profile_slot_extend(fixture.profile, 103 * SEC);
	profile_slot_extend(fixture.profile, 101 * SEC);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_near(sum.nr_samples, 5);
	assert_true(sum.end_ns == 101 * SEC);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0);
	assert_near(sum.nr_samples, 7);
	assert_true(sum.end_ns == 103 * SEC);
	end(&fixture);
	fixture_release(&fixture);
}

static void test_dropped_slots_stay_in_the_totals(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_slots = 4 });
	for (uint64_t i = 0; i < 10; i++)
		tick(&fixture, 0x1000 + i, 1);
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_slots, 4);
	assert_int_equal(stats.slot_bytes, 4 * 16);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TIME, .length_ns = 100 * SEC }, 0);
	assert_near(sum.nr_samples, 4);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0);
	assert_near(sum.nr_samples, 10);
	assert_true(sum.start_ns == 100 * SEC);
	fixture_release(&fixture);
}

static void test_slots_are_bounded_by_bytes(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_slot_bytes = 1600 });
	for (int i = 0; i < 10; i++) {
		begin(&fixture, SEC);
		for (uint64_t k = 0; k < 40; k++)
			add(&fixture, 0, k, 1);
		end(&fixture);
	}
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_slots, 2);
	/* One slot that is too large by itself stays: it is what is on the screen. */
	begin(&fixture, SEC);
	for (uint64_t k = 0; k < 500; k++)
		add(&fixture, 0, k, 1);
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_slots, 1);
	fixture_release(&fixture);
}

static void test_clear_forgets_all_and_lets_go(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct cell_key key;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	begin(&fixture, SEC);
	key = key_of(&fixture, 3, 1);
	key.chain = chain_table_add(profile_chains(fixture.profile),
				    &(struct location){ fixture.dso, 1 }, 1);
	profile_add(fixture.profile, &key, 1, 1);
	assert_int_equal(fixture.tasks[3].nr_refs, 2);
	assert_int_equal(fixture.dso->nr_refs, 3);
	end(&fixture);
	profile_clear(fixture.profile);
	profile_check_invariants(fixture.profile);
	assert_int_equal(fixture.tasks[3].nr_refs, 1);
	assert_int_equal(fixture.dso->nr_refs, 1);
	profile_get_stats(fixture.profile, &stats);
	assert_true(!stats.nr_cells && !stats.nr_slots && !stats.slot_bytes &&
		    !stats.nr_chain_nodes);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0);
	assert_int_equal(sum.nr_cells, 0);
	/* In the middle of a slot. */
	begin(&fixture, SEC);
	add(&fixture, 0, 0x1000, 100);
	profile_clear(fixture.profile);
	add(&fixture, 0, 0x1000, 3);
	end(&fixture);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0);
	assert_near(sum.nr_samples, 3);
	assert_true(sum.start_ns == fixture.now);
	fixture_release(&fixture);
}

/* ---- coarsening ---- */

static void assert_sums(struct fixture *fixture, double wanted)
{
	struct sum sum = sum_of(fixture, (struct window){ .kind = WINDOW_ALL }, 0);

	assert_near(sum.nr_samples, wanted);
	assert_near(sum.period, 10 * wanted);
}

static void test_cold_cells_lose_cpu_and_chain_first(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct cell_key key;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 100 });
	begin(&fixture, SEC);
	for (size_t i = 0; i < 110; i++) {
		key = key_of(&fixture, 0, 0x1234);
		key.cpu = (uint16_t)i;
		profile_add(fixture.profile, &key, 1, 10);
	}
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_cells, 56);
	assert_int_equal(stats.nr_coarsened, 55);
	/* The offset and the task stayed. */
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0x1234);
	assert_near(sum.of_offset, 110);
	assert_ptr_equal(sum.last.task, &fixture.tasks[0]);
	assert_sums(&fixture, 110);
	fixture_release(&fixture);
}

static void test_then_the_offset_becomes_the_start_of_its_symbol(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 100 });
	begin(&fixture, SEC);
	/* Half of the cells in one, lighter; they are the colder half. */
	for (uint64_t i = 0; i < 60; i++) {
		add(&fixture, 0, 0x1100 + i, 1);
		add(&fixture, 0, 0x2100 + i, 5);
	}
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_int_equal(stats.nr_cells, 61);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0x1000);
	assert_near(sum.of_offset, 60);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0x2100);
	assert_near(sum.of_offset, 5);
	assert_sums(&fixture, 360);
	fixture_release(&fixture);
}

static void test_unnamed_offsets_are_given_up(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 100 });
	fixture.dso->pending = true;
	begin(&fixture, SEC);
	for (uint64_t i = 0; i < 120; i++) {
		struct cell_key key = key_of(&fixture, 0, 0x1100 + i);

		if (i % 2) {
			key.dso = fixture.unknown;
			key.flags = CELL_UNRESOLVED;
		}
		profile_add(fixture.profile, &key, 1, 10);
	}
	end(&fixture);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, PROFILE_NO_OFFSET);
	assert_near(sum.of_offset, 60);
	assert_sums(&fixture, 120);
	fixture_release(&fixture);
}

static void test_long_ago_is_colder_than_light(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 100 });
	begin(&fixture, SEC);
	for (uint64_t i = 0; i < 60; i++)
		add(&fixture, 0, 0x1100 + i, 100);
	end(&fixture);
	for (int i = 0; i < 8; i++) {
		begin(&fixture, SEC);
		end(&fixture);
	}
	begin(&fixture, SEC);
	for (uint64_t i = 0; i < 60; i++)
		add(&fixture, 0, 0x2100 + i, 1);
	end(&fixture);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0x1000);
	assert_near(sum.of_offset, 6000);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_ALL }, 0x2100);
	assert_near(sum.of_offset, 1);
	fixture_release(&fixture);
}

static void test_then_tasks_of_one_comm_become_one(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct window window = { .kind = WINDOW_TIME, .length_ns = 100 * SEC };
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 40 });
	for (size_t i = 0; i < NR_TASKS; i++) {
		begin(&fixture, SEC);
		add(&fixture, i, 0x1000, 2);
		add(&fixture, 0, 0x2000, 1);
		end(&fixture);
		profile_get_stats(fixture.profile, &stats);
		assert_true(stats.nr_cells <= 40);
	}
	assert_sums(&fixture, 3 * NR_TASKS);
	/* By slot too: the offset of the hot cell is there in each. */
	sum = sum_of(&fixture, window, 0x2000);
	assert_near(sum.of_offset, NR_TASKS);
	assert_near(sum.nr_samples, 3 * NR_TASKS);
	assert_int_equal(fixture.tasks[1].nr_refs, 1);
	assert_int_equal(fixture.tasks[NR_TASKS - 1].nr_refs, 2);
	fixture_release(&fixture);
}

/* Whatever is thrown at it, the number of cells is bounded, in the middle of a slot too. */
static void test_the_bound_is_hard(void **state)
{
	struct str *comms[300];
	struct fixture fixture;
	struct profile_stats stats;
	struct cell_key key;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 64 });
	fixture.dso->nr_symbols = 0;
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++) {
		char text[16];

		snprintf(text, sizeof(text), "comm %zu", i);
		comms[i] = str_from(text);
	}
	begin(&fixture, SEC);
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++) {
		key = key_of(&fixture, i % NR_TASKS, i);
		key.comm = comms[i];
		profile_add(fixture.profile, &key, 1, 10);
		profile_get_stats(fixture.profile, &stats);
		assert_true(stats.nr_cells <= 2 * 64);
		profile_check_invariants(fixture.profile);
	}
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_cells <= 64);
	assert_sums(&fixture, 300);
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++)
		str_put(comms[i]);
	fixture_release(&fixture);
}

/* Short processes that come and go, each with new tasks: the past is let go of. */
static void test_fc115_what_aged_out_is_coarsened_below_its_own_limit(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_cells = 400, .max_slots = 2 });
	for (uint64_t i = 0; i < 500; i++) {
		begin(&fixture, SEC);
		for (uint64_t k = 0; k < 5; k++)
			add(&fixture, i % NR_TASKS, 0x1000 + 8 * i + k, 1);
		end(&fixture);
		profile_get_stats(fixture.profile, &stats);
		/* Two slots of 5 and an eighth of the limit. */
		assert_true(stats.nr_cells <= 10 + 50);
	}
	assert_sums(&fixture, 2500);
	fixture_release(&fixture);
}

static void test_chains_of_no_cell_go_before_cells_lose_theirs(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct cell_key key;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_chain_nodes = 100 });
	begin(&fixture, SEC);
	for (uint64_t i = 0; i < 90; i++) {
		key = key_of(&fixture, 0, 0x1000);
		key.chain = chain_table_add(profile_chains(fixture.profile),
					    &(struct location){ fixture.dso, i }, 1);
	}
	profile_add(fixture.profile, &key, 1, 10);
	end(&fixture);
	profile_get_stats(fixture.profile, &stats);
	assert_true(stats.nr_chain_nodes == 1 && !stats.nr_coarsened);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_int_equal(sum.last.chain, key.chain);
	fixture_release(&fixture);
}

static void test_cells_lose_their_chains_when_these_are_too_many(void **state)
{
	struct fixture fixture;
	struct profile_stats stats;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, &(struct profile_limits){ .max_chain_nodes = 200 });
	for (uint64_t i = 0; i < 100; i++) {
		begin(&fixture, SEC);
		for (uint64_t k = 0; k < 5; k++) {
			struct cell_key key = key_of(&fixture, 0, 0x1000);

			key.chain = chain_table_add(profile_chains(fixture.profile),
						    (struct location[]){ { fixture.dso, 5 * i + k },
									 { fixture.dso, 7 } },
						    2);
			profile_add(fixture.profile, &key, 1, 10);
		}
		end(&fixture);
		profile_get_stats(fixture.profile, &stats);
		assert_true(stats.nr_chain_nodes <= 175);
		assert_true(!stats.nr_chains_refused);
	}
	assert_sums(&fixture, 500);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_int_equal(sum.nr_cells, 5);
	fixture_release(&fixture);
}

/* Random cells under tight limits: no weight is lost in any window, ever. */
static void test_random_cells_keep_their_sums(void **state)
{
	const struct profile_limits limits = {
		.max_cells = 300,
		.max_slots = 7,
		.max_slot_bytes = 20000,
		.max_chain_nodes = 100,
	};
	uint64_t slots[200] = { 0 };
	struct fixture fixture;
	uint64_t random = 1;
	double all = 0;

	(void)state;
	fixture_init(&fixture, &limits);
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		struct sum sum;

		begin(&fixture, SEC);
		for (size_t k = 0; k < 1 + i % 13 * 20; k++) {
			struct cell_key key;

			random = random * 6364136223846793005u + 1442695040888963407u;
			key = key_of(&fixture, random >> 60, 0xf00 + (random >> 50 & 0xfff));
			key.cpu = random >> 48 & 3;
			key.event = random >> 47 & 1;
			if (random >> 46 & 1)
				key.chain = chain_table_add(
					profile_chains(fixture.profile),
					(struct location[]){ { fixture.dso, random >> 40 & 15 },
							     { fixture.dso, random >> 36 & 3 } },
					2);
			profile_add(fixture.profile, &key, 1 + (random >> 33 & 7),
				    10 * (1 + (random >> 33 & 7)));
			slots[i] += 1 + (random >> 33 & 7);
		}
		end(&fixture);
		all += (double)slots[i];
		assert_sums(&fixture, all);
		sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
		assert_near(sum.nr_samples, (double)slots[i]);
		sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TIME, .length_ns = 2 * SEC },
			     0);
		assert_near(sum.nr_samples, (double)(slots[i] + (i ? slots[i - 1] : 0)));
	}
	fixture_release(&fixture);
}

static void remember(void *arg, const struct cell_view *cell)
{
	*(struct cell_symbol **)arg = cell->symbol;
}

static void test_the_symbol_cache_of_a_cell_stays_with_it(void **state)
{
	struct window window = { .kind = WINDOW_TICK };
	struct cell_symbol *symbol = NULL;
	struct fixture fixture;
	uint64_t start, stop;

	(void)state;
	fixture_init(&fixture, NULL);
	tick(&fixture, 0x1000, 1);
	profile_each(fixture.profile, &window, remember, &symbol, &start, &stop);
	assert_false(symbol->asked);
	symbol->asked = true;
	symbol->symbol = &fixture.dso->symbols[0];
	tick(&fixture, 0x1000, 1);
	profile_each(fixture.profile, &window, remember, &symbol, &start, &stop);
	assert_true(symbol->asked);
	assert_ptr_equal(symbol->symbol, &fixture.dso->symbols[0]);
	fixture_release(&fixture);
}

static void test_more_than_32_bits_of_samples_in_a_slot_add_up(void **state)
{
	struct fixture fixture;
	struct sum sum;

	(void)state;
	fixture_init(&fixture, NULL);
	begin(&fixture, SEC);
	add(&fixture, 0, 1, UINT32_MAX);
	add(&fixture, 0, 1, UINT32_MAX);
	add(&fixture, 0, 1, 1);
	end(&fixture);
	sum = sum_of(&fixture, (struct window){ .kind = WINDOW_TICK }, 0);
	assert_int_equal(sum.nr_cells, 1);
	assert_near(sum.nr_samples, 2.0 * UINT32_MAX + 1);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_profile_has_nothing),
		cmocka_unit_test(test_the_same_cell_in_a_slot_is_one_entry),
		cmocka_unit_test(test_every_part_of_the_key_tells_cells_apart),
		cmocka_unit_test(test_windows_take_their_slots),
		cmocka_unit_test(test_a_time_window_does_not_jump_with_jitter),
		cmocka_unit_test(test_decay_goes_by_time_and_not_by_slots),
		cmocka_unit_test(test_an_open_slot_counts_except_as_a_tick),
		cmocka_unit_test(test_dropped_slots_stay_in_the_totals),
		cmocka_unit_test(test_slots_are_bounded_by_bytes),
		cmocka_unit_test(test_clear_forgets_all_and_lets_go),
		cmocka_unit_test(test_cold_cells_lose_cpu_and_chain_first),
		cmocka_unit_test(test_then_the_offset_becomes_the_start_of_its_symbol),
		cmocka_unit_test(test_unnamed_offsets_are_given_up),
		cmocka_unit_test(test_long_ago_is_colder_than_light),
		cmocka_unit_test(test_then_tasks_of_one_comm_become_one),
		cmocka_unit_test(test_the_bound_is_hard),
		cmocka_unit_test(test_fc115_what_aged_out_is_coarsened_below_its_own_limit),
		cmocka_unit_test(test_chains_of_no_cell_go_before_cells_lose_theirs),
		cmocka_unit_test(test_cells_lose_their_chains_when_these_are_too_many),
		cmocka_unit_test(test_random_cells_keep_their_sums),
		cmocka_unit_test(test_the_symbol_cache_of_a_cell_stays_with_it),
		cmocka_unit_test(test_more_than_32_bits_of_samples_in_a_slot_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
