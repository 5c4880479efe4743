/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by procfs.c, which owns a reader, and procfs_maps.c; nobody else. */
#ifndef SYMTOP_CORE_PROCFS_PRIVATE_H
#define SYMTOP_CORE_PROCFS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/procfs.h"

/* Files that programs share, each asked for once in a while. */
#define NR_FILE_NAMES 1024

/* What a file was called a moment ago. */
struct file_name {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint64_t read_ns; /* start of the scan that asked for it */
	size_t size;	  /* of the path, its NUL included; 0: an empty place */
	char *path;
};

struct procfs_reader {
	char *proc;
	unsigned int max_threads; /* 0: no limit */
	bool no_query;		  /* the kernel (or what plays /proc) has no PROCMAP_QUERY */
	char *text;		  /* maps file or names of the last process; its maps point here */
	size_t nr_text_allocated;
	struct synth_thread *threads;
	size_t nr_threads;
	size_t nr_threads_allocated;
	struct map_fact *maps;
	size_t nr_maps;
	size_t nr_maps_allocated;
	struct synth_process process;
	struct file_name names[NR_FILE_NAMES]; /* each file has one place */
};

/* "Gone" and "forbidden" have several errnos in /proc, depending on how far one came. */
int procfs_error(int code);

/* For reading, relative to @dir. The descriptor or what procfs_error() made of it. */
int procfs_open_file(int dir, const char *name);

/* A number at *@pos, which moves behind it; false when there is none or it is too large. */
bool procfs_take_number(const char **pos, const char *end, int base, uint64_t max,
			uint64_t *ret_value);
bool procfs_take_char(const char **pos, const char *end, char c);

/*
 * The maps of the process in @dir, whose threads are known, into reader->maps. When the
 * main thread has exited, they read as empty or as gone, and only those of a thread that
 * lives show the address space.
 *
 * Returns 1 when all is there, 0 or -ESRCH when there is no address space, or -errno.
 */
int procfs_read_maps(struct procfs_reader *reader, int dir);

/* Ready for the next process. */
void procfs_forget_maps(struct procfs_reader *reader);

/* Free what belongs to the maps. */
void procfs_release_maps(struct procfs_reader *reader);

#endif /* SYMTOP_CORE_PROCFS_PRIVATE_H */
