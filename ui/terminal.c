/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curses does two things here: it knows how to take a terminal over, and it sends only
 * the cells that changed. Keys are read by ourselves (see input.c).
 *
 * Giving the terminal back from a signal handler cannot go through curses. What that
 * takes, the modes before and the bytes that leave the screen, is put aside before the
 * terminal is touched; the handler only writes it.
 *
 * newterm() installs handlers for signals that are top/'s business; they are put back at
 * once. SIGTSTP is set to be ignored meanwhile, which makes curses leave it alone for ever.
 */
#include "config.h"

#include "ui/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "ui/curses.h"

enum { RESTORE_BYTES = 512 };

struct terminal {
	SCREEN *curses;
	cchar_t *row; /* one row on its way to curses */
	int nr_rows, nr_columns;
	bool has_colors;
	bool suspended;
};

/* For the handler. Written while active is 0, or before the terminal is touched. */
static struct {
	volatile sig_atomic_t active;
	struct termios modes;
	char bytes[RESTORE_BYTES];
	size_t len;
} restore;

/* How a style looks. Attributes alone must do where there is no colour. */
static const struct {
	attr_t attr;
	short color; /* -1: the terminal's own */
} looks[NR_STYLES] = {
	[STYLE_NORMAL] = { A_NORMAL, -1 },
	[STYLE_TITLE] = { A_REVERSE, -1 },
	[STYLE_SORTED] = { A_REVERSE | A_BOLD, -1 },
	[STYLE_HOT] = { A_BOLD, COLOR_RED },
	[STYLE_WARM] = { A_NORMAL, COLOR_GREEN },
	[STYLE_DIM] = { A_DIM, -1 },
	[STYLE_BOLD] = { A_BOLD, -1 },
	[STYLE_WARN] = { A_BOLD, COLOR_YELLOW },
	[STYLE_STATE] = { A_BOLD | A_REVERSE, -1 },
	[STYLE_KEY] = { A_BOLD, -1 },
	[STYLE_LABEL] = { A_REVERSE, -1 },
};

bool terminal_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* A terminfo string, or "". */
static const char *capability(const char *name)
{
	const char *text = tigetstr(name);

	return text && text != (const char *)-1 ? text : "";
}

/* Append without the padding ("$<5>") that old terminals needed. */
static void restore_add(const char *text)
{
	while (*text && restore.len < RESTORE_BYTES) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>')) {
			text = strchr(text, '>') + 1;
			continue;
		}
		restore.bytes[restore.len++] = *text++;
	}
}

static void restore_prepare(void)
{
	restore.len = 0;
	restore_add(capability("BD")); /* bracketed paste off */
	restore_add(capability("sgr0"));
	restore_add(capability("op"));
	restore_add(capability("cnorm"));
	restore_add(capability("rmkx"));
	if (*capability("rmcup"))
		restore_add(capability("rmcup"));
	else
		restore_add("\r\n"); /* no other screen to go back to: below this one */
}

static void write_all(const char *bytes, size_t len)
{
	while (len) {
		ssize_t nr = write(STDOUT_FILENO, bytes, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return;
		bytes += nr;
		len -= (size_t)nr;
	}
}

void terminal_restore(void)
{
	int saved_errno = errno;

	if (restore.active) {
		restore.active = 0;
		write_all(restore.bytes, restore.len);
		tcsetattr(STDOUT_FILENO, TCSANOW, &restore.modes);
	}
	errno = saved_errno;
}

/* ---- opening ---- */

static int fail_type(struct err *err, const char *type)
{
	if (!type || !*type)
		return err_say(err, -ENOTTY,
			       "TERM is not set, so the terminal's type is not known: set it, or "
			       "use -b for plain output");
	return err_say(err, -ENOTTY,
		       "a terminal of type \"%.64s\" (TERM) cannot show a screen, or is not known "
		       "here: use -b for plain output",
		       type);
}

/* Ask terminfo only, nothing is written. */
static int check_type(struct err *err)
{
	const char *type = getenv("TERM");
	int status;

	if (!type || !*type)
		return fail_type(err, type);
	if (setupterm(type, STDOUT_FILENO, &status) != OK)
		return fail_type(err, type);
	if (!*capability("cup") || !*capability("clear") || tigetflag("gn") > 0 ||
	    tigetflag("hc") > 0) {
		del_curterm(cur_term);
		return fail_type(err, type);
	}
	restore_prepare();
	del_curterm(cur_term);
	return 0;
}

static int check_terminal(struct err *err)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_say(err, -ENOTTY,
			       "standard %s is not a terminal: use -b for plain output",
			       isatty(STDIN_FILENO) ? "output" : "input");
	/* Curses and we must agree on how wide a character is. */
	if (!strcmp(setlocale(LC_CTYPE, NULL), "C"))
		setlocale(LC_CTYPE, "");
	return check_type(err);
}

