/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core/perf_data_write.c: files that were not finished, and what is there already. */
#include "config.h"

#include "tests/core_perf_data_write_fixture.h"

/* ---- files that were not finished ---- */

static void test_a_killed_writer_leaves_all_that_was_appended(void **state)
{
	struct perf_data_writer *writer = create();
	uint64_t start = perf_data_writer_bytes(writer);
	struct bytes file, data = { 0 };

	(void)state;
	add_data(&data);
	for (unsigned int i = 1; i < 4; i++) {
		append(writer, &data);
		assert_samples(4 * i, 2 * i);
		file = read_file(path);
		assert_int_equal(u64_at(&file, 40) + u64_at(&file, 48), file.nr);
		assert_int_equal(u64_at(&file, 72), 0);
		assert_int_equal(file.nr, start + i * data.nr);
		assert_int_equal(perf_data_writer_bytes(writer), file.nr);
		free(file.bytes);
	}
	free(data.bytes);
	finish(writer, NULL, 0, NULL);
	assert_samples(12, 6);
}

/* Sizes from nothing to the whole file: what is there afterwards is whole records. */
static void test_a_full_disk_leaves_a_file_that_can_be_read(void **state)
{
	const struct perf_data_write_event events[] = { write_event(0), write_event(1) };
	struct perf_data_write_facts facts = some_facts();
	struct perf_data_tail *tail = perf_data_tail_new(events, 2, &facts);
	uint64_t whole, nr_front = 0, nr_data = 0, nr_tail = 0;

	(void)state;
	write_whole(&facts);
	whole = file_size(path);
	for (uint64_t size = 1; size <= whole; size += size < 400 ? 1 : 8) {
		struct bytes data = { 0 };
		struct perf_data_writer *writer;
		struct err err = { 0 };
		int append_ret;

		unlink(path);
		disk.size = size;
		add_data(&data);
		if (perf_data_writer_create(path, events, 2, &writer, &err) < 0) {
			assert_int_equal(err.code, -ENOSPC);
			assert_int_equal(file_size(path), 0);
			nr_front++;
			free(data.bytes);
			continue;
		}
		append_ret = perf_data_writer_append(writer, data.bytes, data.nr, &err);
		free(data.bytes);
		if (append_ret < 0) {
			assert_int_equal(append_ret, -ENOSPC);
			assert_non_null(strstr(err.text, path));
			assert_int_equal(file_size(path), perf_data_writer_bytes(writer));
			assert_int_equal(perf_data_writer_finish(writer, NULL, NULL), 0);
			nr_data++;
			continue;
		}
		if (perf_data_writer_finish(writer, tail, &err) < 0) {
			assert_int_equal(err.code, -ENOSPC);
			nr_tail++;
		}
		assert_samples(4, 2);
	}
	assert_true(nr_front > 0 && nr_data > 0 && nr_tail > 0);
	perf_data_tail_free(tail);
}

/* Room again: what is appended then follows what was appended before. */
static void test_writing_can_go_on_when_there_is_room_again(void **state)
{
	struct perf_data_writer *writer = create();
	struct bytes data = { 0 };

	(void)state;
	add_data(&data);
	append(writer, &data);
	disk.size = perf_data_writer_bytes(writer) + 13;
	assert_int_equal(perf_data_writer_append(writer, data.bytes, data.nr, NULL), -ENOSPC);
	assert_samples(4, 2);
	disk.size = 0;
	append(writer, &data);
	assert_samples(8, 4);
	free(data.bytes);
	finish(writer, NULL, 0, NULL);
}

