/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "top/output.h"
#include "tests/top_fixture.h"

static void test_fc095_json_is_valid_whatever_the_names_are(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("json", snapshot);

	(void)state;
	if (!is_json_line(buf.text))
		fail_msg("not JSON: %s", buf.text);
	assert_non_null(strstr(buf.text, "\"chains\":[{\"samples\":4"));
	assert_non_null(strstr(buf.text, "\"command\":\"symtop -d 5 "));
	assert_null(strstr(buf.text, "nan"));
	assert_null(strstr(buf.text, "inf"));
	assert_null(strstr(buf.text, ":-0"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_a_recording_is_in_the_report_when_there_is_one(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct recording_figures *recording = &snapshot_edit_header(snapshot)->recording;
	struct textbuf buf = write_as("json", snapshot);

	(void)state;
	assert_null(strstr(buf.text, "\"recording\""));
	textbuf_release(&buf);
	buf = write_as("text", snapshot);
	assert_null(strstr(buf.text, "# recording"));
	textbuf_release(&buf);
	*recording = (struct recording_figures){
		.state = RECORDING_FINISHING,
		.path = snapshot_add_string(snapshot, "a \"b\"\n.data"),
		.trouble = snapshot_add_string(snapshot, "no \\ room"),
		.bytes = 12300000,
		.nr_dropped = 5,
		.keep_ns = UINT64_C(30000000000),
		.kept_ns = UINT64_C(1500000000),
		.kept_is_cut = true,
	};
	buf = write_as("json", snapshot);
	assert_true(is_json_line(buf.text));
	assert_non_null(strstr(
		buf.text,
		",\"recording\":{\"state\":\"finishing\",\"path\":\"a \\\"b\\\"\\\\x0a.data\","
		"\"trouble\":\"no \\\\ room\",\"ended\":0,\"bytes\":12300000,"
		"\"waiting_bytes\":0,\"dropped\":5,\"keep_s\":30,\"kept_s\":1.5,"
		"\"kept_bytes\":0,\"kept_is_cut\":true},"));
	textbuf_release(&buf);
	buf = write_as("text", snapshot);
	assert_non_null(strstr(buf.text,
			       "\n# recording finishing  kept 1.5 of 30.0 s (memory is "
			       "used up)  12.3 MB  dropped 5  a \"b\"\\x0a.data: no \\ room\n"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_the_json_reader_refuses_what_is_wrong(void **state)
{
	(void)state;
	assert_true(is_json_line("{\"a\":[1,-2.5e3,null,\"\\u001b\"]}\n"));
	assert_false(is_json_line("{\"a\":[1,]}\n"));
	assert_false(is_json_line("{\"a\":nan}\n"));
	assert_false(is_json_line("{\"a\":\"\x1b\"}\n"));
	assert_false(is_json_line("{\"a\":\"\xff\"}\n"));
	assert_false(is_json_line("{}"));
}

static void test_fc080_text_has_no_control_bytes(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("text", snapshot);

	(void)state;
	assert_non_null(strstr(buf.text, "# command: symtop -d 5 "));
	for (size_t i = 0; i < buf.len;) {
		uint32_t code = 0;
		size_t nr = text_utf8_len(buf.text + i, buf.len - i, &code);

		if (!nr || (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0))
			fail_msg("byte %zu is %02x", i, (unsigned char)buf.text[i]);
		i += nr;
	}
	assert_null(strstr(buf.text, "nan"));
	assert_null(strstr(buf.text, "-0.00"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_rows_beyond_the_limit_are_counted(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_report(output_format_find("text"), snapshot, 1);

	(void)state;
	assert_int_equal(snapshot_nr_rows(snapshot), 15);
	assert_non_null(strstr(buf.text, "# 14 more rows"));
	textbuf_release(&buf);
	buf = write_report(output_format_find("json"), snapshot, 1);
	assert_non_null(strstr(buf.text, "\"rows_hidden\":14"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

/* ---- where it goes ---- */

static char folder[] = "/tmp/symtop-output-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/out", folder);
	unlink(path);
	return rmdir(folder);
}

static void read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	assert_true(fd >= 0);
	len = read(fd, text, size - 1);
	assert_true(len >= 0);
	text[len] = '\0';
	close(fd);
}

static void test_fc099_a_failed_run_leaves_the_old_file(void **state)
{
	struct output *output;
	struct err err = { 0 };
	char path[128];
	char text[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/out", folder);
	assert_int_equal(output_open(path, &output, &err), 0);
	assert_int_equal(output_write(output, "good\n", 5, &err), 0);
	assert_int_equal(output_close(output, true, &err), 0);
	assert_int_equal(output_open(path, &output, &err), 0);
	assert_int_equal(output_write(output, "half", 4, &err), 0);
	assert_int_equal(output_close(output, false, &err), 0);
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "good\n");
}

static void test_fc099_a_full_device_is_an_error(void **state)
{
	struct output *output;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(output_open("/dev/full", &output, &err), 0);
	assert_int_equal(output_write(output, "x", 1, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "/dev/full"));
	assert_int_equal(output_close(output, false, &err), 0);
}

static void test_a_missing_folder_is_named(void **state)
{
	struct output *output;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(output_open("/nonexistent/x", &output, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
}

static void test_fc098_a_reader_that_left_is_told_apart(void **state)
{
	struct output *output;
	struct err err = { 0 };
	char path[128];
	int fd;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(output_open(path, &output, &err), 0);
	close(fd);
	assert_int_equal(output_write(output, "x", 1, &err), -EPIPE);
	assert_int_equal(output_close(output, false, &err), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc095_json_is_valid_whatever_the_names_are),
		cmocka_unit_test(test_a_recording_is_in_the_report_when_there_is_one),
		cmocka_unit_test(test_the_json_reader_refuses_what_is_wrong),
		cmocka_unit_test(test_fc080_text_has_no_control_bytes),
		cmocka_unit_test(test_rows_beyond_the_limit_are_counted),
		cmocka_unit_test(test_fc099_a_failed_run_leaves_the_old_file),
		cmocka_unit_test(test_fc099_a_full_device_is_an_error),
		cmocka_unit_test(test_a_missing_folder_is_named),
		cmocka_unit_test(test_fc098_a_reader_that_left_is_told_apart),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
