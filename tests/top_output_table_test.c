/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv and prometheus, each with a reader as strict as the strictest of theirs. */
#include "config.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/top_fixture.h"

/* ---- CSV ---- */

/* Fields of the record at @text; moves behind its end. NULL: it breaks RFC 4180. */
static const char *skip_record(const char *text, size_t *ret_nr, struct textbuf fields[64])
{
	size_t nr = 0;

	for (;; text++) {
		textbuf_clear(&fields[nr]);
		textbuf_puts(&fields[nr], "");
		if (*text == '"') {
			for (text++; *text != '"' || text[1] == '"'; text++) {
				if (!*text)
					return NULL;
				text += *text == '"';
				textbuf_add(&fields[nr], text, 1);
			}
			text++;
		} else {
			for (; *text && *text != ',' && *text != '\n'; text++) {
				if (*text == '"' || *text == '\r')
					return NULL;
				textbuf_add(&fields[nr], text, 1);
			}
		}
		nr++;
		if (*text == '\n') {
			*ret_nr = nr;
			return text + 1;
		}
		if (*text != ',' || nr == 63)
			return NULL;
	}
}

static size_t find_column(struct textbuf fields[64], size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(fields[i].text, name))
			return i;
	}
	fail_msg("no column %s", name);
	return 0;
}

static void release_fields(struct textbuf fields[64])
{
	for (size_t i = 0; i < 64; i++)
		textbuf_release(&fields[i]);
}

