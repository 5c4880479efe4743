/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats that other programs read. Each has a reader here that is as strict as the
 * strictest of them; that a reader refuses what is wrong is a case of its own.
 */
#include "config.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "tests/top_fixture.h"
#include "top/output_format.h"

/* ---- the table ---- */

static void test_a_suffix_chooses_the_format_and_the_longest_wins(void **state)
{
	static const struct {
		const char *path, *format;
	} cases[] = {
		{ "x.folded", "folded" },
		{ "x.collapsed", "folded" },
		{ "x.pb.gz", "pprof" },
		{ "x.pprof", "pprof" },
		{ "x.json", "json" },
		{ "x.speedscope.json", "speedscope" },
		{ "x.jsonl", "json" },
		{ "x.firefox.json", "firefox" },
		{ "x.csv", "csv" },
		{ "x.prom", "prometheus" },
		{ "x.svg", "svg" },
		{ "x.perf-script", "script" },
		{ "x.txt", "text" },
		{ "/a.csv/x", NULL },
		{ "svg", NULL },
		{ "x.gz", NULL },
		{ "", NULL },
		{ "x.SVG", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct output_format *format = output_format_of_path(cases[i].path);

		if (format != (cases[i].format ? output_format_find(cases[i].format) : NULL))
			fail_msg("%s: %s", cases[i].path, format ? format->name : "none");
	}
}

static void test_the_keys_of_stack_formats_are_sort_keys(void **state)
{
	(void)state;
	for (size_t i = 0; output_format_at(i); i++) {
		const struct output_format *format = output_format_at(i);
		struct sort_keys keys;

		if (format->stack_keys)
			assert_int_equal(sort_keys_parse(format->stack_keys, &keys, NULL), 0);
		assert_ptr_equal(output_format_find(format->name), format);
	}
	assert_null(output_format_find("xml"));
}

static void test_a_snapshot_without_anything_is_written_by_every_format(void **state)
{
	struct view_spec spec;
	struct snapshot *snapshot;

	(void)state;
	view_spec_init(&spec);
	snapshot = begin_snapshot(&spec);
	snapshot_edit_header(snapshot)->freq = 0;
	for (size_t i = 0; output_format_at(i); i++) {
		struct textbuf buf = write_report(output_format_at(i), snapshot, 0);

		assert_true(buf.len > 0);
		textbuf_release(&buf);
	}
	snapshot_put(snapshot);
}

/* ---- streaming ---- */

static struct textbuf flushed;
static size_t nr_flushes, max_flushed;

static void collect(struct report *report)
{
	textbuf_add(&flushed, report->buf.text, report->buf.len);
	max_flushed = MAX(max_flushed, report->buf.len);
	nr_flushes++;
	textbuf_clear(&report->buf);
}

static void test_what_is_flushed_in_parts_is_the_whole(void **state)
{
	struct snapshot *snapshot = large_snapshot();

	(void)state;
	for (size_t i = 0; output_format_at(i); i++) {
		const struct output_format *format = output_format_at(i);
		struct textbuf whole = write_report(format, snapshot, 0);
		struct report report = {
			.snapshot = snapshot,
			.command_line = "symtop -d 5 --filter 'a \"b\" <c> & 7'",
			.verbose = true,
			.is_first = true,
			.flush = collect,
		};

		textbuf_clear(&flushed);
		nr_flushes = 0;
		format->write(&report);
		collect(&report);
		if (flushed.len != whole.len || memcmp(flushed.text, whole.text, whole.len))
			fail_msg("%s: %zu bytes in parts, %zu at once", format->name, flushed.len,
				 whole.len);
		if (format->write == output_script)
			assert_true(nr_flushes > 10);
		textbuf_release(&report.buf);
		textbuf_release(&whole);
	}
	textbuf_release(&flushed);
	snapshot_put(snapshot);
}

static void test_a_large_script_needs_little_memory(void **state)
{
	struct snapshot *snapshot = large_snapshot();
	struct report report = {
		.snapshot = snapshot,
		.command_line = "symtop",
		.flush = collect,
	};

	(void)state;
	max_flushed = 0;
	output_script(&report);
	assert_in_range(max_flushed, 1, 512 * 1024);
	textbuf_release(&report.buf);
	textbuf_release(&flushed);
	snapshot_put(snapshot);
}

/* ---- folded ---- */

static size_t count_byte(const char *text, char byte)
{
	size_t nr = 0;

	for (; (text = strchr(text, byte)); text++)
		nr++;
	return nr;
}

static void test_fc096_a_folded_line_has_exactly_the_frames_of_its_stack(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("folded", snapshot);
	char *text = buf.text;
	size_t nr_stacks = 0, nr_comments = 0;
	uint64_t nr_samples = 0;

	(void)state;
	for (char *line; (line = next_line(&text));) {
		char *space = strrchr(line, ' ');
		char *end;

		if (line[0] == '#') {
			/* Many readers take "TEXT NUMBER" for a stack wherever it is. */
			assert_null(space);
			nr_comments++;
			continue;
		}
		/* It must not come first either. */
		assert_int_equal(nr_comments, 0);
		assert_non_null(space);
		nr_samples += strtoull(space + 1, &end, 10);
		assert_true(end > space + 1 && !*end);
		*space = '\0';
		nr_stacks++;
		assert_int_equal(count_byte(line, ';'), strstr(line, "\\x01") == line ? 1 : 3);
		assert_null(strstr(line, ";;"));
		assert_true(*line != ';' && space[-1] != ';');
	}
	assert_int_equal(nr_stacks, snapshot_nr_chains(snapshot));
	assert_int_equal(nr_samples, snapshot_header(snapshot)->nr_samples);
	assert_true(nr_comments > 5);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_fc096_separators_in_folded_names_are_replaced(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("folded", snapshot);

	(void)state;
	assert_non_null(strstr(buf.text, "a:b c 12;a:b c 12;middle;a:b c 12 2\n"));
	assert_non_null(strstr(buf.text, "\n\\x23comment;#comment;middle;#comment 4\n"));
	assert_non_null(strstr(buf.text, "[no name];[no name];middle;[no name] 14\n"));
	assert_non_null(strstr(buf.text, "#command=symtop\\x20-d\\x205\\x20--filter\\x20'a"));
	assert_non_null(strstr(buf.text, "\n#rate_hz=4000\n"));
	assert_non_null(strstr(buf.text, "\n#window_s=2.000\n"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_several_events_have_stacks_of_their_own(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("folded", snapshot);

	(void)state;
	assert_non_null(strstr(buf.text, "faults:u;app;main;leaf 5\n"));
	assert_non_null(strstr(buf.text, "cycles;app;main;leaf 30\n"));
	textbuf_release(&buf);
	buf = write_as("speedscope", snapshot);
	assert_non_null(strstr(buf.text, "\"all threads (cycles)\",\"unit\":\"none\","
					 "\"startValue\":0,\"endValue\":32,"));
	assert_non_null(strstr(buf.text, "\"app 7/7 (faults:u)\",\"unit\":\"none\","
					 "\"startValue\":0,\"endValue\":5,"));
	textbuf_release(&buf);
	buf = write_as("svg", snapshot);
	assert_non_null(strstr(buf.text, "<title>faults:u (5 samples, 13.51%)</title>"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_a_fraction_of_a_sample_is_none(void **state)
{
	static const char *const frames[] = { "leaf" };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct textbuf buf;

	(void)state;
	view_spec_init(&spec);
	snapshot = begin_snapshot(&spec);
	add_stack_row(snapshot, "a", 1, "e", frames, 1, "app", 0.4);
	add_stack_row(snapshot, "b", 1, "e", frames, 1, "app", 1.6);
	add_stack_row(snapshot, "c", 1, "e", frames, 1, "app", NAN);
	buf = write_as("folded", snapshot);
	assert_int_equal(strncmp(buf.text, "b;leaf 2\n#command=", 18), 0);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

/* ---- perf script ---- */

/* The regular expressions of its readers, as POSIX has them. */
static const char record_regex[] =
	"^([^[:space:]].+)[[:space:]]+([0-9]+)/([0-9]+) \\[([0-9]+)\\] ([0-9]+\\.[0-9]+): +[0-9]+ "
	"([^[:space:]]+):$";
static const char frame_regex[] =
	"^[[:space:]]*([0-9a-f]+)[[:space:]]*(.+) \\(([^[:space:]()]*)\\)$";

static char *matched(const char *line, const regmatch_t *match)
{
	return mem_strndup(line + match->rm_so, (size_t)(match->rm_eo - match->rm_so));
}

static void test_fc096_each_sample_of_a_script_is_read_back(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("script", snapshot);
	char *text = buf.text;
	regex_t record, frame;
	regmatch_t matches[7];
	size_t nr_samples = 0, nr_frames = 0, nr_hash = 0;
	bool in_record = false;

	(void)state;
	assert_int_equal(regcomp(&record, record_regex, REG_EXTENDED), 0);
	assert_int_equal(regcomp(&frame, frame_regex, REG_EXTENDED), 0);
	assert_int_equal(strncmp(text, "# ========\n", 11), 0);
	for (char *line; (line = next_line(&text));) {
		if (!*line) {
			in_record = false;
		} else if (*line == '#') {
			assert_false(in_record);
		} else if (in_record) {
			if (regexec(&frame, line, 7, matches, 0))
				fail_msg("no frame: '%s'", line);
			nr_frames++;
		} else {
			char *comm, *tid;

			if (regexec(&record, line, 7, matches, 0))
				fail_msg("no sample: '%s'", line);
			comm = matched(line, &matches[1]);
			tid = matched(line, &matches[3]);
			in_record = true;
			nr_samples++;
			nr_hash += !strcmp(tid, "3");
			if (!strcmp(tid, "3"))
				assert_int_equal(strncmp(comm, "\\x23comment", 11), 0);
			if (!strcmp(tid, "4"))
				assert_int_equal(
					strncmp(comm, "\\x20lead\\x203/4 [000]\\x201.0:", 28), 0);
			free(comm);
			free(tid);
		}
	}
	assert_int_equal(nr_samples, snapshot_header(snapshot)->nr_samples);
	assert_int_equal(nr_frames, 3 * (nr_samples - 1) + 1);
	assert_int_equal(nr_hash, 4);
	regfree(&record);
	regfree(&frame);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_samples_of_a_thread_follow_one_another_at_the_rate(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("script", snapshot);

	(void)state;
	/* The window begins at 3 s; 4000 Hz are 250 us. */
	assert_non_null(strstr(buf.text, "app  7/7 [000] 3.000000000:     250000 cycles:\n"));
	assert_non_null(strstr(buf.text, "app  7/7 [000] 3.007250000:     250000 cycles:\n"));
	assert_non_null(strstr(buf.text, "app  8/8 [000] 3.000250000:     250000 cycles:\n"));
	textbuf_release(&buf);
	snapshot_edit_header(snapshot)->freq = 0;
	buf = write_as("script", snapshot);
	/* Without a rate the busiest thread fills the window. */
	assert_non_null(strstr(buf.text, "app  7/7 [000] 4.933333333:"));
	assert_null(strstr(buf.text, "app  7/7 [000] 5."));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

/* ---- JSON of others ---- */

static void test_fc095_speedscope_and_firefox_are_json(void **state)
{
	static const char *const names[] = { "speedscope", "firefox" };
	struct snapshot *snapshot = hostile_snapshot();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct textbuf buf = write_as(names[i], snapshot);
		size_t len = 0;

		/* The reader of JSON lines knows no blanks between values. */
		for (size_t j = 0; j + 1 < buf.len; j++) {
			if (buf.text[j] != '\n')
				buf.text[len++] = buf.text[j];
		}
		buf.text[len++] = '\n';
		buf.text[len] = '\0';
		if (!is_json_line(buf.text))
			fail_msg("%s is not JSON: %s", names[i], buf.text);
		textbuf_release(&buf);
	}
	snapshot_put(snapshot);
}

static void test_speedscope_frames_are_named_once_and_found(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("speedscope", snapshot);

	(void)state;
	/* app, main, leaf; then by thread main, leaf. */
	assert_non_null(strstr(buf.text, "\"samples\":[[0,1,2],[0,1,2]],\"weights\":[30,2]}"));
	assert_non_null(strstr(buf.text, "\"samples\":[[1,2]],\"weights\":[2]}"));
	assert_non_null(strstr(buf.text, "\"frames\":[\n{\"name\":\"app\"},\n"
					 "{\"name\":\"main\",\"file\":\"app\"},\n"
					 "{\"name\":\"leaf\",\"file\":\"app\"}\n]"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_firefox_has_a_line_for_each_sample_and_tables_by_thread(void **state)
{
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("firefox", snapshot);

	(void)state;
	assert_non_null(strstr(buf.text, "\"data\":[[1,0,0],[1,0.25,0],[1,0.5,0],[1,0.75,0],"
					 "[1,1,0]]},\n"));
	assert_non_null(strstr(buf.text, "\"data\":[[null,0],[0,1]]}"));
	assert_non_null(strstr(buf.text, "\"stringTable\":[\"main (in app)\",\"leaf (in app)\"]"));
	assert_non_null(strstr(buf.text, "[1,false,0,null,null,null,null,1,0]"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_a_name_with_an_object_in_it_keeps_its_own(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("firefox", snapshot);
	const char *plain = strstr(buf.text, "\"plain (in plain)\"");

	(void)state;
	assert_non_null(strstr(buf.text, "\"evil \\\\x28in a) (b:c) (in evil \\\\x28in a\\\\x29 "
					 "\\\\x28b:c\\\\x29)\""));
	/* A thread has the strings of its own frames alone. */
	assert_non_null(plain);
	assert_null(strstr(plain + 1, "\"plain (in plain)\""));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

/* ---- SVG ---- */

/* NULL: it is no entity; else what is behind it. */
static const char *skip_entity(const char *p)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

	for (size_t i = 0; i < ARRAY_SIZE(entities); i++) {
		if (!strncmp(p, entities[i], strlen(entities[i])))
			return p + strlen(entities[i]);
	}
	return NULL;
}

/* Elements are closed in order, text and attributes hold no markup, characters are XML's. */
static bool is_xml(const char *p)
{
	char open[16][16];
	size_t depth = 0, len;
	uint32_t code;

	if (strncmp(p, "<?xml ", 6))
		return false;
	p = strstr(p, "?>\n") + 3;
	while (*p) {
		if (*p == '&') {
			p = skip_entity(p);
			if (!p)
				return false;
			continue;
		}
		if (*p != '<') {
			len = text_utf8_len(p, strlen(p), &code);
			if (!len || *p == '>' || (code < 0x20 && code != '\n') || code == 0xfffe ||
			    code == 0xffff || (!depth && code != '\n'))
				return false;
			p += len;
			continue;
		}
		len = strcspn(p, ">");
		if (p[1] == '/') {
			if (!depth-- || strlen(open[depth]) != len - 2 ||
			    strncmp(open[depth], p + 2, len - 2))
				return false;
		} else if (p[len - 1] != '/') {
			size_t name_len = strcspn(p + 1, " >");

			if (depth == 16 || name_len > 15)
				return false;
			snprintf(open[depth++], 16, "%.*s", (int)name_len, p + 1);
		}
		p += len + 1;
	}
	return depth == 0;
}

static void test_the_xml_reader_refuses_what_is_wrong(void **state)
{
	(void)state;
	assert_true(is_xml("<?xml v?>\n<a><b x=\"1\"/>&amp;\n</a>\n"));
	assert_false(is_xml("<?xml v?>\n<a><b></a></b>\n"));
	assert_false(is_xml("<?xml v?>\n<a>&x;</a>\n"));
	assert_false(is_xml("<?xml v?>\n<a>\xef\xbf\xbe</a>\n"));
	assert_false(is_xml("<?xml v?>\n<a>\x01</a>\n"));
	assert_false(is_xml("<?xml v?>\n<a>\n"));
}

static void test_fc095_svg_is_xml_and_fetches_nothing(void **state)
{
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("svg", snapshot);
	const char *http = strstr(buf.text, "http");

	(void)state;
	if (!is_xml(buf.text))
		fail_msg("not XML: %s", buf.text);
	assert_non_null(strstr(buf.text, "<title>plain [k] (1 sample, "));
	assert_non_null(strstr(buf.text, "command: symtop -d 5 --filter &#39;a &quot;b&quot; "
					 "&lt;c&gt; &amp; 7&#39;\n"));
	/* The name space is a name. */
	assert_int_equal(strncmp(http, "http://www.w3.org/2000/svg\"", 27), 0);
	assert_null(strstr(http + 1, "http"));
	assert_null(strstr(buf.text, "<script"));
	assert_null(strstr(buf.text, "href"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_equal_beginnings_are_one_rectangle(void **state)
{
	/* Not in the order of the tree. */
	static const char *const stacks[][3] = { { "x", "f", "main" },
						 { "x", "g", "main" },
						 { "y", "f", "main" } };
	struct view_spec spec;
	struct snapshot *snapshot;
	struct textbuf buf;

	(void)state;
	view_spec_init(&spec);
	snapshot = begin_snapshot(&spec);
	for (size_t i = 0; i < 3; i++)
		add_stack_row(snapshot, "app", 1, "e", stacks[i], 3, "app", (double)(i + 1));
	buf = write_as("svg", snapshot);
	assert_non_null(strstr(buf.text, "<title>all (6 samples, 100.00%)</title>"));
	assert_non_null(strstr(buf.text, "<title>app (6 samples, 100.00%)</title>"));
	assert_non_null(strstr(buf.text, "<title>main (6 samples, 100.00%)</title>"));
	assert_non_null(strstr(buf.text, "<title>f (4 samples, 66.67%)</title>"));
	assert_non_null(strstr(buf.text, "<title>g (2 samples, 33.33%)</title>"));
	assert_non_null(strstr(buf.text, "<title>x [k] (1 sample, 16.67%)</title>"));
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_a_label_ends_where_its_rectangle_does(void **state)
{
	char name[401] = "";
	struct view_spec spec;
	struct snapshot *snapshot;
	struct textbuf buf;
	const char *label, *end;

	(void)state;
	memset(name, 'x', 400);
	view_spec_init(&spec);
	snapshot = begin_snapshot(&spec);
	add_stack_row(snapshot, "app", 1, "e", (const char *const[]){ name }, 1, "app", 1);
	buf = write_as("svg", snapshot);
	/* All of it for who points at it. */
	assert_non_null(strstr(buf.text, name));
	end = strstr(buf.text, "..</text>");
	assert_non_null(end);
	for (label = end; label[-1] == 'x';)
		label--;
	assert_in_range(end - label, 150, 165);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_suffix_chooses_the_format_and_the_longest_wins),
		cmocka_unit_test(test_the_keys_of_stack_formats_are_sort_keys),
		cmocka_unit_test(test_a_snapshot_without_anything_is_written_by_every_format),
		cmocka_unit_test(test_what_is_flushed_in_parts_is_the_whole),
		cmocka_unit_test(test_a_large_script_needs_little_memory),
		cmocka_unit_test(test_fc096_a_folded_line_has_exactly_the_frames_of_its_stack),
		cmocka_unit_test(test_fc096_separators_in_folded_names_are_replaced),
		cmocka_unit_test(test_several_events_have_stacks_of_their_own),
		cmocka_unit_test(test_a_fraction_of_a_sample_is_none),
		cmocka_unit_test(test_fc096_each_sample_of_a_script_is_read_back),
		cmocka_unit_test(test_samples_of_a_thread_follow_one_another_at_the_rate),
		cmocka_unit_test(test_fc095_speedscope_and_firefox_are_json),
		cmocka_unit_test(test_speedscope_frames_are_named_once_and_found),
		cmocka_unit_test(test_firefox_has_a_line_for_each_sample_and_tables_by_thread),
		cmocka_unit_test(test_a_name_with_an_object_in_it_keeps_its_own),
		cmocka_unit_test(test_the_xml_reader_refuses_what_is_wrong),
		cmocka_unit_test(test_fc095_svg_is_xml_and_fetches_nothing),
		cmocka_unit_test(test_equal_beginnings_are_one_rectangle),
		cmocka_unit_test(test_a_label_ends_where_its_rectangle_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