/*
 * In the background the shell has the terminal, in modes that are not ours to save.
 * tcdrain() changes nothing and makes the kernel stop us until fg.
 */
static void wait_for_foreground(void)
{
	if (tcgetpgrp(STDIN_FILENO) != getpgrp())
		tcdrain(STDIN_FILENO);
}

static SCREEN *new_curses(void)
{
	static const int signals[] = { SIGTSTP, SIGINT, SIGTERM, SIGWINCH };
	struct sigaction actions[ARRAY_SIZE(signals)];
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t blocked, before; /* of the main thread; workers block all signals */
	SCREEN *curses;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaddset(&blocked, signals[i]);
		sigaction(signals[i], NULL, &actions[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGTSTP, &ignore, NULL);
	curses = newterm(NULL, stdout, stdin);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &actions[i], NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return curses;
}

/* Calls that fail leave a screen without some colours, which is readable too. */
static void set_up_colors(struct terminal *terminal)
{
	short background;

	if (!has_colors() || start_color() == ERR)
		return;
	background = use_default_colors() == OK ? -1 : COLOR_BLACK;
	for (short i = 1; i < NR_STYLES && i < COLOR_PAIRS; i++)
		if (looks[i].color >= 0)
			init_pair(i, looks[i].color, background);
	terminal->has_colors = true;
}

static bool want_colors(bool colors, bool force_colors)
{
	const char *no_color = getenv("NO_COLOR");

	return force_colors || (colors && !(no_color && *no_color));
}

/* The size that the kernel knows, else what terminfo or LINES and COLUMNS say. */
static void take_size(struct terminal *terminal)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (size.ws_row && size.ws_col)
		resizeterm(MIN(size.ws_row, SCREEN_MAX_ROWS), MIN(size.ws_col, SCREEN_MAX_COLUMNS));
	terminal->nr_rows = getmaxy(stdscr);
	terminal->nr_columns = getmaxx(stdscr);
	/* The end of a row is marked, as curses wants it. */
	terminal->row =
		mem_resize(terminal->row, (size_t)terminal->nr_columns + 1, sizeof(*terminal->row));
}

int terminal_open(bool colors, bool force_colors, struct terminal **ret_terminal, struct err *err)
{
	struct terminal *terminal;
	int ret;

	ret = check_terminal(err);
	if (ret < 0)
		return ret;
	wait_for_foreground();
	if (tcgetattr(STDOUT_FILENO, &restore.modes) < 0)
		return err_set(err, -errno, "terminal modes");
	terminal = mem_zalloc(sizeof(*terminal));
	restore.active = 1;
	terminal->curses = new_curses();
	if (!terminal->curses) {
		restore.active = 0;
		tcsetattr(STDOUT_FILENO, TCSANOW, &restore.modes);
		free(terminal);
		return fail_type(err, getenv("TERM"));
	}
	raw();
	noecho();
	keypad(stdscr, TRUE);
	typeahead(-1); /* never leave a screen half drawn because a key waits */
	curs_set(0);
	if (want_colors(colors, force_colors))
		set_up_colors(terminal);
	take_size(terminal);
	write_all(capability("BE"), strlen(capability("BE")));
	*ret_terminal = terminal;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	terminal_suspend(terminal);
	delscreen(terminal->curses);
	free(terminal->row);
	free(terminal);
}

