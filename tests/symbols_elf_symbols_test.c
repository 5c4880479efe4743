/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files made by hand: rules for symbols, and damage. What compilers and linkers make
 * is in symbols_elf_compiled_test.c.
 */
#include "config.h"

#include "symbols/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/mem.h"
#include "symbols/symbol.h"
#include "tests/elf_image.h"

static int read_image(const struct elf_image *image, struct symbol_table **ret_table)
{
	return elf_symbols_read_image(image, sizeof(*image), ret_table, NULL);
}

static struct symbol_table *read_good(const struct elf_image *image)
{
	struct symbol_table *table = NULL;

	assert_int_equal(read_image(image, &table), 0);
	symbol_table_check_invariants(table);
	return table;
}

/* @offset is one of the code; "" when nothing is there. */
static const char *name_at(struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbol = symbol_table_find(table, IMAGE_CODE_OFFSET + offset);

	return symbol ? symbol->name : "";
}

static int file_of(const void *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	return fd;
}

static void test_function_is_named_by_file_offset(void **state)
{
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table = NULL;
	int fd;

	(void)state;
	image_add(image, "_Z3hotv", STT_FUNC, STB_GLOBAL, 0x100, 0x20);
	fd = file_of(image, sizeof(*image));
	assert_int_equal(elf_symbols_read(fd, &table, NULL), 0);
	assert_string_equal(name_at(table, 0xff), "");
	assert_string_equal(name_at(table, 0x100), "hot()");
	assert_string_equal(name_at(table, 0x11f), "hot()");
	assert_string_equal(name_at(table, 0x120), "");
	symbol_table_free(table);
	close(fd);
	free(image);
}

static void test_only_code_gets_names(void **state)
{
	static const unsigned char other_types[] = { STT_OBJECT, STT_SECTION, STT_FILE, STT_COMMON,
						     STT_TLS,	 11,	      15 };
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table;

	(void)state;
	for (size_t i = 0; i < sizeof(other_types); i++)
		image_add(image, "other", other_types[i], STB_GLOBAL, 0x100 + i * 16, 16);
	image_add(image, "undefined", STT_FUNC, STB_GLOBAL, 0x200, 16)->st_shndx = SHN_UNDEF;
	image_add(image, "label_in_data", STT_NOTYPE, STB_GLOBAL, 0x900, 16)->st_shndx =
		IMAGE_SECTION_DATA;
	image_add(image, "absolute", STT_NOTYPE, STB_GLOBAL, 0x210, 16)->st_shndx = SHN_ABS;
	image_add(image, ".Llabel", STT_NOTYPE, STB_LOCAL, 0x220, 16);
	image_add(image, "", STT_FUNC, STB_LOCAL, 0x230, 16);
	image_add(image, "outside", STT_FUNC, STB_LOCAL, IMAGE_CODE_SIZE, 16);
	image_add(image, "label", STT_NOTYPE, STB_LOCAL, 0x240, 16);
	table = read_good(image);
	assert_int_equal(symbol_table_nr(table), 1);
	assert_string_equal(name_at(table, 0x240), "label");
	symbol_table_free(table);
	free(image);
}

