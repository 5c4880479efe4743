/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of core/procfs.h share: a folder in the place of /proc, and files in it. */
#ifndef SYMTOP_TESTS_CORE_PROCFS_FIXTURE_H
#define SYMTOP_TESTS_CORE_PROCFS_FIXTURE_H

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/compiler.h"
#include "core/procfs.h"
#include "tests/file_fixture.h"

#define USER_FLAGS 0x00400100U
#define KERNEL_FLAGS 0x00208040U

static char proc[64];

static UNUSED void put(const char *name, const char *text, size_t len)
{
	put_file(proc, name, text, len);
}

static UNUSED void puts_at(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static UNUSED void put_fifo(const char *name)
{
	char path[512];

	puts_at(name, "");
	snprintf(path, sizeof(path), "%s/%s", proc, name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static UNUSED void put_stat(uint32_t pid, const char *comm, char state, uint32_t flags,
			    unsigned int nr)
{
	char name[64], text[512];

	snprintf(name, sizeof(name), "%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (%s) %c 7 %u %u 34816 -1 %u 1 2 3 4 5 6 7 8 20 -19 %u 0 12345 1000 200\n", pid,
		 comm, state, pid, pid, flags, nr);
	puts_at(name, text);
}

static UNUSED void put_thread(uint32_t pid, uint32_t tid, const char *comm_line)
{
	char name[64];

	snprintf(name, sizeof(name), "%u/task/%u/comm", pid, tid);
	puts_at(name, comm_line);
}

#define TEXT_MAP "00400000-00401000 r-xp 00002000 fd:01 1234                       /usr/bin/x\n"

static UNUSED int set_up(void **state)
{
	(void)state;
	snprintf(proc, sizeof(proc), "/tmp/procfs-test-XXXXXX");
	return mkdtemp(proc) ? 0 : -1;
}

static UNUSED int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
	(void)stat;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static UNUSED int tear_down(void **state)
{
	(void)state;
	return nftw(proc, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static UNUSED int read_at(struct procfs_reader *reader, uint32_t pid,
			  const struct synth_process **ret)
{
	*ret = NULL;
	return procfs_read_process(reader, pid, ret);
}

#endif /* SYMTOP_TESTS_CORE_PROCFS_FIXTURE_H */
