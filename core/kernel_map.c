/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a module is looked up in modules.dep, which depmod(8) makes of all of them:
 * one file to read instead of a tree of folders to walk. Names there may have "-" where
 * the kernel has "_", and a suffix for how the file is compressed.
 *
 * Of the kernel it is the code alone that is told, up to _etext: nothing that runs lies
 * behind it but modules and BPF programs.
 */
#include "config.h"

#include "core/kernel_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "symbols/kallsyms.h"

#define KERNEL_MAP "[kernel.kallsyms]"
#define MAX_FILE_BYTES ((size_t)16 << 20)
#define MAX_MODULES 16384

struct module {
	const char *name;
	const char *path; /* below the folder of the release; NULL: not found */
	uint64_t start, len;
};

/* ---- files ---- */

/* What files in /proc have is not known before: until a read gives nothing. */
static char *read_open(int fd)
{
	size_t len = 0, size = (size_t)64 << 10;
	char *text = NULL;

	for (;;) {
		ssize_t ret;

		if (!text || len + 1 == size) {
			char *more;

			size = text ? 2 * size : size;
			more = size <= MAX_FILE_BYTES ? realloc(text, size) : NULL;
			if (!more)
				break;
			text = more;
		}
		ret = read(fd, text + len, size - 1 - len);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			break;
		len += (size_t)ret;
		if (!ret) {
			text[len] = '\0';
			return text;
		}
	}
	free(text);
	return NULL;
}

/* The text of a regular file, the caller's to free(), or NULL. */
static char *read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		text = read_open(fd);
	close(fd);
	return text;
}

static char *read_below(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	char *text = read_text(path);

	free(path);
	return text;
}

/* The line at *@pos, ended by a NUL, which moves behind it; NULL at the end. */
static char *take_line(char **pos)
{
	char *line = *pos;
	char *end = strchr(line, '\n');

	if (!*line)
		return NULL;
	*pos = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

/* ---- modules ---- */

/* "NAME SIZE USERS USED-BY STATE 0xADDRESS ..." */
static bool parse_module(char *line, struct module *ret_module)
{
	char *rest = strchr(line, ' ');
	uint64_t start, len;

	if (!rest || rest == line || strchr(line, '/'))
		return false;
	*rest++ = '\0';
	if (sscanf(rest, "%" SCNu64 " %*s %*s %*s 0x%" SCNx64, &len, &start) != 2)
		return false;
	/* 0: hidden. */
	if (!start || !len || start + len < start)
		return false;
	*ret_module = (struct module){ .name = line, .start = start, .len = len };
	return true;
}

static int compare_modules(const void *left, const void *right)
{
	return strcmp(((const struct module *)left)->name, ((const struct module *)right)->name);
}

/* Sorted by name. */
static struct module *parse_modules(char *text, size_t *ret_nr)
{
	size_t nr = 0, nr_allocated = 0;
	struct module *modules = NULL;
	struct module module;
	char *line;

	while (nr < MAX_MODULES && (line = take_line(&text))) {
		if (!parse_module(line, &module))
			continue;
		mem_grow(modules, nr, nr_allocated);
		modules[nr++] = module;
	}
	if (nr)
		qsort(modules, nr, sizeof(*modules), compare_modules);
	*ret_nr = nr;
	return modules;
}

/* The module's name by that of its file: "nf-x.ko.xz" is "nf_x". */
static bool module_name(const char *path, char ret_name[static 64])
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const char *end = strstr(file, ".ko");
	size_t len = end ? (size_t)(end - file) : 0;

	if (!len || len >= 64 || (end[3] && end[3] != '.'))
		return false;
	for (size_t i = 0; i < len; i++)
		ret_name[i] = file[i] == '-' ? '_' : file[i];
	ret_name[len] = '\0';
	return true;
}

/* "kernel/fs/x.ko: kernel/lib/y.ko ...", a line for each file. */
static void find_paths(struct module *modules, size_t nr, char *dependencies)
{
	struct module *module;
	char name[64];
	char *line;

	while ((line = take_line(&dependencies))) {
		struct module key = { .name = name };
		char *colon = strchr(line, ':');

		/* Absolute ones are not below the folder. */
		if (!colon || *line == '/')
			continue;
		*colon = '\0';
		if (!module_name(line, name))
			continue;
		module = bsearch(&key, modules, nr, sizeof(*modules), compare_modules);
		if (module && !module->path)
			module->path = line;
	}
}

/* The folder of the modules of the kernel that runs, or NULL. */
static char *release_folder(const char *proc, const char *modules)
{
	char *release = read_below(proc, "sys/kernel/osrelease");
	char *folder = NULL;

	if (release)
		release[strcspn(release, "\n")] = '\0';
	if (release && *release && *release != '.' && !strchr(release, '/'))
		folder = mem_printf("%s/%s", modules, release);
	free(release);
	return folder;
}

static void tell_module(const struct module *module, const char *folder,
			void (*each)(void *arg, const struct kernel_part *part), void *arg)
{
	char *name = module->path ? mem_printf("%s/%s", folder, module->path)
				  : mem_printf("[%s]", module->name);

	each(arg,
	     &(struct kernel_part){ .name = name, .start = module->start, .len = module->len });
	free(name);
}

static void read_modules(const char *proc, const char *modules_folder,
			 void (*each)(void *arg, const struct kernel_part *part), void *arg)
{
	char *text = read_below(proc, "modules");
	char *folder, *dependencies;
	struct module *modules;
	size_t nr;

	if (!text)
		return;
	modules = parse_modules(text, &nr);
	folder = release_folder(proc, modules_folder);
	dependencies = folder ? read_below(folder, "modules.dep") : NULL;
	if (dependencies && nr)
		find_paths(modules, nr, dependencies);
	for (size_t i = 0; i < nr; i++)
		tell_module(&modules[i], folder, each, arg);
	free(dependencies);
	free(folder);
	free(modules);
	free(text);
}

/* ---- the kernel ---- */

static void read_kernel(const char *proc, void (*each)(void *arg, const struct kernel_part *part),
			void *arg)
{
	static const char *const names[] = { "_text", "_stext", "_etext" };
	uint64_t addresses[ARRAY_SIZE(names)] = { 0 };
	char *path = mem_printf("%s/kallsyms", proc);
	int ret = kallsyms_addresses(path, names, ARRAY_SIZE(names), addresses);
	size_t first = addresses[0] ? 0 : 1;
	char *name;

	free(path);
	if (ret || !addresses[first] || addresses[2] <= addresses[first])
		return;
	name = mem_printf(KERNEL_MAP "%s", names[first]);
	each(arg, &(struct kernel_part){ .name = name,
					 .start = addresses[first],
					 .len = addresses[2] - addresses[first],
					 .pgoff = addresses[first] });
	free(name);
}

void kernel_map_read(const char *proc, const char *modules,
		     void (*each)(void *arg, const struct kernel_part *part), void *arg)
{
	read_kernel(proc, each, arg);
	read_modules(proc, modules, each, arg);
}