static void test_mapping_symbols_are_no_names(void **state)
{
	static const struct {
		uint16_t machine;
		const char *name;
		bool is_name;
	} cases[] = {
		{ EM_AARCH64, "$x", false },	   { EM_AARCH64, "$d.12", false },
		{ EM_ARM, "$a", false },	   { EM_ARM, "$t", false },
		{ EM_AARCH64, "$xylo", true },	   { EM_AARCH64, "$", true },
		{ EM_RISCV, "$xrv64i2p1", false }, { EM_X86_64, "$x", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct elf_image *image = image_new(SHT_SYMTAB);
		struct symbol_table *table;

		image->header.e_machine = cases[i].machine;
		image_add(image, cases[i].name, STT_NOTYPE, STB_LOCAL, 0x100, 0);
		table = read_good(image);
		assert_int_equal(symbol_table_nr(table), cases[i].is_name);
		symbol_table_free(table);
		free(image);
	}
}

static void test_fc022_sizeless_function_ends_with_its_section(void **state)
{
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table;

	(void)state;
	image_add(image, "one", STT_FUNC, STB_LOCAL, 0x10, 0);
	image_add(image, "two", STT_NOTYPE, STB_GLOBAL, 0x20, 0);
	table = read_good(image);
	assert_string_equal(name_at(table, 0x1f), "one");
	assert_string_equal(name_at(table, 0x20), "two");
	assert_string_equal(name_at(table, IMAGE_CODE_SIZE / 2 - 1), "two");
	assert_string_equal(name_at(table, IMAGE_CODE_SIZE / 2), "");
	symbol_table_free(table);
	free(image);
}

static void test_fc023_sizeless_dynamic_symbol_covers_nothing(void **state)
{
	struct elf_image *image = image_new(SHT_DYNSYM);
	struct symbol_table *table;

	(void)state;
	image_add(image, "marker", STT_NOTYPE, STB_GLOBAL, 0x10, 0);
	image_add(image, "marker_function", STT_FUNC, STB_GLOBAL, 0x20, 0);
	image_add(image, "sized", STT_FUNC, STB_GLOBAL, 0x40, 8);
	table = read_good(image);
	assert_int_equal(symbol_table_nr(table), 1);
	assert_string_equal(name_at(table, 0x10), "");
	assert_string_equal(name_at(table, 0x30), "");
	assert_string_equal(name_at(table, 0x47), "sized");
	symbol_table_free(table);
	free(image);
}

static void test_fc034_resolver_has_the_weaker_name(void **state)
{
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table;

	(void)state;
	image_add(image, "f", STT_GNU_IFUNC, STB_GLOBAL, 0x10, 16);
	image_add(image, "__resolve_f", STT_FUNC, STB_LOCAL, 0x10, 16);
	image_add(image, "f_avx2", STT_FUNC, STB_LOCAL, 0x20, 16);
	image_add(image, "g", STT_GNU_IFUNC, STB_GLOBAL, 0x30, 16);
	table = read_good(image);
	assert_string_equal(name_at(table, 0x10), "__resolve_f");
	assert_string_equal(name_at(table, 0x20), "f_avx2");
	assert_string_equal(name_at(table, 0x30), "g");
	symbol_table_free(table);
	free(image);
}

static void test_fc035_empty_symbol_table_is_no_error(void **state)
{
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table;

	(void)state;
	table = read_good(image);
	assert_int_equal(symbol_table_nr(table), 0);
	symbol_table_free(table);
	image->sections[IMAGE_SECTION_SYMBOLS].sh_size = 0;
	table = read_good(image);
	assert_int_equal(symbol_table_nr(table), 0);
	symbol_table_free(table);
	free(image);
}

/* The data segment's memory, but not its bytes in the file, lies over the second code segment. */
static void test_fc020_segment_is_chosen_by_file_size(void **state)
{
	struct elf_image *image = image_new(SHT_SYMTAB);
	struct symbol_table *table;

	(void)state;
	image->header.e_phnum = 3;
	image->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					   .p_flags = PF_R | PF_X,
					   .p_offset = IMAGE_CODE_OFFSET,
					   .p_vaddr = 0x10000,
					   .p_filesz = 0x100,
					   .p_memsz = 0x100000 };
	image->segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
					   .p_flags = PF_R | PF_W,
					   .p_offset = IMAGE_CODE_OFFSET + 0x100,
					   .p_vaddr = 0x20000,
					   .p_filesz = 0x100,
					   .p_memsz = 0x100000 };
	image->segments[2] = (Elf64_Phdr){ .p_type = PT_LOAD,
					   .p_flags = PF_R | PF_X,
					   .p_offset = IMAGE_CODE_OFFSET + 0x800,
					   .p_vaddr = 0x30200,
					   .p_filesz = 0x100,
					   .p_memsz = 0x100 };
	image_add(image, "first", STT_FUNC, STB_GLOBAL, 0, 16)->st_value = 0x10010;
	image_add(image, "second", STT_FUNC, STB_GLOBAL, 0, 16)->st_value = 0x30210;
	image_add(image, "data", STT_FUNC, STB_GLOBAL, 0, 16)->st_value = 0x20010;
	image_add(image, "bss", STT_FUNC, STB_GLOBAL, 0, 16)->st_value = 0x10100;
	image_add(image, "cut", STT_FUNC, STB_GLOBAL, 0, 0x1000)->st_value = 0x302f0;
	table = read_good(image);
	assert_int_equal(symbol_table_nr(table), 3);
	assert_string_equal(name_at(table, 0x10), "first");
	assert_string_equal(name_at(table, 0x810), "second");
	assert_string_equal(name_at(table, 0x8ff), "cut");
	assert_string_equal(name_at(table, 0x900), "");
	symbol_table_free(table);
	free(image);
}

