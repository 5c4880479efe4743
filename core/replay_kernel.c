/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf record notes where _text (or _stext) was, in the name of the kernel's map:
 * "[kernel.kallsyms]_text". It must be there now: the kernel moves at each boot. That alone
 * is weak, since not all kernels do; so the build must be the same too, by build id
 * when both are known, else by release. A recorder that was killed has left neither: then
 * the length of the kernel's code, to the byte, has to do.
 */
#include "config.h"

#include "core/replay_kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "symbols/kallsyms.h"

#define MAX_NOTES_BYTES 65536
#define BUILD_ID_NOTE 3 /* NT_GNU_BUILD_ID */

/* The build id among ELF notes: name size, size, type, name, contents; padded to words. */
static size_t find_build_id(const unsigned char *notes, size_t len, unsigned char ret_id[static 20])
{
	while (len >= 12) {
		uint32_t sizes[3];
		size_t name_size, size;

		memcpy(sizes, notes, sizeof(sizes));
		name_size = ((size_t)sizes[0] + 3) / 4 * 4;
		size = ((size_t)sizes[1] + 3) / 4 * 4;
		if (name_size > len - 12 || size > len - 12 - name_size)
			return 0;
		if (sizes[2] == BUILD_ID_NOTE && sizes[0] == 4 && sizes[1] <= 20 &&
		    !memcmp(notes + 12, "GNU", 4)) {
			memcpy(ret_id, notes + 12 + name_size, sizes[1]);
			return sizes[1];
		}
		notes += 12 + name_size + size;
		len -= 12 + name_size + size;
	}
	return 0;
}

size_t kernel_build_id(const char *sysfs, unsigned char ret_id[static 20])
{
	char *path = mem_printf("%s/kernel/notes", sysfs);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char *notes;
	ssize_t len;
	size_t size = 0;

	free(path);
	if (fd < 0)
		return 0;
	notes = mem_zalloc(MAX_NOTES_BYTES);
	len = read(fd, notes, MAX_NOTES_BYTES);
	close(fd);
	if (len > 0)
		size = find_build_id(notes, (size_t)len, ret_id);
	free(notes);
	return size;
}

static bool is_same_build(const struct kernel_facts *facts, const char *sysfs,
			  const uint64_t addresses[static 3])
{
	unsigned char id[20];
	size_t size = kernel_build_id(sysfs, id);
	struct utsname name;

	if (facts->build_id_size && size)
		return size == facts->build_id_size && !memcmp(id, facts->build_id, size);
	if (facts->release[0])
		return uname(&name) == 0 && !strcmp(name.release, facts->release);
	/* perf record has used either for the end. */
	return facts->text_end &&
	       (facts->text_end == addresses[1] || facts->text_end == addresses[2]);
}

bool kernel_facts_match(const struct kernel_facts *facts, const char *proc, const char *sysfs)
{
	const char *const names[] = { facts->symbol, "_etext", "_edata" };
	uint64_t addresses[ARRAY_SIZE(names)] = { 0 };
	char *path;
	int ret;

	if (!facts->symbol[0] || !facts->address)
		return false;
	path = mem_printf("%s/kallsyms", proc);
	ret = kallsyms_addresses(path, names, ARRAY_SIZE(names), addresses);
	free(path);
	return ret == 0 && addresses[0] == facts->address && is_same_build(facts, sysfs, addresses);
}
