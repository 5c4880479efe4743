/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "core/base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_errno_is_described_once(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_set(&err, -ENOENT, "%s %d", "file", 7), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "file 7: No such file or directory");
}

static void test_said_text_stands_alone(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_say(&err, -EINVAL, "no such event \"%s\"", "cycels"), -EINVAL);
	assert_string_equal(err.text, "no such event \"cycels\"");
	/* A later fault replaces it. */
	err_say(&err, -EBUSY, "busy");
	assert_string_equal(err.text, "busy");
	assert_int_equal(err.code, -EBUSY);
}

static void test_hint_has_a_line_of_its_own(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_say(&err, -EPERM, "no rights");
	err_hint(&err, "be %s", "root");
	assert_string_equal(err.text, "no rights\nbe root");
	assert_int_equal(err.code, -EPERM);
}

static void test_nobody_has_to_listen(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, -EIO, "%s", "text"), -EIO);
	assert_int_equal(err_say(NULL, -EIO, "%s", "text"), -EIO);
	err_hint(NULL, "%s", "text");
}

static void test_long_texts_are_cut(void **state)
{
	char text[5000];
	struct err err = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, -EIO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_hint(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_say(&err, -EIO, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void print_hook(void)
{
	ssize_t ignored = write(STDERR_FILENO, "hook\n", 5);

	(void)ignored;
}

static void die_in_hook(void)
{
	print_hook();
	die("again");
}

/* A child that dies with @hook writes @expected and exits with 1. */
static void check_death(void (*hook)(void), const char *expected)
{
	char text[256] = "";
	size_t len = 0;
	int fds[2];
	int status;
	ssize_t nr;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		die_set_hook(hook);
		die("shard %d is gone", 3);
	}
	close(fds[1]);
	while ((nr = read(fds[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)nr;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_string_equal(text, expected);
}

static void test_death_restores_the_terminal_first(void **state)
{
	(void)state;
	check_death(NULL, "symtop: shard 3 is gone\n");
	check_death(print_hook, "hook\nsymtop: shard 3 is gone\n");
}

static void test_hook_that_dies_does_not_run_again(void **state)
{
	(void)state;
	check_death(die_in_hook, "hook\nsymtop: again\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errno_is_described_once),
		cmocka_unit_test(test_said_text_stands_alone),
		cmocka_unit_test(test_hint_has_a_line_of_its_own),
		cmocka_unit_test(test_nobody_has_to_listen),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_death_restores_the_terminal_first),
		cmocka_unit_test(test_hook_that_dies_does_not_run_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
