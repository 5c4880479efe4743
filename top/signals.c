/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fatal handler makes async-signal-safe calls only, runs on a stack of its own,
 * and is reset before it runs (SA_RESETHAND), so a fault within it just ends us.
 */
#include "config.h"

#include "top/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ui/ui.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int fatal[] = {
	SIGSEGV, SIGBUS,  SIGFPE,    SIGILL,  SIGABRT, SIGTRAP, SIGSYS, SIGUSR1,
	SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,   SIGXCPU, SIGPWR, SIGSTKFLT,
};
static char alternate_stack[16384];

static void on_fatal(int number)
{
	ui_restore_terminal();
	/* Blocked while we are in here: it comes when we return, by its default action. */
	raise(number);
}

/* Sanitizers have their own handlers, which print where it happened. */
static bool is_handled_by_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

static void add_ending(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(set, ending[i]);
}

int signals_init(bool interactive, bool record, int *ret_fd, struct err *err)
{
	stack_t stack = { .ss_sp = alternate_stack, .ss_size = sizeof(alternate_stack) };
	sigset_t set;
	int fd;

	if (interactive && !is_handled_by_sanitizer()) {
		struct sigaction action = { .sa_handler = on_fatal,
					    .sa_flags = SA_RESETHAND | SA_ONSTACK };

		sigaltstack(&stack, NULL);
		for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
			sigaction(fatal[i], &action, NULL);
	}
	/* A reader that went away and a file at its size limit are errnos of write(2). */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	add_ending(&set);
	sigaddset(&set, SIGCHLD);
	if (record)
		sigaddset(&set, SIGUSR2);
	if (interactive) {
		sigaddset(&set, SIGTSTP);
		sigaddset(&set, SIGCONT);
		sigaddset(&set, SIGWINCH);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_set(err, -errno, "signalfd");
	*ret_fd = fd;
	return 0;
}

int signals_next(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

void signals_let_through(int fd)
{
	sigset_t set;

	/* timeout(1) sends its signal twice: one of a pair must not count as the second ^C. */
	while (signals_next(fd))
		;
	add_ending(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_hold(void)
{
	sigset_t set;

	add_ending(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void signals_die_of(int number)
{
	sigset_t set;

	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + number); /* only if its default is not to end us */
}

void signals_stop(void)
{
	/* SIGTSTP is blocked and read from a descriptor: stop by the signal that always does. */
	raise(SIGSTOP);
}
