/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs is a folder that the test makes. */
#include "config.h"

#include "core/cpumap.h"

#include <errno.h>
#include <ftw.h>
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

#include "core/base/mem.h"

static char sysfs[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(sysfs, sizeof(sysfs), "/tmp/symtop-cpumap-XXXXXX");
	return mkdtemp(sysfs) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(sysfs, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of @name below sysfs, its folders made; the caller frees it. */
static char *make_path(const char *name)
{
	char *path = mem_printf("%s/devices/system/%s", sysfs, name);

	for (char *slash = path + strlen(sysfs); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(path, 0700) < 0)
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
	return path;
}

static void write_file(const char *name, const char *text)
{
	char *path = make_path(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static void write_cpus(const char *possible, const char *online)
{
	write_file("cpu/possible", possible);
	write_file("cpu/online", online);
}

static void assert_set(const struct cpuset *set, const char *expected)
{
	char text[4096];

	cpuset_format(set, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void assert_node_cpus(const struct cpumap *map, unsigned int node, const char *expected)
{
	struct cpuset cpus;

	cpumap_node_cpus(map, node, &cpus);
	assert_set(&cpus, expected);
}

static struct cpumap read_map(void)
{
	struct cpumap map = { 0 };
	struct err err = { 0 };

	assert_int_equal(cpumap_init(&map, sysfs, &err), 0);
	assert_int_equal(err.code, 0);
	assert_string_equal(err.text, "");
	return map;
}

static void test_lists_are_parsed_and_formatted(void **state)
{
	static const char *const lists[][2] = {
		{ "", "" },
		{ "\n", "" },
		{ "  \n", "" },
		{ "0", "0" },
		{ "0-3,8,10-11\n", "0-3,8,10-11" },
		{ " 1 ", "1" },
		{ "3,1,2", "1-3" },
		{ "5-5", "5" },
		{ "0-63,64-127", "0-127" },
		{ "62-65", "62-65" },
		{ "007", "7" },
		{ "8191", "8191" },
		{ "0-8191", "0-8191" },
		{ "1,1,1-1", "1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cpuset set = { .bits = { 1 } };

		assert_int_equal(cpuset_parse(lists[i][0], &set, NULL), 0);
		assert_set(&set, lists[i][1]);
	}
}

static void test_hostile_lists_are_refused(void **state)
{
	static const struct {
		const char *text;
		int ret;
	} lists[] = {
		{ "3-1", -EINVAL },	     { ",", -EINVAL },	     { "1,", -EINVAL },
		{ ",1", -EINVAL },	     { "1,,2", -EINVAL },    { "-", -EINVAL },
		{ "-1", -EINVAL },	     { "1-", -EINVAL },	     { "1-2-3", -EINVAL },
		{ "+1", -EINVAL },	     { "0x10", -EINVAL },    { "all", -EINVAL },
		{ "1 2", -EINVAL },	     { "1, 2", -EINVAL },    { "0-3:1/2", -EINVAL },
		{ "1;2", -EINVAL },	     { "\x1b[31m", -EINVAL }, { "1\n2", -EINVAL },
		{ "8192", -ERANGE },	     { "0-8192", -ERANGE },  { "8192-1", -ERANGE },
		{ "0-4294967295", -ERANGE }, { "4294967296", -ERANGE },
		{ "0-18446744073709551616", -ERANGE },
		{ "99999999999999999999999999999999999999", -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cpuset set = { .bits = { 42 } };
		struct err err = { 0 };

		assert_int_equal(cpuset_parse(lists[i].text, &set, &err), lists[i].ret);
		assert_int_equal(err.code, lists[i].ret);
		assert_null(strchr(err.text, '\x1b'));
		assert_int_equal(set.bits[0], 42);
	}
}

static void test_message_for_a_long_list_is_short(void **state)
{
	struct cpuset set;
	struct err err = { 0 };
	char text[5001];

	(void)state;
	memset(text, 'x', 5000);
	text[5000] = '\0';
	assert_int_equal(cpuset_parse(text, &set, &err), -EINVAL);
	assert_true(strlen(err.text) < 120);
}

static void test_next_finds_every_id(void **state)
{
	static const unsigned int ids[] = { 0, 63, 64, 127, 500, 8191 };
	struct cpuset set = { 0 };
	int id = -1;

	(void)state;
	assert_int_equal(cpuset_next(&set, 0), -1);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		cpuset_add(&set, ids[i]);
	cpuset_add(&set, 8192);
	cpuset_add(&set, UINT32_MAX);
	assert_int_equal(cpuset_nr(&set), ARRAY_SIZE(ids));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		id = cpuset_next(&set, (unsigned int)(id + 1));
		assert_int_equal(id, ids[i]);
		assert_true(cpuset_has(&set, ids[i]));
	}
	assert_int_equal(cpuset_next(&set, (unsigned int)(id + 1)), -1);
	assert_int_equal(cpuset_next(&set, UINT32_MAX), -1);
	assert_false(cpuset_has(&set, UINT32_MAX));
	cpuset_remove(&set, 500);
	assert_int_equal(cpuset_next(&set, 128), 8191);
}

static void test_format_is_cut_with_dots(void **state)
{
	static const char *const cut[] = {
		"", ".", "..", "...", "0...", "0,...", "0,2...", "0,2,...", "0,2,4...",
	};
	struct cpuset set = { 0 };

	(void)state;
	assert_int_equal(cpuset_parse("0,2,4,6,8", &set, NULL), 0);
	for (size_t size = 1; size <= ARRAY_SIZE(cut); size++) {
		char *text = malloc(size);

		assert_non_null(text);
		cpuset_format(&set, text, size);
		assert_string_equal(text, cut[size - 1]);
		free(text);
	}
	cpuset_format(&set, NULL, 0);
}

static void test_ordinary_machine_is_read(void **state)
{
	struct cpumap map;

	(void)state;
	write_cpus("0-7\n", "0-7\n");
	write_file("node/node0/cpulist", "0-3\n");
	write_file("node/node0/meminfo", "Node 0 MemTotal:       16314600 kB\n");
	write_file("node/node1/cpulist", "4-7\n");
	write_file("node/node1/meminfo", "Node 1 MemTotal:       16314600 kB\n");
	write_file("node/possible", "0-1\n");
	map = read_map();
	assert_int_equal(map.nr_possible, 8);
	assert_int_equal(map.nr_online, 8);
	assert_true(map.has_nodes);
	assert_int_equal(map.nr_nodes, 2);
	assert_int_equal(cpumap_node(&map, 3), 0);
	assert_int_equal(cpumap_node(&map, 4), 1);
	assert_int_equal(cpumap_node(&map, 8), 0);
	assert_int_equal(cpumap_node(&map, UINT32_MAX), 0);
	assert_node_cpus(&map, 0, "0-3");
	assert_node_cpus(&map, 1, "4-7");
	assert_node_cpus(&map, 2, "");
	cpumap_release(&map);
	assert_null(map.node_of_cpu);
}

static void test_fc101_possible_may_be_larger_than_online(void **state)
{
	struct cpumap map;

	(void)state;
	write_cpus("0-127\n", "0,2-3\n");
	write_file("node/node0/cpulist", "0,2-3\n");
	write_file("node/node0/meminfo", "Node 0 MemTotal: 1 kB\n");
	map = read_map();
	assert_int_equal(map.nr_possible, 128);
	assert_int_equal(map.nr_online, 3);
	assert_set(&map.online, "0,2-3");
	assert_int_equal(map.nr_node_of_cpu, 128);
	/* What is offline has no node yet. */
	assert_int_equal(map.node_of_cpu[1], UINT16_MAX);
	assert_int_equal(cpumap_node(&map, 1), 0);
	assert_node_cpus(&map, 0, "0,2-3");
	assert_node_cpus(&map, UINT16_MAX, "");
	cpumap_release(&map);
}

static void test_possible_holds_at_least_what_is_online(void **state)
{
	struct cpumap map;

	(void)state;
	write_cpus("0-1\n", "0-3\n");
	map = read_map();
	assert_set(&map.possible, "0-3");
	assert_int_equal(map.nr_node_of_cpu, 4);
	cpumap_release(&map);
}

static void test_fc104_node_without_cpus_or_without_memory(void **state)
{
	struct cpumap map;
	unsigned int nr = 0;

	(void)state;
	write_cpus("0-3\n", "0-3\n");
	write_file("node/node0/cpulist", "0-1\n");
	write_file("node/node0/meminfo", "Node 0 MemTotal: 100 kB\n");
	write_file("node/node1/cpulist", "\n");
	write_file("node/node1/meminfo", "Node 1 MemTotal: 100 kB\n");
	write_file("node/node2/cpulist", "2-3\n");
	/* Neither: left out. */
	write_file("node/node3/cpulist", "\n");
	write_file("node/node3/meminfo", "Node 3 MemTotal: 0 kB\n");
	map = read_map();
	assert_set(&map.nodes, "0-2");
	assert_int_equal(map.nr_nodes, 3);
	assert_node_cpus(&map, 1, "");
	assert_node_cpus(&map, 2, "2-3");
	for (int node = cpuset_next(&map.nodes, 0); node >= 0;
	     node = cpuset_next(&map.nodes, (unsigned int)node + 1)) {
		struct cpuset cpus;

		cpumap_node_cpus(&map, (unsigned int)node, &cpus);
		nr += cpuset_nr(&cpus);
	}
	assert_int_equal(nr, map.nr_possible);
	cpumap_release(&map);
}

static void test_fc105_node_numbers_with_holes_stay_as_they_are(void **state)
{
	struct cpumap map;

	(void)state;
	write_cpus("0-3\n", "0-3\n");
	write_file("node/node7/cpulist", "0-1\n");
	write_file("node/node4/cpulist", "2-3\n");
	map = read_map();
	assert_true(map.has_nodes);
	assert_set(&map.nodes, "4,7");
	assert_int_equal(cpumap_node(&map, 0), 7);
	assert_int_equal(cpumap_node(&map, 3), 4);
	assert_node_cpus(&map, 7, "0-1");
	assert_node_cpus(&map, 0, "");
	cpumap_release(&map);
}

static void assert_one_node(void)
{
	struct cpumap map = read_map();

	assert_false(map.has_nodes);
	assert_set(&map.nodes, "0");
	assert_int_equal(map.nr_nodes, 1);
	assert_int_equal(cpumap_node(&map, 3), 0);
	assert_node_cpus(&map, 0, "0-3");
	cpumap_release(&map);
}

static void test_fc105_without_node_folder_there_is_one_node(void **state)
{
	(void)state;
	write_cpus("0-3\n", "0-2\n");
	assert_one_node();
}

static void test_fc105_node_folder_without_a_node_is_none(void **state)
{
	(void)state;
	write_cpus("0-3\n", "0-2\n");
	write_file("node/possible", "0\n");
	assert_one_node();
	write_file("node/node0/cpulist", "\n");
	assert_one_node();
}

static void test_junk_in_the_node_folder_is_skipped(void **state)
{
	struct cpumap map;
	char *path;

	(void)state;
	write_cpus("0-3\n", "0-3\n");
	write_file("node/node1/cpulist", "0-1\n");
	write_file("node/node2/cpulist", "3-1\n");
	write_file("node/node3/cpulist", "0-4294967295\n");
	write_file("node/node1x/cpulist", "2\n");
	write_file("node/node/cpulist", "2\n");
	write_file("node/node-1/cpulist", "2\n");
	write_file("node/node8192/cpulist", "2\n");
	write_file("node/node18446744073709551617/cpulist", "2\n");
	write_file("node/node5", "a file\n");
	/* CPUs that cannot be, and one that another node has already. */
	write_file("node/node6/cpulist", "1-2,9,8191\n");
	path = make_path("node/node7/cpulist");
	assert_int_equal(mkfifo(path, 0600), 0);
	free(path);
	map = read_map();
	assert_set(&map.nodes, "1,6");
	assert_node_cpus(&map, 1, "0-1");
	assert_node_cpus(&map, 6, "2");
	assert_int_equal(map.node_of_cpu[3], UINT16_MAX);
	cpumap_release(&map);
}

static void test_without_sysfs_sysconf_gives_the_cpus(void **state)
{
	struct cpumap map = read_map();

	(void)state;
	assert_int_equal(map.nr_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(map.nr_possible >= map.nr_online);
	assert_int_equal(map.nr_nodes, 1);
	cpumap_release(&map);
}

static void test_wrong_cpu_lists_are_an_error_that_names_the_file(void **state)
{
	static const char *const wrong[] = { "3-1\n", "0-9000\n", "\n", "\x1b[2J\n" };
	struct cpumap map = { .nr_online = 77 };

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(wrong); i++) {
		struct err err = { 0 };
		const char *text = wrong[i / 2];
		int ret;

		/* An empty set of possible CPUs is made good by the online ones. */
		if (i % 2 && !strcmp(text, "\n"))
			continue;
		write_cpus(i % 2 ? text : "0-3\n", i % 2 ? "0-3\n" : text);
		ret = cpumap_init(&map, sysfs, &err);
		assert_true(ret == -EINVAL || ret == -ERANGE);
		assert_int_equal(err.code, ret);
		assert_non_null(strstr(err.text, i % 2 ? "cpu/possible" : "cpu/online"));
		assert_null(strchr(err.text, '\x1b'));
		assert_int_equal(map.nr_online, 77);
	}
}

static void test_fifo_and_endless_file_do_not_hang(void **state)
{
	struct cpumap map;
	char *path = make_path("cpu/online");
	char *many = mem_zalloc(100001);

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(cpumap_init(&map, sysfs, NULL), -EINVAL);
	assert_int_equal(unlink(path), 0);
	memset(many, '1', 100000);
	write_cpus("0-3\n", many);
	assert_int_equal(cpumap_init(&map, sysfs, NULL), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(cpumap_init(&map, sysfs, NULL), -EINVAL);
	free(many);
	free(path);
}

static void test_refresh_sees_cpus_come_and_go(void **state)
{
	struct cpumap map;
	bool changed = true;

	(void)state;
	write_cpus("0-3\n", "0-2\n");
	write_file("node/node0/cpulist", "0-1\n");
	write_file("node/node1/cpulist", "2\n");
	map = read_map();
	assert_int_equal(cpumap_refresh_online(&map, sysfs, &changed, NULL), 0);
	assert_false(changed);

	/* 3 comes, 1 goes, and the node lists follow; 9 was never possible. */
	write_file("cpu/online", "0,2-3,9\n");
	write_file("node/node0/cpulist", "0\n");
	write_file("node/node1/cpulist", "2-3\n");
	assert_int_equal(cpumap_refresh_online(&map, sysfs, &changed, NULL), 0);
	assert_true(changed);
	assert_set(&map.online, "0,2-3");
	assert_int_equal(map.nr_online, 3);
	assert_int_equal(cpumap_node(&map, 3), 1);
	assert_node_cpus(&map, 1, "2-3");
	/* What is offline stays where it was. */
	assert_node_cpus(&map, 0, "0-1");

	/* An error leaves all as it is. */
	write_file("cpu/online", "junk\n");
	changed = false;
	assert_int_equal(cpumap_refresh_online(&map, sysfs, &changed, NULL), -EINVAL);
	assert_false(changed);
	assert_set(&map.online, "0,2-3");
	cpumap_release(&map);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_lists_are_parsed_and_formatted),
		CASE(test_hostile_lists_are_refused),
		CASE(test_message_for_a_long_list_is_short),
		CASE(test_next_finds_every_id),
		CASE(test_format_is_cut_with_dots),
		CASE(test_ordinary_machine_is_read),
		CASE(test_fc101_possible_may_be_larger_than_online),
		CASE(test_possible_holds_at_least_what_is_online),
		CASE(test_fc104_node_without_cpus_or_without_memory),
		CASE(test_fc105_node_numbers_with_holes_stay_as_they_are),
		CASE(test_fc105_without_node_folder_there_is_one_node),
		CASE(test_fc105_node_folder_without_a_node_is_none),
		CASE(test_junk_in_the_node_folder_is_skipped),
		CASE(test_without_sysfs_sysconf_gives_the_cpus),
		CASE(test_wrong_cpu_lists_are_an_error_that_names_the_file),
		CASE(test_fifo_and_endless_file_do_not_hang),
		CASE(test_refresh_sees_cpus_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
