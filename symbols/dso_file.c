/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A path is only a hint: the file there may be another one by now, or lie in
 * another mount namespace. So each candidate is opened with O_PATH, which touches
 * neither devices nor FIFOs, compared by identity, and only then opened for reading
 * through /proc/self/fd: nothing can be swapped in between.
 *
 * On overlayfs and btrfs stat(2) and the kernel's maps disagree about the device
 * (the first shows an anonymous one per mount or subvolume, the second that of the
 * superblock below), so there the inode and the path have to do.
 *
 * The kernel marks the path of an unlinked file with " (deleted)", which may also be
 * the end of a real name. Both readings are tried; identity decides.
 */
#include "config.h"

#include "symbols/dso_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "symbols/dso_internal.h"
#include "symbols/elf_symbols.h"

#define DELETED_MARK " (deleted)"

/* The kernel's vdso has two or three pages; this is only a limit. */
#define VDSO_MAX_BYTES (256 * 1024)

/* More than vm.max_map_count allows by default. */
#define MAX_MAP_FILES 65536

int dso_file_reopen(int fd)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

static bool is_stacked(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	return fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC;
}

/* @fd may be an O_PATH descriptor. */
static bool is_same_file(int fd, const struct dso_key *key)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_ino != key->inode)
		return false;
	if (major(st.st_dev) == key->dev_major && minor(st.st_dev) == key->dev_minor)
		return true;
	return is_stacked(fd);
}

/* Inode numbers are used again; filesystems that count their uses say so. */
static bool is_same_generation(int fd, const struct dso_key *key)
{
	uint32_t generation;
	long value = 0;

	if (!key->generation || ioctl(fd, FS_IOC_GETVERSION, &value))
		return true;
	memcpy(&generation, &value, sizeof(generation)); /* the kernel writes an int */
	return generation == (uint32_t)key->generation;
}

static int open_candidate(const char *path, const struct dso_key *key)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG ? -ENOENT
										   : -errno;
	ret = is_same_file(fd, key) ? dso_file_reopen(fd) : -ENOENT;
	close(fd);
	if (ret >= 0 && !is_same_generation(ret, key)) {
		close(ret);
		ret = -ENOENT;
	}
	return ret;
}

/* @path below @root (may be ""), as it is and without the kernel's mark. */
static int open_path(const char *root, const char *path, const struct dso_key *key)
{
	size_t len = strlen(path);
	size_t mark_len = strlen(DELETED_MARK);
	char *candidate;
	int fd;

	if (path[0] != '/')
		return -ENOENT;
	candidate = mem_printf("%s%s", root, path);
	fd = open_candidate(candidate, key);
	if (fd < 0 && len > mark_len && !strcmp(path + len - mark_len, DELETED_MARK)) {
		candidate[strlen(candidate) - mark_len] = '\0';
		fd = open_candidate(candidate, key);
	}
	free(candidate);
	return fd;
}

static int open_of_process(const char *proc, uint32_t pid, const char *path,
			   const struct dso_key *key)
{
	char *name = mem_printf("%s/%u/root", proc, pid);
	int fd = open_path(name, path, key);

	free(name);
	if (fd >= 0)
		return fd;
	name = mem_printf("%s/%u/exe", proc, pid);
	fd = open_candidate(name, key);
	free(name);
	return fd;
}

/* The links there lead to the mapped files themselves, whatever became of their names. */
static int open_map_file(const char *proc, uint32_t pid, const struct dso_key *key)
{
	char *folder = mem_printf("%s/%u/map_files", proc, pid);
	DIR *dir = opendir(folder);
	int fd = -ENOENT;

	for (size_t nr = 0; dir && fd < 0 && nr < MAX_MAP_FILES; nr++) {
		struct dirent *entry = readdir(dir);
		struct stat st;
		char *link;

		if (!entry)
			break;
		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &st, 0) ||
		    st.st_ino != key->inode)
			continue;
		link = mem_printf("%s/%s", folder, entry->d_name);
		fd = open_candidate(link, key);
		free(link);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return fd;
}

int dso_file_open(const struct dso *dso, const char *proc)
{
	const struct dso_key *key = dso_key(dso);
	const char *path = dso_path(dso)->text;
	uint32_t pids[NR_DSO_USERS];
	size_t nr_pids = dso_users(dso, pids);
	int ret = -ENOENT;
	int fd;

	for (size_t i = 0; i < nr_pids; i++) {
		fd = open_of_process(proc, pids[i], path, key);
		if (fd >= 0)
			return fd;
		ret = fd != -ENOENT ? fd : ret;
	}
	fd = open_path("", path, key);
	for (size_t i = 0; fd < 0 && i < nr_pids; i++)
		fd = open_map_file(proc, pids[i], key);
	return fd == -ENOENT ? ret : fd;
}

/* ---- recordings ---- */

