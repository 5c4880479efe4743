/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of a fixture. Include cmocka.h before. */
#ifndef SYMTOP_TESTS_FILE_FIXTURE_H
#define SYMTOP_TESTS_FILE_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/compiler.h"

/* @root/@name, with its folders, has these bytes. */
static UNUSED void put_file(const char *root, const char *name, const char *text, size_t len)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

#endif /* SYMTOP_TESTS_FILE_FIXTURE_H */