static void test_fc095_csv_gives_every_name_back(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("csv", snapshot);
	struct textbuf fields[64] = { { 0 } };
	const char *text = buf.text;
	size_t nr_columns, nr, comm, symbol, period, command;

	(void)state;
	text = skip_record(text, &nr_columns, fields);
	assert_non_null(text);
	comm = find_column(fields, nr_columns, "comm");
	symbol = find_column(fields, nr_columns, "symbol");
	period = find_column(fields, nr_columns, "period");
	command = find_column(fields, nr_columns, "command");
	for (size_t i = 0; i < snapshot_nr_rows(snapshot); i++) {
		const struct row *row = snapshot_row(snapshot, i);

		text = skip_record(text, &nr, fields);
		assert_non_null(text);
		assert_int_equal(nr, nr_columns);
		assert_string_equal(fields[comm].text, row->comm);
		assert_string_equal(fields[symbol].text, row->symbol);
		assert_string_equal(fields[command].text,
				    i ? "" : "symtop -d 5 --filter 'a \"b\" <c> & 7'");
		if (isnan(row->period))
			assert_string_equal(fields[period].text, "");
	}
	assert_int_equal(*text, '\0');
	assert_null(strstr(buf.text, "nan"));
	assert_null(strstr(buf.text, ",-0,"));
	release_fields(fields);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_csv_names_its_columns_once(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct report report = { .snapshot = snapshot, .command_line = "symtop", .is_first = true };
	char *text;
	size_t nr = 0, nr_heads = 0;

	(void)state;
	output_csv(&report);
	report.is_first = false;
	output_csv(&report);
	text = report.buf.text;
	for (char *line; (line = next_line(&text)); nr++)
		nr_heads += !strncmp(line, "time,", 5);
	assert_int_equal(nr, 1 + 2 * 3);
	assert_int_equal(nr_heads, 1);
	textbuf_release(&report.buf);
	snapshot_put(snapshot);
}

/* ---- Prometheus ---- */

static bool is_prometheus_line(const char *line)
{
	regex_t regex;
	bool matches;

	assert_int_equal(regcomp(&regex,
				 "^(# (HELP|TYPE) [a-z_]+ .+|"
				 "[a-z_]+(\\{([a-z_]+=\"([^\"\\\n]|\\\\[\\\"n])*\",?)+\\})? "
				 "(NaN|-?[0-9.]+(e[+-][0-9]+)?))$",
				 REG_EXTENDED),
			 0);
	matches = !regexec(&regex, line, 0, NULL, 0);
	regfree(&regex);
	return matches;
}

static void test_the_prometheus_reader_refuses_what_is_wrong(void **state)
{
	(void)state;
	assert_true(is_prometheus_line("a_b{c=\"d\\\\e\\\"\"} 1.5e-06"));
	assert_false(is_prometheus_line("a_b{c=\"d\"e\"} 1"));
	assert_false(is_prometheus_line("a_b{c=\"d\\\"} 1"));
	assert_false(is_prometheus_line("a_b{c=\"d\\x01\"} 1"));
	assert_false(is_prometheus_line("a_b 1 x"));
}

static void test_fc095_prometheus_lines_are_well_formed_and_unique(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf;
	char *lines[512];
	char *text;
	size_t nr = 0;

	(void)state;
	/* Twice the same labels: they must become one. */
	add_stack_row(snapshot, "plain", 99, "cpu-clock", (const char *const[]){ "plain" }, 1,
		      "plain", 7);
	buf = write_as("prometheus", snapshot);
	text = buf.text;
	assert_int_equal(buf.text[buf.len - 1], '\n');
	for (char *line; (line = next_line(&text));) {
		char *value = strrchr(line, ' ');

		if (!is_prometheus_line(line))
			fail_msg("'%s'", line);
		if (*line == '#')
			continue;
		*value = '\0';
		for (size_t i = 0; i < nr; i++)
			assert_string_not_equal(lines[i], line);
		assert_true(nr < ARRAY_SIZE(lines));
		lines[nr++] = line;
		if (!strcmp(line, "symtop_row_samples{comm=\"plain\",object=\"plain\","
				  "symbol=\"plain\"}"))
			assert_string_equal(value + 1, "8");
	}
	assert_true(nr > 30);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_prometheus_has_a_recording_when_there_is_one(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct recording_figures *recording = &snapshot_edit_header(snapshot)->recording;
	struct textbuf buf = write_as("prometheus", snapshot);
	char *text;

	(void)state;
	assert_null(strstr(buf.text, "recording"));
	textbuf_release(&buf);
	recording->nr_ended = 1;
	recording->bytes = 12345;
	recording->nr_dropped = 6;
	buf = write_as("prometheus", snapshot);
	assert_non_null(strstr(buf.text, "\nsymtop_recording_bytes 12345\n"));
	assert_non_null(strstr(buf.text, "\nsymtop_recording_dropped_records_total 6\n"));
	text = buf.text;
	for (char *line; (line = next_line(&text));)
		assert_true(is_prometheus_line(line));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_prometheus_labels_are_bounded(void **state)
{
	struct snapshot *snapshot = large_snapshot();
	struct textbuf buf = write_as("prometheus", snapshot);
	char name[1001];
	size_t nr = 0;

	(void)state;
	for (const char *p = buf.text; (p = strstr(p, "\nsymtop_overhead_ratio{")); p++)
		nr++;
	assert_int_equal(nr, 50);
	textbuf_release(&buf);
	buf = write_report(output_format_find("prometheus"), snapshot, 3);
	nr = 0;
	for (const char *p = buf.text; (p = strstr(p, "\nsymtop_overhead_ratio{")); p++)
		nr++;
	assert_int_equal(nr, 3);
	textbuf_release(&buf);
	snapshot_put(snapshot);

	/* 500 characters of two bytes after one of one: the cut is not inside of one. */
	for (size_t i = 0; i < 500; i++)
		memcpy(name + 2 * i, "\xc3\xa4", 2);
	name[0] = name[1] = 'x';
	name[1000] = '\0';
	snapshot = two_events_snapshot();
	add_stack_row(snapshot, name + 1, 1, "cycles", (const char *const[]){ "leaf" }, 1, "app",
		      1);
	buf = write_as("prometheus", snapshot);
	for (size_t i = 0; i < buf.len;) {
		uint32_t code;
		size_t len = text_utf8_len(buf.text + i, buf.len - i, &code);

		assert_true(len > 0);
		i += len;
	}
	assert_true(buf.len < 8000);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc095_csv_gives_every_name_back),
		cmocka_unit_test(test_csv_names_its_columns_once),
		cmocka_unit_test(test_the_prometheus_reader_refuses_what_is_wrong),
		cmocka_unit_test(test_fc095_prometheus_lines_are_well_formed_and_unique),
		cmocka_unit_test(test_prometheus_has_a_recording_when_there_is_one),
		cmocka_unit_test(test_prometheus_labels_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
