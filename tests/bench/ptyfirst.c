/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seconds from exec until a program in a pty writes its first share ("12.34%").
 *
 * usage: ptyfirst [-s] LIMIT COMMAND [ARGS]
 *
 * For small systems without Python (an initramfs), and where what looks at the screen must
 * cost nothing; term.py looks at the whole screen. Prints "first_s=S bytes=N" and ends the
 * program with q, then SIGTERM, then SIGKILL; with -s not before it is sent SIGTERM
 * itself. Exit status 1 when there was no share within LIMIT seconds, or with -s when the
 * program ended by itself.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_ended;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A digit, a point, two digits, a percent sign: over any cut of the stream. */
static bool has_share(const char *bytes, ssize_t len)
{
	static int matched;

	for (ssize_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (matched == 1 && c == '.')
			matched = 2;
		else if ((matched == 2 || matched == 3) && isdigit(c))
			matched++;
		else if (matched == 4 && c == '%')
			return true;
		else
			matched = isdigit(c) ? 1 : 0;
	}
	return false;
}

static void end(pid_t pid, int fd)
{
	static const int signals[] = { 0, SIGTERM, SIGKILL };
	char scratch[4096];

	if (write(fd, "q", 1) != 1)
		perror("pty");
	for (size_t i = 0; i < 3; i++) {
		double until = now() + 5;

		if (signals[i])
			kill(pid, signals[i]);
		while (now() < until) {
			struct pollfd wait = { .fd = fd, .events = POLLIN };

			if (poll(&wait, 1, 100) > 0 && read(fd, scratch, sizeof(scratch)) < 0)
				poll(NULL, 0, 50);
			if (waitpid(pid, NULL, WNOHANG) == pid)
				return;
		}
	}
}

static void on_signal(int number)
{
	(void)number;
	is_ended = 1;
}

/* Keep the pty empty until we are told to end; false when the program ended by itself. */
static bool stay(int fd)
{
	char scratch[65536];

	while (!is_ended) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		if (poll(&wait, 1, 1000) > 0 && read(fd, scratch, sizeof(scratch)) <= 0)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 40, .ws_col = 140 };
	double limit, start;
	long long nr_bytes = 0;
	bool found = false;
	bool stays = argc > 1 && !strcmp(argv[1], "-s");
	pid_t parent = getpid();
	pid_t pid;
	int fd;

	argc -= stays;
	argv += stays;
	if (argc < 3) {
		fprintf(stderr, "usage: ptyfirst [-s] LIMIT COMMAND [ARGS]\n");
		return 2;
	}
	signal(SIGTERM, on_signal);
	limit = strtod(argv[1], NULL);
	start = now();
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0) {
		perror("forkpty");
		return 2;
	}
	if (!pid) {
		signal(SIGTERM, SIG_DFL);
		/* Should we be killed, the kernel ends it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		setenv("TERM", "linux", 1);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (!found && !is_ended && now() - start < limit) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		char bytes[65536];
		ssize_t len;

		if (poll(&wait, 1, 100) <= 0)
			continue;
		len = read(fd, bytes, sizeof(bytes));
		if (len <= 0)
			break;
		nr_bytes += len;
		found = has_share(bytes, len);
	}
	if (found)
		printf("first_s=%.3f bytes=%lld\n", now() - start, nr_bytes);
	else
		printf("first_s=none bytes=%lld\n", nr_bytes);
	fflush(stdout);
	if (stays && found && !stay(fd)) {
		fprintf(stderr, "ptyfirst: %s ended by itself\n", argv[2]);
		found = false;
	}
	end(pid, fd);
	return found ? 0 : 1;
}