static void test_a_file_size_limit_is_reported(void **state)
{
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit, old;
	struct perf_data_writer *writer;
	struct bytes data = { 0 };
	struct err err = { 0 };
	int ret;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	add_data(&data);
	writer = create();
	append(writer, &data);
	limit = (struct rlimit){ .rlim_cur = perf_data_writer_bytes(writer) + 100,
				 .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ret = perf_data_writer_append(writer, data.bytes, data.nr, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(err.text, path));
	finish(writer, NULL, 0, NULL);
	assert_samples(4, 2);
	free(data.bytes);
}

static void test_short_and_interrupted_writes_go_on(void **state)
{
	struct perf_data_write_facts facts = some_facts();
	struct bytes whole, pieces;

	(void)state;
	write_whole(&facts);
	whole = read_file(path);
	unlink(path);
	disk = (struct disk){ .max_bytes = 7, .eintr = 3 };
	write_whole(&facts);
	pieces = read_file(path);
	assert_int_equal(pieces.nr, whole.nr);
	assert_memory_equal(pieces.bytes, whole.bytes, whole.nr);
	free(whole.bytes);
	free(pieces.bytes);
}

/* ---- what is there already ---- */

static void test_another_recording_is_kept_as_old(void **state)
{
	(void)state;
	write_text(path, "one");
	write_text(old_path, "zero");
	finish(create(), NULL, 0, NULL);
	assert_text(old_path, "one");
	finish(create(), NULL, 0, NULL);
	assert_true(file_size(old_path) == file_size(path) && file_size(path) > 104);
}

static void test_an_empty_file_is_used_as_it_is(void **state)
{
	(void)state;
	write_text(path, "");
	write_text(old_path, "zero");
	finish(create(), NULL, 0, NULL);
	assert_text(old_path, "zero");
}

static void test_a_link_to_a_file_is_fine(void **state)
{
	char target[128];

	(void)state;
	snprintf(target, sizeof(target), "%s/target", folder);
	write_text(target, "");
	assert_int_equal(symlink("target", path), 0);
	finish(create(), NULL, 0, NULL);
	assert_true(file_size(target) > 104);
}

static void test_only_the_owner_may_read(void **state)
{
	mode_t mask = umask(0);
	struct stat st;

	(void)state;
	finish(create(), NULL, 0, NULL);
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void assert_create_fails(const char *name, int code, const char *reason)
{
	const struct perf_data_write_event event = write_event(0);
	struct perf_data_writer *writer = NULL;
	struct err err = { 0 };

	assert_int_equal(perf_data_writer_create(name, &event, 1, &writer, &err), code);
	assert_null(writer);
	if (!strstr(err.text, name) || !strstr(err.text, reason))
		fail_msg("'%s' does not name the file and '%s'", err.text, reason);
}

static void test_what_is_no_regular_file_is_refused_at_once(void **state)
{
	(void)state;
	assert_create_fails(folder, -EISDIR, "is a folder");
	assert_create_fails("/dev/null", -EINVAL, "is no regular file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_create_fails(path, -EINVAL, "is no regular file");
	assert_int_not_equal(access(old_path, F_OK), 0);
}

static void test_a_path_that_cannot_be_is_refused(void **state)
{
	char name[400];

	(void)state;
	assert_create_fails("", -ENOENT, "cannot be created");
	snprintf(name, sizeof(name), "%s/none/perf.data", folder);
	assert_create_fails(name, -ENOENT, "cannot be created");
	snprintf(name, sizeof(name), "%s/%0300d", folder, 0);
	assert_create_fails(name, -ENAMETOOLONG, "");
}

static void test_a_recording_that_cannot_be_kept_is_not_overwritten(void **state)
{
	(void)state;
	write_text(path, "one");
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_create_fails(path, -EISDIR, "perf.data.old");
	assert_text(path, "one");
}

static void test_a_folder_that_is_not_writable_is_told(void **state)
{
	bool is_root = geteuid() == 0;

	(void)state;
	assert_int_equal(chmod(folder, 0555), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	assert_create_fails(path, -EACCES, "cannot be created");
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
}

#define in_folder(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_folder(test_a_killed_writer_leaves_all_that_was_appended),
		in_folder(test_a_full_disk_leaves_a_file_that_can_be_read),
		in_folder(test_writing_can_go_on_when_there_is_room_again),
		in_folder(test_a_file_size_limit_is_reported),
		in_folder(test_short_and_interrupted_writes_go_on),
		in_folder(test_another_recording_is_kept_as_old),
		in_folder(test_an_empty_file_is_used_as_it_is),
		in_folder(test_a_link_to_a_file_is_fine),
		in_folder(test_only_the_owner_may_read),
		in_folder(test_what_is_no_regular_file_is_refused_at_once),
		in_folder(test_a_path_that_cannot_be_is_refused),
		in_folder(test_a_recording_that_cannot_be_kept_is_not_overwritten),
		in_folder(test_a_folder_that_is_not_writable_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
