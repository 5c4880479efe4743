/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of a recording on stderr, and the signals around its end. */
#include "config.h"

#include "top/recording.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "top/signals.h"

/* stderr goes to a file from the first on; the second gives what is in it. */
static int redirect(FILE **ret_file)
{
	int saved = dup(STDERR_FILENO);

	*ret_file = tmpfile();
	assert_non_null(*ret_file);
	assert_true(saved >= 0 && dup2(fileno(*ret_file), STDERR_FILENO) >= 0);
	return saved;
}

static void restore(int saved, FILE *file, char ret_text[static 1024])
{
	size_t nr;

	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	nr = fread(ret_text, 1, 1023, file);
	ret_text[nr] = '\0';
	fclose(file);
}

static void tell(struct session *session, const struct recording_figures *figures,
		 char ret_text[static 1024])
{
	FILE *file;
	int saved = redirect(&file);

	recording_tell(session, figures);
	restore(saved, file, ret_text);
}

static void test_each_end_is_told_once(void **state)
{
	struct recording_figures figures = { .path = "a.data", .trouble = "", .bytes = 12900000 };
	struct session session = { 0 };
	char text[1024];

	(void)state;
	tell(&session, &figures, text);
	assert_string_equal(text, "");
	figures.nr_ended = 1;
	tell(&session, &figures, text);
	assert_string_equal(text, "symtop: recorded 12 MB to a.data\n");
	tell(&session, &figures, text);
	assert_string_equal(text, "");
	figures.nr_ended = 2;
	figures.nr_dropped = 123;
	tell(&session, &figures, text);
	assert_string_equal(text, "symtop: recorded 12 MB to a.data, 123 records dropped: "
				  "the disk was too slow\n");
	assert_false(session.recording_failed);
}

static void test_trouble_names_the_file_once_and_is_a_failure(void **state)
{
	struct recording_figures figures = {
		.path = "a\033[m",
		.trouble = "no room",
		.nr_ended = 1,
		.bytes = 7,
	};
	struct session session = { 0 };
	char text[1024];

	(void)state;
	tell(&session, &figures, text);
	assert_string_equal(text, "symtop: a\\x1b[m: no room\n");
	assert_true(session.recording_failed);
	figures.path = "b";
	figures.trouble = "b: no room";
	figures.nr_ended = 2;
	tell(&session, &figures, text);
	assert_string_equal(text, "symtop: b: no room\n");
}

static void test_a_session_without_a_collector_keeps_its_status(void **state)
{
	struct session session = { 0 };

	(void)state;
	assert_int_equal(recording_finish(&session, 0), 0);
	assert_int_equal(recording_finish(&session, 2), 2);
}

static void test_the_signal_is_left_alone_when_nothing_is_recorded(void **state)
{
	struct options options = { 0 };
	struct session session = { .options = &options };

	(void)state;
	assert_false(recording_wants_signal(&session));
	options.record = "x";
	assert_false(recording_wants_signal(&session));
	session.interactive = true;
	assert_true(recording_wants_signal(&session));
	session.interactive = false;
	options.keep_ns = 1;
	assert_true(recording_wants_signal(&session));
}

static void test_a_flight_recorder_without_a_screen_needs_a_name(void **state)
{
	struct options options = { .keep_ns = 1, .format = output_format_at(0) };
	struct session session = { .options = &options, .signal_fd = -1 };
	char text[1024];
	FILE *file;
	int saved;
	int status;

	(void)state;
	saved = redirect(&file);
	status = batch_run(&session);
	restore(saved, file, text);
	assert_int_equal(status, 2);
	assert_string_equal(text, "symtop: --flight without a screen: give -w FILE, to which "
				  "SIGUSR2 writes\n");
}

/* How a child ends that runs @run: a wait status. */
static int status_of(void (*run)(int fd))
{
	pid_t pid = fork();
	int status = 0;
	int fd;

	if (!pid) {
		if (signals_init(false, true, &fd, NULL) < 0)
			_exit(99);
		run(fd);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void interrupt_twice(int fd)
{
	raise(SIGHUP);
	raise(SIGTERM);
	signals_let_through(fd);
	if (signals_next(fd))
		_exit(1);
	raise(SIGINT);
}

static void interrupt_afterwards(int fd)
{
	signals_let_through(fd);
	signals_hold();
	raise(SIGINT);
	raise(SIGUSR2);
	if (signals_next(fd) != SIGINT || signals_next(fd) != SIGUSR2)
		_exit(1);
}

static void test_a_second_interrupt_ends_the_wait_for_the_disk(void **state)
{
	int status;

	(void)state;
	status = status_of(interrupt_twice);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	status = status_of(interrupt_afterwards);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_end_is_told_once),
		cmocka_unit_test(test_trouble_names_the_file_once_and_is_a_failure),
		cmocka_unit_test(test_a_session_without_a_collector_keeps_its_status),
		cmocka_unit_test(test_the_signal_is_left_alone_when_nothing_is_recorded),
		cmocka_unit_test(test_a_flight_recorder_without_a_screen_needs_a_name),
		cmocka_unit_test(test_a_second_interrupt_ends_the_wait_for_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
