/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real thing on a pseudo-terminal: taken over, drawn on, given back. */
#include "config.h"

#include "ui/ui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "tests/ui_fixture.h"

/* Only against a hang; nothing is measured. */
enum { PATIENCE_MS = 60000 };

enum { EXIT_QUIT = 0, EXIT_OPEN_FAILED = 40, EXIT_BROKEN = 41, EXIT_TERM = 42 };

struct session {
	int master, slave;
	pid_t pid;
	struct termios before;
	struct textbuf output;
};

struct terminal_setup {
	const char *term; /* NULL: unset */
	const char *no_color;
	unsigned short nr_rows, nr_columns;
	int nr_rows_of_table; /* 0: the usual fixture */
};

static volatile sig_atomic_t resized;

static void on_resize(int number UNUSED)
{
	resized = 1;
}

static void on_term(int number UNUSED)
{
	ui_restore_terminal();
	_exit(EXIT_TERM);
}

static void on_suspend(int number UNUSED)
{
}

/* ---- in the child: what top/ does ---- */

static bool dispositions_are_ours(void)
{
	struct sigaction action;

	sigaction(SIGTERM, NULL, &action);
	if (action.sa_handler != on_term)
		return false;
	sigaction(SIGWINCH, NULL, &action);
	if (action.sa_handler != on_resize)
		return false;
	sigaction(SIGTSTP, NULL, &action);
	if (action.sa_handler != on_suspend)
		return false;
	sigaction(SIGINT, NULL, &action);
	return action.sa_handler == SIG_DFL;
}

static int run_loop(struct ui *ui)
{
	struct pollfd poll_fd = { .fd = STDIN_FILENO, .events = POLLIN };
	struct ui_wish wish;

	for (;;) {
		uint64_t now_ns = clock_now_ns();
		uint64_t deadline_ns = ui_deadline_ns(ui);
		int timeout = -1;

		if (deadline_ns)
			timeout = deadline_ns > now_ns
					  ? (int)((deadline_ns - now_ns) / NSEC_PER_MSEC) + 1
					  : 0;
		poll(&poll_fd, 1, timeout);
		if (resized) {
			resized = 0;
			ui_resize(ui);
		}
		do {
			ui_next(ui, &wish);
			if (wish.action == UI_QUIT)
				return EXIT_QUIT;
			if (wish.action == UI_SUSPEND) {
				raise(SIGSTOP);
				ui_resume(ui);
			}
			if (wish.action == UI_SPEC)
				ui_message(ui, NOTE_INFO, wish.spec.filter);
		} while (wish.action != UI_NONE);
	}
}

static int run_child(const struct terminal_setup *setup)
{
	struct ui_options options = { .refresh_ns = 2 * NSEC_PER_SEC };
	struct snapshot *snapshot;
	struct err err = { 0 };
	struct ui *ui;
	int status;

	if (setup->term)
		setenv("TERM", setup->term, 1);
	else
		unsetenv("TERM");
	unsetenv("LINES");
	unsetenv("COLUMNS");
	if (setup->no_color)
		setenv("NO_COLOR", setup->no_color, 1);
	else
		unsetenv("NO_COLOR");
	setenv("LC_ALL", "C.UTF-8", 1);
	signal(SIGHUP, SIG_IGN);
	signal(SIGWINCH, on_resize);
	signal(SIGTERM, on_term);
	signal(SIGTSTP, on_suspend);
	signal(SIGINT, SIG_DFL);
	view_spec_init(&options.spec);
	if (ui_open(&options, &ui, &err) < 0) {
		/* One line that names the type and the way out. */
		return strstr(err.text, "-b") && !strchr(err.text, '\n') &&
				       strstr(err.text,
					      setup->term && *setup->term ? setup->term : "TERM")
			       ? EXIT_OPEN_FAILED
			       : EXIT_BROKEN;
	}
	snapshot = setup->nr_rows_of_table ? fixture_many((size_t)setup->nr_rows_of_table, false)
					   : fixture_snapshot(NULL);
	ui_show(ui, snapshot);
	snapshot_put(snapshot);
	if (!dispositions_are_ours())
		return EXIT_BROKEN;
	status = run_loop(ui);
	ui_close(ui);
	return status;
}

