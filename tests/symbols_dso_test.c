/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of symbols/dso.c. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/worker.h"
#include "symbols/dso.h"
#include "symbols/dso_internal.h"

static struct dso_key file_key(uint64_t inode)
{
	return (struct dso_key){ .kind = DSO_FILE, .dev_major = 8, .dev_minor = 1, .inode = inode };
}

static struct dso *get_file(struct dso_table *table, uint64_t inode, const char *path)
{
	const struct dso_key key = file_key(inode);

	return dso_table_get(table, &key, path, 1, NULL);
}

static uint64_t nr_dsos(struct dso_table *table)
{
	uint64_t nr, nr_files;

	dso_table_stats(table, &nr, &nr_files);
	return nr;
}

static uint64_t nr_files(struct dso_table *table)
{
	uint64_t nr, nr_held;

	dso_table_stats(table, &nr, &nr_held);
	return nr_held;
}

static void test_same_identity_is_one_dso(void **state)
{
	struct dso_table *table = dso_table_new();
	struct dso_key key = file_key(7);
	bool is_new;
	struct dso *a = dso_table_get(table, &key, "/usr/bin/a", 1, &is_new);
	struct dso *b;

	(void)state;
	assert_true(is_new);
	b = dso_table_get(table, &key, "/mnt/a", 2, &is_new);
	assert_false(is_new);
	assert_ptr_equal(a, b);
	assert_string_equal(dso_path(b)->text, "/usr/bin/a");
	assert_int_equal(nr_dsos(table), 1);
	dso_put(a);
	assert_int_equal(nr_dsos(table), 1);
	dso_put(b);
	assert_int_equal(nr_dsos(table), 0);
	dso_put(NULL);
	dso_table_free(table);
	dso_table_free(NULL);
}

static void test_fc055_same_path_with_another_inode_is_another_dso(void **state)
{
	static const struct dso_key keys[] = {
		{ .kind = DSO_FILE, .dev_major = 8, .dev_minor = 1, .inode = 7 },
		{ .kind = DSO_FILE, .dev_major = 8, .dev_minor = 1, .inode = 8 },
		{ .kind = DSO_FILE, .dev_major = 8, .dev_minor = 2, .inode = 7 },
		{ .kind = DSO_FILE, .dev_major = 9, .dev_minor = 1, .inode = 7 },
		{ .kind = DSO_FILE, .dev_major = 8, .dev_minor = 1, .inode = 7, .generation = 1 },
		{ .kind = DSO_GENERATED, .owner = 7 },
		{ .kind = DSO_GENERATED, .owner = 8 },
		{ .kind = DSO_GENERATED, .owner = 7, .generation = 5 },
	};
	struct dso_table *table = dso_table_new();
	struct dso *dsos[ARRAY_SIZE(keys)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		bool is_new;

		dsos[i] = dso_table_get(table, &keys[i], "/usr/bin/app", 1, &is_new);
		assert_true(is_new);
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		dso_put(dsos[i]);
	assert_int_equal(nr_dsos(table), 0);
	dso_table_free(table);
}

static void test_names(void **state)
{
	static const struct {
		struct dso_key key;
		const char *path;
		const char *name;
	} cases[] = {
		{ { .kind = DSO_FILE, .inode = 1 }, "/usr/lib/libc.so.6", "libc.so.6" },
		{ { .kind = DSO_FILE, .inode = 2 }, "/tmp/gone (deleted)", "gone (deleted)" },
		{ { .kind = DSO_FILE, .inode = 3 }, "plain", "plain" },
		{ { .kind = DSO_FILE, .inode = 4 }, "/", "/" },
		{ { .kind = DSO_FILE, .inode = 5 }, NULL, "" },
		{ { .kind = DSO_KERNEL }, "[kernel.kallsyms]", "[kernel]" },
		{ { .kind = DSO_VDSO, .inode = 64 }, "[vdso]", "[vdso]" },
		{ { .kind = DSO_GENERATED, .owner = 1234 }, "//anon", "[JIT] 1234" },
		{ { .kind = DSO_UNKNOWN }, "", "[unknown]" },
		{ { .kind = NR_DSO_KINDS }, "", "[unknown]" },
	};
	struct dso_table *table = dso_table_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dso *dso = dso_table_get(table, &cases[i].key, cases[i].path, 1, NULL);

		assert_string_equal(dso_name(dso)->text, cases[i].name);
		assert_int_equal(dso_kind(dso), cases[i].key.kind);
		assert_int_equal(dso_key(dso)->inode, cases[i].key.inode);
		dso_put(dso);
	}
	dso_table_free(table);
}