static void test_fc031_extended_section_numbers(void **state)
{
	enum { NR = 66000 };
	size_t size = sizeof(struct elf_image) + NR * sizeof(Elf64_Shdr);
	struct elf_image *image = image_new(SHT_SYMTAB);
	unsigned char *file = mem_zalloc(size);
	Elf64_Shdr *sections = mem_calloc(NR, sizeof(*sections));
	struct symbol_table *table = NULL;
	Elf64_Shdr text = image->sections[IMAGE_SECTION_TEXT];

	(void)state;
	image_add(image, "hot_many", STT_FUNC, STB_GLOBAL, 0x10, 0)->st_shndx = SHN_XINDEX;
	image->numbers[1] = NR - 1;
	memcpy(image->strings + IMAGE_STRINGS_SIZE / 2, ".plt", sizeof(".plt"));
	image->sections[IMAGE_SECTION_STRINGS].sh_size = IMAGE_STRINGS_SIZE;
	/* The sizeless symbol's end is that of the section only SHT_SYMTAB_SHNDX can name. */
	text.sh_size = 0x40;
	memcpy(sections, image->sections, sizeof(image->sections));
	sections[NR - 1] = text;
	/* And a section whose name only the extended number of the names' section gives. */
	text.sh_name = IMAGE_STRINGS_SIZE / 2;
	text.sh_addr += 0x100;
	sections[NR - 2] = text;
	sections[0].sh_size = NR;
	sections[0].sh_link = IMAGE_SECTION_STRINGS;
	image->header.e_shnum = 0;
	image->header.e_shstrndx = SHN_XINDEX;
	image->header.e_shoff = sizeof(*image);
	memcpy(file, image, sizeof(*image));
	memcpy(file + sizeof(*image), sections, NR * sizeof(*sections));

	assert_int_equal(elf_symbols_read_image(file, size, &table, NULL), 0);
	assert_string_equal(name_at(table, 0x10), "hot_many");
	assert_string_equal(name_at(table, 0x3f), "hot_many");
	assert_string_equal(name_at(table, 0x40), "");
	assert_string_equal(name_at(table, 0x100), "[plt]");
	symbol_table_free(table);
	free(sections);
	free(file);
	free(image);
}

static struct elf_image *good_image(void)
{
	struct elf_image *image = image_new(SHT_SYMTAB);

	image_add(image, "one", STT_FUNC, STB_GLOBAL, 0x10, 0x10);
	image_add(image, "two", STT_FUNC, STB_GLOBAL, 0x20, 0x10);
	return image;
}

/* Reads the damaged @image, which must end well; names must be those of good_image(). */
static void assert_survives(const struct elf_image *image)
{
	struct symbol_table *table = NULL;
	int ret = read_image(image, &table);

	if (ret) {
		assert_true(ret == -ENOEXEC || ret == -EFBIG || ret == -ENOMEM);
		assert_null(table);
		return;
	}
	symbol_table_check_invariants(table);
	symbol_table_find(table, IMAGE_CODE_OFFSET + 0x10);
	symbol_table_free(table);
}

/* @statement damages a good image; what can be read of it is then @name at "one". */
#define DAMAGE(expected, statement)                                          \
	do {                                                                 \
		struct elf_image *image = good_image();                      \
		struct symbol_table *table = NULL;                           \
		statement;                                                   \
		if (!read_image(image, &table))                              \
			assert_string_equal(name_at(table, 0x10), expected); \
		symbol_table_free(table);                                    \
		free(image);                                                 \
	} while (0)