/* ---- in the parent: the terminal ---- */

static struct session start(const struct terminal_setup *setup)
{
	struct winsize size = { .ws_row = setup->nr_rows, .ws_col = setup->nr_columns };
	struct session session = { 0 };

	assert_int_equal(openpty(&session.master, &session.slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(session.slave, &session.before), 0);
	session.pid = fork();
	assert_true(session.pid >= 0);
	if (!session.pid) {
		close(session.master);
		if (login_tty(session.slave) < 0)
			_exit(EXIT_BROKEN);
		_exit(run_child(setup));
	}
	textbuf_puts(&session.output, "");
	return session;
}

/* Read once; false: the terminal was let go by everyone, or nothing came in time. */
static bool read_some(struct session *session, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = session->master, .events = POLLIN };
	char bytes[4096];
	ssize_t nr;

	if (poll(&poll_fd, 1, timeout_ms) <= 0)
		return false;
	nr = read(session->master, bytes, sizeof(bytes));
	if (nr <= 0)
		return false;
	textbuf_add(&session->output, bytes, (size_t)nr);
	return true;
}

static void wait_for(struct session *session, const char *text)
{
	while (!strstr(session->output.text, text))
		if (!read_some(session, PATIENCE_MS))
			fail_msg("\"%s\" never came in: %s", text, session->output.text);
}

static void send_keys(struct session *session, const char *keys)
{
	assert_int_equal(write(session->master, keys, strlen(keys)), strlen(keys));
}

/* Wait for the child to change state, reading on so that it is not held up. */
static int wait_child(struct session *session, int options)
{
	int status = 0;

	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		if (waitpid(session->pid, &status, options | WNOHANG) == session->pid)
			return status;
		read_some(session, 10);
	}
	kill(session->pid, SIGKILL);
	waitpid(session->pid, &status, 0);
	fail_msg("the child hangs");
	return status;
}

static void assert_modes_restored(const struct session *session)
{
	struct termios after;

	assert_int_equal(tcgetattr(session->slave, &after), 0);
	assert_int_equal(after.c_iflag, session->before.c_iflag);
	assert_int_equal(after.c_oflag, session->before.c_oflag);
	assert_int_equal(after.c_lflag, session->before.c_lflag);
	assert_int_equal(after.c_cflag, session->before.c_cflag);
	assert_memory_equal(after.c_cc, session->before.c_cc, sizeof(after.c_cc));
}

/* The last of @on was followed by an @off. */
static void assert_switched_off(const struct session *session, const char *on, const char *off)
{
	const char *last = NULL;

	for (const char *at = session->output.text; (at = strstr(at, on)); at++)
		last = at;
	assert_non_null(last);
	assert_non_null(strstr(last, off));
}

static void finish(struct session *session)
{
	while (read_some(session, 0))
		;
	close(session->master);
	close(session->slave);
	textbuf_release(&session->output);
}

static void expect_exit(struct session *session, int code)
{
	int status = wait_child(session, 0);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
	while (read_some(session, 0))
		;
}

static const struct terminal_setup usual = { .term = "xterm", .nr_rows = 24, .nr_columns = 80 };

static void test_fc001_terminals_that_cannot_show_a_screen_are_untouched(void **state UNUSED)
{
	static const char *const types[] = { NULL, "", "nonesuch", "dumb" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct terminal_setup setup = usual;
		struct session session;

		setup.term = types[i];
		session = start(&setup);
		expect_exit(&session, EXIT_OPEN_FAILED);
		assert_modes_restored(&session);
		assert_string_equal(session.output.text, "");
		finish(&session);
	}
}

static void test_screen_appears_and_quit_gives_the_terminal_back(void **state UNUSED)
{
	struct session session = start(&usual);

	wait_for(&session, "copy_page_range");
	wait_for(&session, "Quit");
	send_keys(&session, "q");
	expect_exit(&session, EXIT_QUIT);
	assert_modes_restored(&session);
	assert_switched_off(&session, "\033[?1049h", "\033[?1049l");
	finish(&session);
}

