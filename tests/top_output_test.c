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

/* ---- a JSON reader that only says yes or no (RFC 8259) ---- */

static const char *skip_value(const char *p, int depth);

static const char *skip_string(const char *p)
{
	for (p++; *p != '"'; p++) {
		uint32_t code;
		size_t nr = text_utf8_len(p, strlen(p), &code);

		if (!nr || code < 0x20)
			return NULL;
		if (*p == '\\') {
			p++;
			if (*p == 'u') {
				for (int i = 1; i <= 4; i++) {
					if (!strchr("0123456789abcdefABCDEF", p[i]) || !p[i])
						return NULL;
				}
				p += 4;
			} else if (!*p || !strchr("\"\\/bfnrt", *p)) {
				return NULL;
			}
			continue;
		}
		p += nr - 1;
	}
	return p + 1;
}

static const char *skip_list(const char *p, char end, bool named, int depth)
{
	p++;
	if (*p == end)
		return p + 1;
	for (;;) {
		if (named) {
			p = *p == '"' ? skip_string(p) : NULL;
			if (!p || *p++ != ':')
				return NULL;
		}
		p = skip_value(p, depth + 1);
		if (!p || (*p != ',' && *p != end))
			return NULL;
		if (*p++ == end)
			return p;
	}
}

static const char *skip_value(const char *p, int depth)
{
	static const char *const words[] = { "true", "false", "null" };
	char *end;

	if (depth > 20)
		return NULL;
	if (*p == '"')
		return skip_string(p);
	if (*p == '{')
		return skip_list(p, '}', true, depth);
	if (*p == '[')
		return skip_list(p, ']', false, depth);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strncmp(p, words[i], strlen(words[i])))
			return p + strlen(words[i]);
	}
	if (*p != '-' && (*p < '0' || *p > '9'))
		return NULL;
	(void)strtod(p, &end);
	return end;
}

static bool is_json_line(const char *text)
{
	const char *end = skip_value(text, 0);

	return end && !strcmp(end, "\n");
}

/* ---- a snapshot with names from hell ---- */

static struct snapshot *hostile_snapshot(void)
{
	static const char *const frames[] = { "a\"b\\c", "x\x1b[31m;y" };
	static const bool kernel[] = { false, true };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct row *row;
	char all[256];

	view_spec_init(&spec);
	spec.chains = true;
	snapshot = snapshot_new(&spec);
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	for (int i = 0; i < 3; i++) {
		row = snapshot_add_row(snapshot);
		row->self_share = row->children_share = i ? 0.25 : -0.0;
		row->nr_samples = 4;
		row->period = i == 2 ? NAN : 5;
		row->pid = row->tid = -1;
		row->cpu = row->node = -1;
		row->comm = snapshot_add_string(snapshot, all);
		row->dso = snapshot_add_string(snapshot, "lib\xff\xfe.so");
		row->dso_path = row->dso;
		row->symbol = snapshot_add_string(snapshot, "f\xe2\x80\xa8(\"q\\\")");
		snapshot_add_chain(snapshot, row, frames, kernel, 2, 4, 5);
	}
	snapshot_edit_header(snapshot)->event = snapshot_add_string(snapshot, "cpu-clock");
	snapshot_edit_header(snapshot)->host = snapshot_add_string(snapshot, "h\x1b]0;x\a");
	snapshot_edit_header(snapshot)->kernel = "6.1";
	snapshot_edit_header(snapshot)->target = "all";
	snapshot_edit_header(snapshot)->filter = "";
	snapshot_edit_header(snapshot)->read_share = INFINITY;
	snapshot_add_note(snapshot, NOTE_WARN, "mind\nthe \"gap\"");
	snapshot_add_event(snapshot, "cpu-clock", 12);
	snapshot_add_cpu(snapshot, 0, 0.5);
	snapshot_sort(snapshot);
	return snapshot;
}

static void test_fc095_json_is_valid_whatever_the_names_are(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = { 0 };

	(void)state;
	output_json(&buf, snapshot, 0);
	if (!is_json_line(buf.text))
		fail_msg("not JSON: %s", buf.text);
	assert_non_null(strstr(buf.text, "\"chains\":[{\"samples\":4"));
	assert_null(strstr(buf.text, "nan"));
	assert_null(strstr(buf.text, "inf"));
	assert_null(strstr(buf.text, ":-0"));
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
	struct textbuf buf = { 0 };

	(void)state;
	output_text(&buf, snapshot, 0, true);
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
	struct textbuf buf = { 0 };

	(void)state;
	output_text(&buf, snapshot, 1, false);
	assert_non_null(strstr(buf.text, "# 2 more rows"));
	textbuf_clear(&buf);
	output_json(&buf, snapshot, 1);
	assert_non_null(strstr(buf.text, "\"rows_hidden\":2"));
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
