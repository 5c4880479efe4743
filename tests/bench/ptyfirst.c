/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seconds from exec until a program in a pty writes its first share ("12.34%").
 *
 * usage: ptyfirst LIMIT COMMAND [ARGS]
 *
 * For small systems without Python (an initramfs); term.py looks at the whole screen.
 * Prints "first_s=S bytes=N" and ends the program with q, then SIGTERM, then SIGKILL.
 * Exit status 1 when there was no share within LIMIT seconds.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 40, .ws_col = 140 };
	double limit, start;
	long long nr_bytes = 0;
	bool found = false;
	pid_t pid;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: ptyfirst LIMIT COMMAND [ARGS]\n");
		return 2;
	}
	limit = strtod(argv[1], NULL);
	start = now();
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid < 0) {
		perror("forkpty");
		return 2;
	}
	if (!pid) {
		setenv("TERM", "linux", 1);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (!found && now() - start < limit) {
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
	end(pid, fd);
	return found ? 0 : 1;
}
