/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to symbols/elf_*.c: an ELF file (or image in memory) read piece by piece.
 *
 * Everything is given in the 64-bit form. What is loaded is a copy: the file may
 * be changed or truncated at any time, then reads fail. One worker at a time.
 */
#ifndef SYMTOP_SYMBOLS_ELF_FILE_H
#define SYMTOP_SYMBOLS_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/err.h"

struct symbol_table;

/* Executable segments that are looked at; real files have one to five. */
#define ELF_MAX_CODE_SEGMENTS 64

struct elf_file {
	int fd;			    /* -1: image */
	const unsigned char *image; /* NULL: fd */
	uint64_t size;
	bool is_64;
	uint16_t machine;
	Elf64_Phdr *segments;
	size_t nr_segments;
	Elf64_Shdr *sections; /* none when they are gone or cannot be read */
	size_t nr_sections;
	char *section_names; /* NUL-terminated, NULL when there are none */
	size_t section_names_size;
	Elf64_Phdr code[ELF_MAX_CODE_SEGMENTS]; /* executable, cut to the file */
	size_t nr_code;
	size_t last_code;    /* the one found last: neighbours come in turn */
	uint64_t names_left; /* bytes of names that may still go into a table */
};

/* Where symbols of one kind come from: their bytes as they are in the file. */
struct elf_symbol_source {
	unsigned char *symbols; /* nr_symbols of elf_file_symbol_size() bytes each */
	size_t nr_symbols;
	char *names; /* names_size bytes and a NUL */
	size_t names_size;
	Elf32_Word *sections; /* SHT_SYMTAB_SHNDX, by symbol; may be NULL */
	size_t nr_sections;
};

/*
 * Read the headers. @file refers to @fd (or @image) until elf_file_release(), which
 * is due after success only. Returns 0, -ENOEXEC, -EFBIG, -ENOMEM or what reading
 * reported.
 */
int elf_file_init_fd(struct elf_file *file, int fd, struct err *err) MUST_CHECK;
int elf_file_init_image(struct elf_file *file, const void *image, size_t size,
			struct err *err) MUST_CHECK;
void elf_file_release(struct elf_file *file);

/*
 * Copy @size bytes at @offset into *@ret_data, the caller's to free(), with a NUL
 * after them. Returns 0, -ENOEXEC when they are not all in the file, -EFBIG when
 * more than @limit, or what reading reported.
 */
int elf_file_load(const struct elf_file *file, uint64_t offset, uint64_t size, uint64_t limit,
		  void **ret_data) MUST_CHECK;

/* The name of a section, "" when it has none. Borrowed, lives as long as @file. */
const char *elf_file_section_name(const struct elf_file *file, const Elf64_Shdr *section);

/*
 * The file offset of the code at @vaddr, and of the end of its segment in the file.
 * False when no executable segment has it in the file.
 */
bool elf_file_code_offset(struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
			  uint64_t *ret_end);

/*
 * The file offset of @vaddr in any loaded segment and how many bytes of the file
 * follow there. False when it is in none.
 */
bool elf_file_data_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
			  uint64_t *ret_size);

size_t elf_file_symbol_size(const struct elf_file *file);

/* Symbol @index of @source; @index must be less than nr_symbols. */
Elf64_Sym elf_file_symbol(const struct elf_file *file, const struct elf_symbol_source *source,
			  size_t index);

/* Its name, "" when that is outside the names. Borrowed. */
const char *elf_symbol_source_name(const struct elf_symbol_source *source, const Elf64_Sym *symbol,
				   size_t *ret_len);

/* Count a name of @len bytes. False when the limit was reached: a small file can name a lot. */
bool elf_file_take_name(struct elf_file *file, size_t len);

void elf_symbol_source_release(struct elf_symbol_source *source);

/*
 * Dynamic symbols by PT_DYNAMIC alone, for files without section headers
 * (elf_dynamic.c). Returns 0, -ENOENT when there are none, or what went wrong; on
 * success @ret_source is the caller's to release.
 */
int elf_dynamic_load(const struct elf_file *file, uint64_t max_symbols, uint64_t max_names,
		     struct elf_symbol_source *ret_source) MUST_CHECK;

/*
 * Add "NAME@plt" for the stubs of the procedure linkage table, and "[plt]" for the
 * rest of it (elf_plt.c). @dynamic has the names; it may be empty.
 */
int elf_plt_add(struct elf_file *file, const struct elf_symbol_source *dynamic,
		struct symbol_table *table) MUST_CHECK;

#endif /* SYMTOP_SYMBOLS_ELF_FILE_H */
