/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run a program for which perf_event_open(2) always fails, as in a sandbox.
 * usage: secc ERRNO PROGRAM [ARGUMENT]...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int code = argc > 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	if (!code) {
		fprintf(stderr, "usage: secc ERRNO PROGRAM [ARGUMENT]...\n");
		return 125;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		fprintf(stderr, "secc: no seccomp filter: %s\n", strerror(errno));
		return 126;
	}
	execv(argv[2], argv + 2);
	fprintf(stderr, "secc: %s: %s\n", argv[2], strerror(errno));
	return 127;
}
