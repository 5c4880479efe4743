/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generated code: one page at 0x7e0000000000 with two copies of a loop of 1,000,000
 * rounds, at +0 and +0x100, called 1:2, and a map file that names them jit_first and
 * "jit second name with spaces". usage: jit [thread]: in a thread of its own
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE 0x7e0000000000UL

static char path[64];

static void *run(void *arg)
{
	void (*first)(void), (*second)(void);
	void *code = arg;

	*(void **)&first = code;
	code = (char *)arg + 0x100;
	*(void **)&second = code;
	for (;;) {
		first();
		second();
		second();
	}
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
	unlink(path);
	_exit(0);
}

int main(int argc, char **argv)
{
	/* mov $1000000, %ecx; 1: dec %ecx; jnz 1b; ret */
	static const unsigned char loop[] = { 0xb9, 0x40, 0x42, 0x0f, 0x00,
					      0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	unsigned char *code = mmap((void *)CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	pthread_t thread;
	FILE *file;

	(void)argv;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	signal(SIGTERM, on_signal);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, loop, sizeof(loop));
	memcpy(code + 0x100, loop, sizeof(loop));
	file = fopen(path, "wx");
	if (!file)
		return 1;
	fprintf(file, "%lx %zx jit_first\n", CODE, sizeof(loop));
	fprintf(file, "0x%lX %zx jit second name with spaces\n", CODE + 0x100, sizeof(loop));
	fclose(file);
	if (argc == 1)
		run(code);
	if (pthread_create(&thread, NULL, run, code))
		return 1;
	for (;;)
		pause();
}
