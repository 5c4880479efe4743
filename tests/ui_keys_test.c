/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys, and what they wish for. */
#include "config.h"

#include "ui/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/ui_fixture.h"
#include "ui/help.h"
#include "ui/input.h"

static void test_no_key_is_bound_twice(void **state UNUSED)
{
	for (size_t i = 0; i < keys_nr(); i++) {
		const struct key_binding *binding = keys_binding(i);

		assert_non_null(binding->run);
		assert_true(binding->codes[0] != 0);
		for (size_t c = 0; c < KEY_CODES && binding->codes[c]; c++)
			for (int view = 0; view < NR_VIEWS; view++)
				if (!binding->views || binding->views >> view & 1)
					assert_ptr_equal(
						keys_find((enum view)view, binding->codes[c]),
						binding);
	}
}

static void test_keys_that_htop_less_and_perf_share_are_there(void **state UNUSED)
{
	static const uint32_t keys[] = {
		'q',
		'h',
		'?',
		'/',
		'n',
		'N',
		'\\',
		'<',
		'>',
		'I',
		't',
		'd',
		'K',
		'U',
		'z',
		'Z',
		' ',
		's',
		'L',
		'P',
		'w',
		'W',
		'i',
		'%',
		'c',
		'b',
		'{',
		'}',
		',',
		'.',
		'k',
		'j',
		'g',
		'G',
		INPUT_F1,
		INPUT_F1 + 2,
		INPUT_F1 + 3,
		INPUT_F1 + 5,
		INPUT_F1 + 9,
		INPUT_ENTER,
		INPUT_ESCAPE,
		INPUT_CTRL('C'),
		INPUT_CTRL('Z'),
		INPUT_CTRL('L'),
		INPUT_CTRL('F'),
		INPUT_CTRL('B'),
		INPUT_HOME,
		INPUT_END,
		INPUT_PAGE_UP,
		INPUT_PAGE_DOWN,
		INPUT_LEFT,
		INPUT_RIGHT,
		INPUT_UP,
		INPUT_DOWN,
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_non_null(keys_find(VIEW_SYMBOLS, keys[i]));
	assert_null(keys_find(VIEW_SYMBOLS, 0));
	assert_null(keys_find(VIEW_SYMBOLS, INPUT_UNKNOWN));
	assert_null(keys_find(VIEW_SYMBOLS, INPUT_NONE));
}

static void test_every_key_is_on_the_help_page(void **state UNUSED)
{
	struct screen *screen = screen_new(24, 80, true);
	struct pager pager = { 0 };

	help_fill(&pager, screen, NULL);
	for (size_t i = 0; i < keys_nr(); i++) {
		bool found = false;

		for (size_t line = 0; line < pager.nr; line++)
			found |= strstr(pager.lines[line].text, keys_binding(i)->help) != NULL;
		if (!found)
			fail_msg("no help for: %s", keys_binding(i)->help);
	}
	pager_release(&pager);
	screen_free(screen);
}

static void test_names_of_keys_are_joined(void **state UNUSED)
{
	char names[32];

	keys_names(keys_find(VIEW_SYMBOLS, 'q'), names, sizeof(names));
	assert_string_equal(names, "q F10 ^C");
	keys_names(keys_find(VIEW_SYMBOLS, 'q'), names, 4);
	assert_string_equal(names, "q F");
}

static void test_the_bar_keeps_help_and_quit_on_narrow_screens(void **state UNUSED)
{
	for (int width = 16; width <= 120; width++) {
		struct screen *screen = screen_new(1, width, true);
		char *dump;

		keys_draw_bar(width % 2 ? VIEW_SYMBOLS : VIEW_ENGINE, screen, 0);
		dump = fixture_dump(screen);
		assert_non_null(strstr(dump, "F1 Help"));
		assert_non_null(strstr(dump, "q Quit"));
		free(dump);
		screen_free(screen);
	}
}

static void test_each_view_has_its_keys_in_the_bar(void **state UNUSED)
{
	struct screen *screen = screen_new(1, 200, true);
	char *dump;

	keys_draw_bar(VIEW_SYMBOLS, screen, 0);
	dump = fixture_dump(screen);
	assert_string_equal(dump, "F1 Help  F3 Search  F4 Filter  F6 Sort  w Window  Enter Detail  "
				  "Tab View  Space Pause  q Quit\n");
	free(dump);
	keys_draw_bar(VIEW_ENGINE, screen, 0);
	dump = fixture_dump(screen);
	assert_string_equal(dump, "F1 Help  + More readers  - Fewer  S Scan  Tab View  "
				  "Space Pause  q Quit\n");
	free(dump);
	screen_free(screen);
}

/* The KEYS section of the man page, its escapes undone; the caller's to free. */
static char *read_keys_section(void)
{
	const char *top = getenv("srcdir");
	struct textbuf page = { 0 };
	char path[512];
	char buf[4096];
	FILE *file;
	char *start;
	char *to;
	size_t nr;

	snprintf(path, sizeof(path), "%s/man/symtop.1", top ? top : ".");
	file = fopen(path, "r");
	assert_non_null(file);
	while ((nr = fread(buf, 1, sizeof(buf), file)) > 0)
		textbuf_add(&page, buf, nr);
	fclose(file);
	start = strstr(page.text, ".Sh KEYS\n");
	assert_non_null(start);
	start = strdup(start + 1);
	assert_non_null(start);
	textbuf_release(&page);
	assert_non_null(strstr(start, "\n.Sh "));
	*strstr(start, "\n.Sh ") = '\0';
	to = start;
	for (const char *from = start; *from; from++) {
		if (!strncmp(from, "\\&", 2)) {
			from++;
		} else if (!strncmp(from, "\\e", 2)) {
			*to++ = '\\';
			from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return start;
}

/* ".It Ic NAME" or ".It Ic OTHER , NAME" */
static bool is_item(const char *section, const char *name)
{
	for (const char *line = strstr(section, "\n.It Ic "); line;
	     line = strstr(line + 1, "\n.It Ic ")) {
		const char *word = line + strlen("\n.It Ic ");

		while (*word && *word != '\n') {
			size_t len = strcspn(word, " \n");

			if (len == strlen(name) && !memcmp(word, name, len))
				return true;
			word += len;
			word += strspn(word, " ");
			if (!strncmp(word, ", ", 2))
				word += 2;
		}
	}
	return false;
}

static void test_every_key_is_in_the_man_page(void **state UNUSED)
{
	char *section = read_keys_section();

	for (size_t i = 0; i < keys_nr(); i++) {
		const struct key_binding *binding = keys_binding(i);

		for (size_t c = 0; c < KEY_CODES && binding->codes[c]; c++) {
			char name[16];

			input_key_name(binding->codes[c], name);
			if (!is_item(section, name))
				fail_msg("man/symtop.1 lacks the key %s: %s", name, binding->help);
		}
	}
	free(section);
}

static void test_every_key_survives_every_screen(void **state UNUSED)
{
	static const int sizes[][2] = { { 1, 1 }, { 2, 5 }, { 24, 80 } };

	for (size_t first = 0; first < keys_nr(); first++) {
		for (size_t second = 0; second < keys_nr(); second++) {
			struct snapshot *snapshot = fixture_snapshot(NULL);
			struct state view;

			fixture_state(&view);
			if (first % 2)
				state_show(&view, snapshot);
			fixture_key(&view, keys_binding(first)->codes[0]);
			free(fixture_draw(&view, sizes[second % 3][0], sizes[second % 3][1], true));
			if (second % 2)
				state_show(&view, snapshot);
			fixture_key(&view, keys_binding(second)->codes[0]);
			free(fixture_draw(&view, sizes[first % 3][0], sizes[first % 3][1], false));
			snapshot_put(snapshot);
			state_release(&view);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_key_is_bound_twice),
		cmocka_unit_test(test_keys_that_htop_less_and_perf_share_are_there),
		cmocka_unit_test(test_every_key_is_on_the_help_page),
		cmocka_unit_test(test_names_of_keys_are_joined),
		cmocka_unit_test(test_the_bar_keeps_help_and_quit_on_narrow_screens),
		cmocka_unit_test(test_each_view_has_its_keys_in_the_bar),
		cmocka_unit_test(test_every_key_is_in_the_man_page),
		cmocka_unit_test(test_every_key_survives_every_screen),
	};

	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