void terminal_suspend(struct terminal *terminal)
{
	if (terminal->suspended)
		return;
	terminal->suspended = true;
	write_all(capability("BD"), strlen(capability("BD")));
	curs_set(1);
	endwin();
	restore.active = 0;
}

void terminal_resume(struct terminal *terminal)
{
	if (!terminal->suspended)
		return;
	wait_for_foreground();
	restore.active = 1;
	terminal->suspended = false;
	doupdate(); /* curses takes the terminal over again */
	curs_set(0);
	take_size(terminal);
	write_all(capability("BE"), strlen(capability("BE")));
}

void terminal_size(const struct terminal *terminal, int *ret_nr_rows, int *ret_nr_columns)
{
	*ret_nr_rows = terminal->nr_rows;
	*ret_nr_columns = terminal->nr_columns;
}

void terminal_resize(struct terminal *terminal)
{
	if (!terminal->suspended)
		take_size(terminal);
}

/* ---- keys ---- */

void terminal_add_sequences(const struct terminal *terminal UNUSED, struct input *input)
{
	static const struct {
		const char *name;
		enum input_key key;
	} keys[] = {
		{ "kcuu1", INPUT_UP },	   { "kcud1", INPUT_DOWN },    { "kcub1", INPUT_LEFT },
		{ "kcuf1", INPUT_RIGHT },  { "khome", INPUT_HOME },    { "kend", INPUT_END },
		{ "kpp", INPUT_PAGE_UP },  { "knp", INPUT_PAGE_DOWN }, { "kich1", INPUT_INSERT },
		{ "kdch1", INPUT_DELETE }, { "kcbt", INPUT_BACK_TAB }, { "kbs", INPUT_BACKSPACE },
		{ "kent", INPUT_ENTER },
	};
	char name[8];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		input_add_sequence(input, capability(keys[i].name), keys[i].key);
	for (unsigned int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "kf%u", i + 1);
		input_add_sequence(input, capability(name), (enum input_key)(INPUT_F1 + i));
	}
}

int terminal_read(struct terminal *terminal, char *bytes, size_t size)
{
	struct pollfd poll_fd = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t nr;

	/* stdin is shared with the shell, so it is not made non-blocking. */
	if (terminal->suspended || !size || poll(&poll_fd, 1, 0) <= 0)
		return 0;
	if (!(poll_fd.revents & POLLIN))
		return -EIO;
	nr = read(STDIN_FILENO, bytes, size);
	if (nr < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -EIO;
	return nr ? (int)nr : -EIO;
}

/* ---- drawing ---- */

static void fill_cell(const struct terminal *terminal, const struct cell *cell, cchar_t *ret_cell)
{
	unsigned int style = cell->style & ~(unsigned int)STYLE_SELECTED;
	attr_t attr = looks[style].attr;
	short pair = 0;

	if (terminal->has_colors && looks[style].color >= 0)
		pair = (short)style;
	if (cell->style & STYLE_SELECTED)
		attr |= A_REVERSE;
	setcchar(ret_cell, cell->text, attr, pair, NULL);
}

void terminal_draw(struct terminal *terminal, const struct screen *screen, bool full)
{
	int nr_rows = MIN(screen_nr_rows(screen), terminal->nr_rows);
	int nr_columns = MIN(screen_nr_columns(screen), terminal->nr_columns);
	int cursor_y, cursor_x;

	if (terminal->suspended)
		return;
	for (int y = 0; y < nr_rows; y++) {
		const struct cell *cells = screen_row(screen, y);
		int nr = 0;

		/* The second half of a wide character is curses' own affair. */
		for (int x = 0; x < nr_columns; x++)
			if (cells[x].width)
				fill_cell(terminal, &cells[x], &terminal->row[nr++]);
		mvadd_wchnstr(y, 0, terminal->row, nr);
	}
	if (screen_cursor(screen, &cursor_y, &cursor_x)) {
		curs_set(1);
		move(cursor_y, cursor_x);
	} else {
		curs_set(0);
	}
	if (full)
		clearok(curscr, TRUE);
	refresh();
}