static void test_unknown_sequences_do_not_quit(void **state UNUSED)
{
	struct session session = start(&usual);

	wait_for(&session, "Quit");
	send_keys(&session, "\033[1;2q");
	wait_for(&session, "that key does nothing here");
	send_keys(&session, "\033[21~"); /* F10 */
	expect_exit(&session, EXIT_QUIT);
	finish(&session);
}

static void test_a_lone_escape_works(void **state UNUSED)
{
	struct session session = start(&usual);

	wait_for(&session, "Quit");
	send_keys(&session, "d");
	wait_for(&session, "dso=crowd");
	send_keys(&session, "h");
	wait_for(&session, "Esc goes back");
	textbuf_clear(&session.output);
	send_keys(&session, "\033");
	wait_for(&session, "copy_page_range");
	send_keys(&session, "q");
	expect_exit(&session, EXIT_QUIT);
	finish(&session);
}

static void test_hang_up_is_quit(void **state UNUSED)
{
	struct session session = start(&usual);
	int status = 0;

	wait_for(&session, "Quit");
	close(session.slave);
	close(session.master);
	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		if (waitpid(session.pid, &status, WNOHANG) == session.pid)
			break;
		poll(NULL, 0, 10);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_QUIT);
	textbuf_release(&session.output);
}

static void test_fc082_a_signal_handler_gives_the_terminal_back(void **state UNUSED)
{
	static const char *const types[] = { "xterm", "vt100", "linux" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct terminal_setup setup = usual;
		struct session session;

		setup.term = types[i];
		session = start(&setup);
		wait_for(&session, "Quit");
		kill(session.pid, SIGTERM);
		expect_exit(&session, EXIT_TERM);
		assert_modes_restored(&session);
		if (!strcmp(types[i], "xterm")) {
			assert_switched_off(&session, "\033[?1049h", "\033[?1049l");
			assert_switched_off(&session, "\033[?25l", "\033[?12l\033[?25h");
			assert_switched_off(&session, "\033[?1h\033=", "\033[?1l\033>");
		}
		assert_null(strstr(session.output.text, "$<"));
		finish(&session);
	}
}

static void test_fc083_suspend_and_resume(void **state UNUSED)
{
	struct winsize size = { .ws_row = 10, .ws_col = 60 };
	struct session session = start(&usual);
	int status;

	wait_for(&session, "Quit");
	send_keys(&session, "\x1a");
	status = wait_child(&session, WUNTRACED);
	assert_true(WIFSTOPPED(status));
	while (read_some(&session, 0))
		;
	assert_modes_restored(&session);
	assert_switched_off(&session, "\033[?1049h", "\033[?1049l");
	ioctl(session.master, TIOCSWINSZ, &size);
	textbuf_clear(&session.output);
	kill(session.pid, SIGCONT);
	/* All of it again, at the new size. */
	wait_for(&session, "copy_page_range");
	wait_for(&session, "Quit");
	assert_non_null(strstr(session.output.text, "\033[?1049h"));
	send_keys(&session, "q");
	expect_exit(&session, EXIT_QUIT);
	assert_modes_restored(&session);
	finish(&session);
}

