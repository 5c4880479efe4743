/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A temporary folder that stands in for procfs, shared by the tests of symbols/. */
#ifndef SYMTOP_TESTS_SYMBOLS_FIXTURE_H
#define SYMTOP_TESTS_SYMBOLS_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/base/mem.h"
#include "symbols/dso.h"

static char fixture_folder[64];

static UNUSED int fixture_setup(void **state)
{
	(void)state;
	snprintf(fixture_folder, sizeof(fixture_folder), "/tmp/symtop-test-XXXXXX");
	return mkdtemp(fixture_folder) ? 0 : -1;
}

static int fixture_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static UNUSED int fixture_teardown(void **state)
{
	(void)state;
	return nftw(fixture_folder, fixture_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A path below the folder, with the folders above it made. The last 16 are kept. */
static UNUSED PRINTF(1, 2) const char *fixture_path(const char *fmt, ...)
{
	static char paths[16][512];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];
	int len = snprintf(path, sizeof(paths[0]), "%s/", fixture_folder);
	va_list args;

	va_start(args, fmt);
	vsnprintf(path + len, sizeof(paths[0]) - (size_t)len, fmt, args);
	va_end(args);
	for (char *slash = strchr(path + len, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
		*slash = '/';
	}
	return path;
}

static UNUSED void fixture_write_bytes(const char *path, const char *mode, const void *bytes,
				       size_t len)
{
	FILE *file = fopen(path, mode);

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file))
		abort();
	if (chmod(path, 0644))
		abort();
}

static UNUSED void fixture_write(const char *path, const char *text)
{
	fixture_write_bytes(path, "w", text, strlen(text));
}

static UNUSED void fixture_append(const char *path, const char *text)
{
	fixture_write_bytes(path, "a", text, strlen(text));
}

/* A process with its root folder, owned by us. */
static UNUSED void fixture_process(uint32_t pid, const char *nspids)
{
	char *status = mem_printf("Name:\ta) b\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t%s\n", getuid(),
				  geteuid(), geteuid(), geteuid(), nspids);
	char *stat = mem_printf("%u (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %u 20\n",
				pid, 1000 + pid);

	fixture_write(fixture_path("%u/status", pid), status);
	fixture_write(fixture_path("%u/stat", pid), stat);
	fixture_path("%u/root/tmp/", pid);
	free(status);
	free(stat);
}

/* The identity of the file at @path. */
static UNUSED struct dso_key fixture_key(const char *path)
{
	struct dso_key key = { .kind = DSO_FILE };
	struct stat st;

	if (stat(path, &st))
		abort();
	key.dev_major = major(st.st_dev);
	key.dev_minor = minor(st.st_dev);
	key.inode = st.st_ino;
	return key;
}

#endif /* SYMTOP_TESTS_SYMBOLS_FIXTURE_H */