static void test_thousands_of_dsos_leave_nothing(void **state)
{
	enum { NR = 5000 };
	static struct dso *dsos[NR];
	struct dso_table *table = dso_table_new();

	(void)state;
	for (size_t i = 0; i < NR; i++)
		dsos[i] = get_file(table, i, "/x");
	assert_int_equal(nr_dsos(table), NR);
	for (size_t i = 0; i < NR; i++) {
		struct dso *again = get_file(table, i, "/x");

		assert_ptr_equal(again, dsos[i]);
		dso_put(again);
		dso_put(dsos[i]);
	}
	assert_int_equal(nr_dsos(table), 0);
	dso_table_free(table);
}

static void test_first_and_latest_users_are_kept(void **state)
{
	static const uint32_t expected[NR_DSO_USERS] = { 1, 23, 24, 22 };
	struct dso_table *table = dso_table_new();
	struct dso *dso = get_file(table, 1, "/x");
	uint32_t pids[NR_DSO_USERS];

	(void)state;
	assert_int_equal(dso_users(dso, pids), 1);
	assert_int_equal(pids[0], 1);
	for (uint32_t pid = 20; pid <= 24; pid++) {
		dso_note_user(dso, pid);
		dso_note_user(dso, pid);
		dso_note_user(dso, 1);
	}
	assert_int_equal(dso_users(dso, pids), NR_DSO_USERS);
	assert_memory_equal(pids, expected, sizeof(expected));
	dso_put(dso);
	dso_table_free(table);
}

static int open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_oldest_held_file_is_closed_first(void **state)
{
	struct dso_table *table = dso_table_new();
	struct dso *dsos[4];
	int fds[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		dsos[i] = get_file(table, i, "/x");
		fds[i] = open_null();
	}
	for (size_t i = 0; i < 3; i++)
		dso_keep_file(dsos[i], fds[i], 3);
	assert_int_equal(nr_files(table), 3);
	/* The first was mapped again, so the second is the coldest. */
	dso_note_user(dsos[0], 99);
	dso_keep_file(dsos[3], fds[3], 3);
	assert_int_equal(nr_files(table), 3);
	assert_true(is_open(fds[0]));
	assert_false(is_open(fds[1]));
	assert_int_equal(dso_steal_file(dsos[1]), -1);
	assert_int_equal(dso_steal_file(dsos[2]), fds[2]);
	assert_int_equal(nr_files(table), 2);
	close(fds[2]);
	for (size_t i = 0; i < 4; i++)
		dso_put(dsos[i]);
	assert_false(is_open(fds[0]));
	assert_false(is_open(fds[3]));
	assert_int_equal(nr_files(table), 0);
	dso_table_free(table);
}

static void test_all_held_files_in_use_still_gives_one_up(void **state)
{
	struct dso_table *table = dso_table_new();
	struct dso *dsos[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		dsos[i] = get_file(table, i, "/x");
		dso_keep_file(dsos[i], open_null(), 2);
		dso_note_user(dsos[i], 99);
	}
	assert_int_equal(nr_files(table), 2);
	for (size_t i = 0; i < 3; i++)
		dso_put(dsos[i]);
	dso_table_free(table);
}

static void get_and_put(void *arg)
{
	for (int round = 0; round < 20000; round++) {
		struct dso *dso = get_file(arg, (uint64_t)round % 3, "/x");
		struct dso *more = dso_get(dso);

		dso_note_user(dso, 2 + (uint32_t)round % 7);
		dso_put(dso);
		dso_put(more);
	}
}

static void test_a_dying_dso_is_never_revived(void **state)
{
	struct dso_table *table = dso_table_new();
	struct worker *workers[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(worker_start("test", get_and_put, table, &workers[i], NULL), 0);
	for (size_t i = 0; i < 4; i++)
		worker_join(workers[i]);
	assert_int_equal(nr_dsos(table), 0);
	dso_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_identity_is_one_dso),
		cmocka_unit_test(test_fc055_same_path_with_another_inode_is_another_dso),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_thousands_of_dsos_leave_nothing),
		cmocka_unit_test(test_first_and_latest_users_are_kept),
		cmocka_unit_test(test_oldest_held_file_is_closed_first),
		cmocka_unit_test(test_all_held_files_in_use_still_gives_one_up),
		cmocka_unit_test(test_a_dying_dso_is_never_revived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