static void test_fc123_damaged_headers_are_survived(void **state)
{
	(void)state;
	DAMAGE("one", (void)image);
	DAMAGE("", image->header.e_shentsize = 65535);
	DAMAGE("", image->header.e_shentsize = 0);
	DAMAGE("", image->header.e_shoff = UINT64_MAX);
	DAMAGE("", image->header.e_shoff = sizeof(*image) - 8);
	DAMAGE("", image->header.e_shnum = 65535);
	DAMAGE("", {
		image->header.e_shnum = 0;
		image->sections[0].sh_size = UINT64_MAX;
	});
	DAMAGE("", {
		image->header.e_shnum = 0;
		image->sections[0].sh_size = 1u << 30;
	});
	/* A count whose size in bytes wraps around to a small one. */
	DAMAGE("", {
		image->header.e_shnum = 0;
		image->sections[0].sh_size = (UINT64_C(1) << 58) + IMAGE_NR_SECTIONS;
	});
	DAMAGE("one", image->header.e_shstrndx = 65535);
	DAMAGE("one", image->header.e_shstrndx = 500);
	DAMAGE("", image->header.e_phnum = 0);
	DAMAGE("", image->header.e_phnum = 65535);
	DAMAGE("", image->header.e_phentsize = 1);
	DAMAGE("", image->header.e_phoff = UINT64_MAX - 8);
	DAMAGE("", image->segments[0].p_offset = UINT64_MAX - 8);
	DAMAGE("", image->segments[0].p_vaddr = UINT64_MAX - 8);
	DAMAGE("one", image->segments[0].p_filesz = UINT64_MAX);
	DAMAGE("", image->segments[0].p_flags = PF_R);
}

static void test_fc123_damaged_tables_are_survived(void **state)
{
	(void)state;
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_entsize = 0);
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_link = UINT32_MAX);
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_link = IMAGE_SECTION_SYMBOLS);
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_offset = UINT64_MAX);
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_size = UINT64_C(1) << 63);
	DAMAGE("", image->sections[IMAGE_SECTION_SYMBOLS].sh_size = UINT64_C(24) << 32);
	DAMAGE("", image->sections[IMAGE_SECTION_STRINGS].sh_size = UINT64_C(1) << 63);
	DAMAGE("", image->sections[IMAGE_SECTION_STRINGS].sh_type = SHT_NOBITS);
	DAMAGE("on", image->sections[IMAGE_SECTION_STRINGS].sh_size = 3); /* no final NUL */
	DAMAGE("", image->symbols[1].st_name = UINT32_MAX);
	DAMAGE("one", image->symbols[1].st_size = UINT64_MAX);
	DAMAGE("", image->symbols[1].st_value = UINT64_MAX);
	DAMAGE("one", image->symbols[1].st_shndx = 0xfe00);
	DAMAGE("one", image->symbols[1].st_shndx = SHN_XINDEX);
	DAMAGE("one", image->sections[IMAGE_SECTION_NUMBERS].sh_size = 4);
}

static void test_fc123_file_past_the_limit_is_refused(void **state)
{
	struct elf_image *image = good_image();
	struct symbol_table *table = NULL;
	int fd;

	(void)state;
	/* A sparse file has the bytes that the header claims. */
	image->sections[IMAGE_SECTION_SYMBOLS].sh_size = UINT64_C(24) << 25;
	fd = file_of(image, sizeof(*image));
	assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0);
	assert_int_equal(elf_symbols_read(fd, &table, NULL), -EFBIG);
	close(fd);

	/* So has this one, of a section count that would fill all memory. */
	image->header.e_shnum = 0;
	image->sections[0].sh_size = UINT64_C(1) << 30;
	fd = file_of(image, sizeof(*image));
	assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0);
	assert_int_equal(elf_symbols_read(fd, &table, NULL), 0);
	assert_int_equal(symbol_table_nr(table), 0);
	symbol_table_free(table);
	close(fd);
	free(image);
}