/* @fd is open for reading. */
static bool is_recorded(int fd, const struct dso *dso, const unsigned char *build_id, size_t size,
			uint64_t recorded_ns, bool *ret_verified)
{
	const struct dso_key *key = dso_key(dso);
	unsigned char id[20];
	struct stat st;

	*ret_verified = true;
	if (size)
		return elf_symbols_build_id(fd, id) == size && !memcmp(id, build_id, size);
	if (fstat(fd, &st))
		return false;
	if (st.st_mtim.tv_sec > (time_t)(recorded_ns / 1000000000))
		return false;
	*ret_verified = key->dev_major || key->dev_minor;
	return !*ret_verified || (is_same_file(fd, key) && is_same_generation(fd, key));
}

static int open_recorded(const char *path, const struct dso *dso, const unsigned char *build_id,
			 size_t size, uint64_t recorded_ns, bool *ret_verified)
{
	int path_fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd;

	if (path_fd < 0)
		return -errno;
	fd = fstat(path_fd, &st) || !S_ISREG(st.st_mode) ? -ESTALE : dso_file_reopen(path_fd);
	close(path_fd);
	if (fd < 0 || is_recorded(fd, dso, build_id, size, recorded_ns, ret_verified))
		return fd;
	close(fd);
	return -ESTALE;
}

int dso_file_open_recorded(const struct dso *dso, const unsigned char *build_id, size_t size,
			   uint64_t recorded_ns, bool *ret_verified)
{
	const char *path = dso_path(dso)->text;
	size_t len = strlen(path);
	size_t mark_len = strlen(DELETED_MARK);
	char *unmarked;
	int fd;

	if (path[0] != '/')
		return -ENOENT;
	fd = open_recorded(path, dso, build_id, size, recorded_ns, ret_verified);
	if (fd >= 0 || len <= mark_len || strcmp(path + len - mark_len, DELETED_MARK))
		return fd;
	unmarked = mem_strndup(path, len - mark_len);
	fd = open_recorded(unmarked, dso, build_id, size, recorded_ns, ret_verified);
	free(unmarked);
	return fd;
}

/* ---- vdso ---- */

/* The part of the image that its headers tell of; the kernel maps whole pages. */
static int read_own_vdso(void **ret_image, size_t *ret_size)
{
	uintptr_t start = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)start;
	const ElfW(Phdr) * segments;
	uint64_t size;

	if (!start)
		return -ENOENT;
	size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	segments = (const ElfW(Phdr) *)(start + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++)
		size = MAX(size, (uint64_t)segments[i].p_offset + segments[i].p_filesz);
	if (size > VDSO_MAX_BYTES)
		return -ENOENT;
	*ret_image = mem_zalloc(size);
	memcpy(*ret_image, (const void *)start, size);
	*ret_size = size;
	return 0;
}

/* Where the vdso of @pid is, from its maps. */
static int find_vdso(const char *proc, uint32_t pid, uint64_t *ret_start, uint64_t *ret_end)
{
	char *name = mem_printf("%s/%u/maps", proc, pid);
	FILE *maps = fopen(name, "re");
	char *line = NULL;
	size_t nr_allocated = 0;
	int ret = -ENOENT;

	free(name);
	while (maps && ret && getline(&line, &nr_allocated, maps) > 0) {
		int len = 0;

		/* A file's path starts with a slash, so none can look like the vdso. */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", ret_start, ret_end,
			   &len) == 2 &&
		    len && !strcmp(line + len, "[vdso]\n"))
			ret = 0;
	}
	free(line);
	if (maps)
		fclose(maps);
	return ret;
}

static int read_vdso_of(const char *proc, uint32_t pid, unsigned char elf_class, void **ret_image,
			size_t *ret_size)
{
	unsigned char *image = NULL;
	uint64_t start, end;
	char *name;
	ssize_t len = -1;
	int fd, ret;

	ret = find_vdso(proc, pid, &start, &end);
	if (ret || end <= start || end - start > VDSO_MAX_BYTES)
		return -ENOENT;
	name = mem_printf("%s/%u/mem", proc, pid);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	free(name);
	if (fd >= 0) {
		image = mem_zalloc(end - start);
		len = pread(fd, image, end - start, (off_t)start);
		close(fd);
	}
	if (!image || len < EI_NIDENT || image[EI_CLASS] != elf_class) {
		free(image);
		return len >= EI_NIDENT ? -ENOEXEC : -ENOENT;
	}
	*ret_image = image;
	*ret_size = (size_t)len;
	return 0;
}

int dso_vdso_read(const struct dso *dso, const char *proc, void **ret_image, size_t *ret_size)
{
	uint64_t word_bits = dso_key(dso)->inode;
	uint32_t pids[NR_DSO_USERS];
	size_t nr_pids;
	int ret = -ENOENT;

	if (word_bits == 8 * sizeof(void *))
		return read_own_vdso(ret_image, ret_size);
	nr_pids = dso_users(dso, pids);
	for (size_t i = 0; ret && i < nr_pids; i++)
		ret = read_vdso_of(proc, pids[i], word_bits == 32 ? ELFCLASS32 : ELFCLASS64,
				   ret_image, ret_size);
	return ret;
}
