/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes behind a dso: its file, found by identity, or the vdso's image.
 *
 * Any worker; both may block on files.
 */
#ifndef SYMTOP_SYMBOLS_DSO_FILE_H
#define SYMTOP_SYMBOLS_DSO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct dso;

/*
 * Open the very file of @dso (DSO_FILE) for reading: device and inode, and the
 * inode's generation where it is known, are compared. Looked for at
 * PROC/PID/root/PATH and PROC/PID/exe of the processes noted, then PATH, then
 * PROC/PID/map_files.
 *
 * Returns the descriptor, the caller's, or a negative errno: -ENOENT when it is
 * nowhere, else what the last attempt that found something reported.
 */
int dso_file_open(const struct dso *dso, const char *proc) MUST_CHECK;

/*
 * The file of @dso of a recording that ended at @recorded_ns (CLOCK_REALTIME), looked for
 * at its path alone. With a build id (@size bytes) it must have that; else it must have the
 * device and inode, and not have been written since; when these are not known
 * either, the path has to do and *@ret_verified is false.
 *
 * Returns the descriptor, the caller's, -ESTALE when another file is there, or a
 * negative errno.
 */
int dso_file_open_recorded(const struct dso *dso, const unsigned char *build_id, size_t size,
			   uint64_t recorded_ns, bool *ret_verified) MUST_CHECK;

/*
 * The image of the vdso of @dso (DSO_VDSO): our own when the word size is ours,
 * else that of a process noted. *@ret_image is the caller's to free().
 *
 * Returns 0, -ENOENT when no process shows one, or -ENOEXEC when what is there is
 * of another word size.
 */
int dso_vdso_read(const struct dso *dso, const char *proc, void **ret_image,
		  size_t *ret_size) MUST_CHECK;

/*
 * Open for reading, without blocking, the regular file that @fd is an O_PATH descriptor
 * of. @fd stays the caller's. Returns the descriptor or a negative errno.
 */
int dso_file_reopen(int fd) MUST_CHECK;

#endif /* SYMTOP_SYMBOLS_DSO_FILE_H */