/* One string of 64 KiB and its tails: 40,000 symbols could have 1.3 GB of names. */
static void test_fc123_names_that_overlap_are_bounded(void **state)
{
	enum { NR = 40000, NAMES = 65536 };
	size_t symbols_size = NR * sizeof(Elf64_Sym);
	size_t size = sizeof(struct elf_image) + symbols_size + NAMES;
	struct elf_image *image = good_image();
	unsigned char *file = mem_zalloc(size);
	Elf64_Sym *symbols = mem_calloc(NR, sizeof(*symbols));
	struct symbol_table *table = NULL;

	(void)state;
	for (unsigned int i = 0; i < NR; i++) {
		symbols[i] = image->symbols[1];
		symbols[i].st_name = i;
	}
	image->sections[IMAGE_SECTION_SYMBOLS].sh_offset = sizeof(*image);
	image->sections[IMAGE_SECTION_SYMBOLS].sh_size = symbols_size;
	image->sections[IMAGE_SECTION_STRINGS].sh_offset = sizeof(*image) + symbols_size;
	image->sections[IMAGE_SECTION_STRINGS].sh_size = NAMES;
	memcpy(file, image, sizeof(*image));
	memcpy(file + sizeof(*image), symbols, symbols_size);
	memset(file + sizeof(*image) + symbols_size, 'n', NAMES);
	assert_int_equal(elf_symbols_read_image(file, size, &table, NULL), -EFBIG);
	free(symbols);
	free(file);
	free(image);
}

static void test_fc123_every_length_of_a_file_is_survived(void **state)
{
	struct elf_image *image = good_image();

	(void)state;
	for (size_t size = 0; size < sizeof(*image); size += size < IMAGE_CODE_OFFSET ? 1 : 101) {
		unsigned char *cut = malloc(size + !size); /* a copy: ASan sees its end */
		struct symbol_table *table = NULL;

		assert_non_null(cut);
		memcpy(cut, image, size);
		if (!elf_symbols_read_image(cut, size, &table, NULL))
			symbol_table_check_invariants(table);
		symbol_table_free(table);
		free(cut);
	}
	free(image);
}

static void test_fc123_flipped_bits_are_survived(void **state)
{
	struct elf_image *good = good_image(), *image = image_new(SHT_SYMTAB);
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		unsigned char *bytes = (unsigned char *)image;

		memcpy(image, good, sizeof(*image));
		for (int i = rand_r(&seed) % 8; i >= 0; i--)
			bytes[rand_r(&seed) % IMAGE_CODE_OFFSET] ^=
				(unsigned char)(1 << rand_r(&seed) % 8);
		/* Most damage beyond the headers is not seen; do some where it is. */
		if (rand_r(&seed) % 2)
			((unsigned char *)
				 image->sections)[rand_r(&seed) % sizeof(image->sections)] =
				(unsigned char)rand_r(&seed);
		assert_survives(image);
	}
	free(image);
	free(good);
}

static void test_fc121_what_is_no_elf_file_is_refused(void **state)
{
	static const char text[] = "#!/bin/sh\nexit 0\n";
	struct symbol_table *table = NULL;
	struct err err = { .code = 0 };
	unsigned char id[20];
	int fds[2];
	int fd = file_of(text, sizeof(text));

	(void)state;
	assert_int_equal(elf_symbols_read(fd, &table, &err), -ENOEXEC);
	assert_int_equal(err.code, -ENOEXEC);
	assert_int_equal(elf_symbols_build_id(fd, id), 0);
	close(fd);
	fd = file_of("", 0);
	assert_int_equal(elf_symbols_read(fd, &table, &err), -ENOEXEC);
	close(fd);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(elf_symbols_read(fds[0], &table, &err), -ENOEXEC);
	assert_int_equal(elf_symbols_build_id(fds[0], id), 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(elf_symbols_read(-1, &table, &err), -EBADF);
	assert_null(table);
}

static void test_foreign_byte_order_and_class_are_refused(void **state)
{
	struct elf_image *image = good_image();
	struct symbol_table *table = NULL;

	(void)state;
	image->header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_int_equal(read_image(image, &table), -ENOEXEC);
	free(image);
	image = good_image();
	image->header.e_ident[EI_CLASS] = 7;
	assert_int_equal(read_image(image, &table), -ENOEXEC);
	free(image);
}

/* PT_NOTE over @notes, which are put where the code is. */
static size_t read_build_id(const void *notes, size_t size, unsigned char ret_id[static 20])
{
	struct elf_image *image = good_image();
	size_t len;
	int fd;

	image->header.e_phnum = 2;
	image->segments[1] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = IMAGE_CODE_OFFSET, .p_filesz = size, .p_align = 4
	};
	memcpy(image->code, notes, size);
	fd = file_of(image, sizeof(*image));
	len = elf_symbols_build_id(fd, ret_id);
	close(fd);
	free(image);
	return len;
}

