/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Endless system calls: most of the time in the kernel. usage: flood [SECONDS] */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 1 << 30);

	while (time(NULL) < end) {
		for (int i = 0; i < 100000; i++)
			syscall(SYS_getppid);
	}
	return 0;
}
