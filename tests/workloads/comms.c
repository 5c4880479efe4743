/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A spinning process for each name, which is given in hexadecimal so that it can have any
 * byte. usage: comms HEX...
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned long sink;

static void spin_as(const char *hex)
{
	char name[16] = "";

	for (size_t i = 0; i < sizeof(name) - 1 && strlen(hex) >= 2 * i + 2; i++) {
		unsigned int byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			_exit(2);
		name[i] = (char)byte;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	for (;;)
		sink++;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (fork() == 0)
			spin_as(argv[i]);
	}
	pause();
	return 0;
}