static void test_fc085_mono_terminals_get_no_colours(void **state UNUSED)
{
	static const struct terminal_setup setups[] = {
		{ .term = "vt100", .nr_rows = 24, .nr_columns = 80 },
		{ .term = "xterm-mono", .nr_rows = 24, .nr_columns = 80 },
		{ .term = "xterm", .no_color = "1", .nr_rows = 24, .nr_columns = 80 },
		{ .term = "xterm", .nr_rows = 24, .nr_columns = 80 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(setups); i++) {
		struct session session = start(&setups[i]);
		bool has_red;

		wait_for(&session, "Quit");
		send_keys(&session, "q");
		expect_exit(&session, EXIT_QUIT);
		has_red =
			strstr(session.output.text, "[31m") || strstr(session.output.text, ";31m");
		assert_int_equal(has_red, i == 3);
		assert_non_null(strstr(session.output.text, "7m")); /* reverse, for the cursor */
		assert_non_null(strstr(session.output.text, "26.72%"));
		finish(&session);
	}
}

static void test_fc089_tiny_and_unknown_sizes_work(void **state UNUSED)
{
	static const unsigned short sizes[][2] = { { 1, 1 },   { 2, 5 }, { 3, 10 },    { 24, 1 },
						   { 1, 200 }, { 0, 0 }, { 500, 1000 } };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct terminal_setup setup = usual;
		struct session session;

		setup.nr_rows = sizes[i][0];
		setup.nr_columns = sizes[i][1];
		session = start(&setup);
		wait_for(&session, "\033[?1049h");
		send_keys(&session, "jh\033[B");
		send_keys(&session, "qwq\r\rqq");
		expect_exit(&session, EXIT_QUIT);
		assert_modes_restored(&session);
		finish(&session);
	}
}

static void test_fc090_resize_storm(void **state UNUSED)
{
	struct terminal_setup setup = usual;
	struct session session;
	unsigned int seed = 3;

	setup.nr_rows_of_table = 1000;
	session = start(&setup);
	wait_for(&session, "Quit");
	send_keys(&session, "G");
	for (int i = 0; i < 100; i++) {
		struct winsize size;

		seed = seed * 1103515245 + 12345;
		size = (struct winsize){ .ws_row = (unsigned short)(1 + seed / 65536 % 60),
					 .ws_col = (unsigned short)(1 + seed / 256 % 200) };
		ioctl(session.master, TIOCSWINSZ, &size);
		kill(session.pid, SIGWINCH);
		if (i % 10 == 0)
			send_keys(&session, i % 20 ? "h" : "w");
		read_some(&session, 2);
	}
	ioctl(session.master, TIOCSWINSZ, &(struct winsize){ .ws_row = 24, .ws_col = 80 });
	textbuf_clear(&session.output);
	kill(session.pid, SIGWINCH);
	send_keys(&session, "qq");
	expect_exit(&session, EXIT_QUIT);
	assert_modes_restored(&session);
	finish(&session);
}

static void test_an_input_that_is_no_terminal_is_refused(void **state UNUSED)
{
	struct ui_options options = { .refresh_ns = NSEC_PER_SEC };
	int saved = dup(STDIN_FILENO);
	int null = open("/dev/null", O_RDONLY);
	struct err err = { 0 };
	struct ui *ui = NULL;

	setenv("TERM", "xterm", 1);
	view_spec_init(&options.spec);
	dup2(null, STDIN_FILENO);
	assert_true(ui_open(&options, &ui, &err) < 0);
	assert_null(ui);
	assert_non_null(strstr(err.text, "use -b"));
	ui_restore_terminal(); /* not ours: nothing happens */
	ui_close(NULL);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fc001_terminals_that_cannot_show_a_screen_are_untouched),
		cmocka_unit_test(test_screen_appears_and_quit_gives_the_terminal_back),
		cmocka_unit_test(test_unknown_sequences_do_not_quit),
		cmocka_unit_test(test_a_lone_escape_works),
		cmocka_unit_test(test_hang_up_is_quit),
		cmocka_unit_test(test_fc082_a_signal_handler_gives_the_terminal_back),
		cmocka_unit_test(test_fc083_suspend_and_resume),
		cmocka_unit_test(test_fc085_mono_terminals_get_no_colours),
		cmocka_unit_test(test_fc089_tiny_and_unknown_sizes_work),
		cmocka_unit_test(test_fc090_resize_storm),
		cmocka_unit_test(test_an_input_that_is_no_terminal_is_refused),
	};

	if (access("/lib/terminfo/x/xterm", R_OK) && access("/usr/share/terminfo/x/xterm", R_OK)) {
		fprintf(stderr, "skipped: no terminfo entry for xterm\n");
		return 77;
	}
	if (!fixture_locale()) {
		fprintf(stderr, "skipped: no UTF-8 locale\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