static void test_build_id_is_found_behind_other_notes(void **state)
{
	/* NT_GNU_ABI_TAG, then the build id. */
	static const uint32_t notes[] = {
		4, 5, 1, 0x554e47, 0, 0, 4, 20, 3, 0x554e47, 1, 2, 3, 4, 5
	};
	unsigned char id[20];

	(void)state;
	assert_int_equal(read_build_id(notes, sizeof(notes), id), 20);
	assert_memory_equal(id, notes + 10, 20);
	for (size_t size = 0; size < sizeof(notes); size++)
		assert_int_equal(read_build_id(notes, size, id), 0);
}

static void test_fc123_damaged_notes_are_survived(void **state)
{
	static const uint32_t bad[][4] = { { UINT32_MAX, 20, 3, 0x554e47 },
					   { 4, UINT32_MAX, 3, 0x554e47 },
					   { 4, 0, 3, 0x554e47 },
					   { 4, 21, 3, 0x554e47 },
					   { 5, 20, 3, 0x554e47 } };
	unsigned char id[20];
	uint32_t notes[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(notes, 0, sizeof(notes));
		memcpy(notes, bad[i], sizeof(bad[i]));
		assert_int_equal(read_build_id(notes, sizeof(notes), id), 0);
	}
}

/* The vdso is an image in our own memory, with a name that everyone knows. */
static void test_fc041_vdso_image_has_names(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct symbol_table *table = NULL;
	uintptr_t start = 0, end = 0;
	bool is_found = false;
	char line[512];

	(void)state;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
		start = 0;
	}
	if (maps)
		fclose(maps);
	if (!start) {
		print_message("there is no vdso here\n");
		skip();
	}
	assert_int_equal(elf_symbols_read_image((const void *)start, end - start, &table, NULL), 0);
	symbol_table_check_invariants(table);
	for (size_t i = 0; i < symbol_table_nr(table); i++) {
		if (strstr(symbol_table_at(table, i)->name, "clock_gettime"))
			is_found = true;
	}
	symbol_table_free(table);
	assert_true(is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_is_named_by_file_offset),
		cmocka_unit_test(test_only_code_gets_names),
		cmocka_unit_test(test_mapping_symbols_are_no_names),
		cmocka_unit_test(test_fc022_sizeless_function_ends_with_its_section),
		cmocka_unit_test(test_fc023_sizeless_dynamic_symbol_covers_nothing),
		cmocka_unit_test(test_fc034_resolver_has_the_weaker_name),
		cmocka_unit_test(test_fc035_empty_symbol_table_is_no_error),
		cmocka_unit_test(test_fc020_segment_is_chosen_by_file_size),
		cmocka_unit_test(test_fc031_extended_section_numbers),
		cmocka_unit_test(test_fc123_damaged_headers_are_survived),
		cmocka_unit_test(test_fc123_damaged_tables_are_survived),
		cmocka_unit_test(test_fc123_file_past_the_limit_is_refused),
		cmocka_unit_test(test_fc123_names_that_overlap_are_bounded),
		cmocka_unit_test(test_fc123_every_length_of_a_file_is_survived),
		cmocka_unit_test(test_fc123_flipped_bits_are_survived),
		cmocka_unit_test(test_fc121_what_is_no_elf_file_is_refused),
		cmocka_unit_test(test_foreign_byte_order_and_class_are_refused),
		cmocka_unit_test(test_build_id_is_found_behind_other_notes),
		cmocka_unit_test(test_fc123_damaged_notes_are_survived),
		cmocka_unit_test(test_fc041_vdso_image_has_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
