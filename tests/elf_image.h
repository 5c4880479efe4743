/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF images made by hand, for what no linker writes: a fixed layout of headers and
 * sections whose fields a test may change afterwards.
 */
#ifndef SYMTOP_TESTS_ELF_IMAGE_H
#define SYMTOP_TESTS_ELF_IMAGE_H

#include <elf.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

#define IMAGE_CODE_OFFSET 0x1000
#define IMAGE_CODE_SIZE 0x1000
#define IMAGE_CODE_VADDR 0x401000 /* the bias is 0x400000 */
#define IMAGE_MAX_SYMBOLS 32
#define IMAGE_MAX_SEGMENTS 8
#define IMAGE_STRINGS_SIZE 0x400

enum {
	IMAGE_SECTION_TEXT = 1,
	IMAGE_SECTION_DATA,
	IMAGE_SECTION_SYMBOLS,
	IMAGE_SECTION_STRINGS,
	IMAGE_SECTION_NUMBERS, /* SHT_SYMTAB_SHNDX */
	IMAGE_NR_SECTIONS,
};

struct elf_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[IMAGE_MAX_SEGMENTS];
	char strings[IMAGE_STRINGS_SIZE];
	Elf64_Sym symbols[IMAGE_MAX_SYMBOLS];
	Elf32_Word numbers[IMAGE_MAX_SYMBOLS];
	Elf64_Shdr sections[IMAGE_NR_SECTIONS];
	unsigned char code[IMAGE_CODE_SIZE] __attribute__((aligned(IMAGE_CODE_OFFSET)));
};

_Static_assert(offsetof(struct elf_image, code) == IMAGE_CODE_OFFSET, "the headers fit a page");

static inline void image_init_sections(struct elf_image *image, uint32_t symbol_type)
{
	image->sections[IMAGE_SECTION_TEXT] = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = IMAGE_CODE_VADDR,
		.sh_offset = IMAGE_CODE_OFFSET,
		.sh_size = IMAGE_CODE_SIZE / 2,
	};
	image->sections[IMAGE_SECTION_DATA] = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = IMAGE_CODE_VADDR + IMAGE_CODE_SIZE / 2,
		.sh_offset = IMAGE_CODE_OFFSET + IMAGE_CODE_SIZE / 2,
		.sh_size = IMAGE_CODE_SIZE / 2,
	};
	image->sections[IMAGE_SECTION_SYMBOLS] = (Elf64_Shdr){
		.sh_type = symbol_type,
		.sh_offset = offsetof(struct elf_image, symbols),
		.sh_size = sizeof(Elf64_Sym),
		.sh_link = IMAGE_SECTION_STRINGS,
		.sh_entsize = sizeof(Elf64_Sym),
	};
	image->sections[IMAGE_SECTION_STRINGS] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct elf_image, strings),
		.sh_size = 1,
	};
	image->sections[IMAGE_SECTION_NUMBERS] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB_SHNDX,
		.sh_offset = offsetof(struct elf_image, numbers),
		.sh_size = sizeof(image->numbers),
		.sh_link = IMAGE_SECTION_SYMBOLS,
		.sh_entsize = sizeof(Elf32_Word),
	};
}

/* A static program with one code segment and an empty symbol table of @symbol_type. */
static inline struct elf_image *image_new(uint32_t symbol_type)
{
	struct elf_image *image = aligned_alloc(IMAGE_CODE_OFFSET, sizeof(*image));

	memset(image, 0, sizeof(*image));
	image->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct elf_image, segments),
		.e_shoff = offsetof(struct elf_image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = IMAGE_NR_SECTIONS,
	};
	image->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = IMAGE_CODE_OFFSET,
		.p_vaddr = IMAGE_CODE_VADDR,
		.p_filesz = IMAGE_CODE_SIZE,
		.p_memsz = IMAGE_CODE_SIZE,
		.p_align = 0x1000,
	};
	image_init_sections(image, symbol_type);
	return image;
}

/* A symbol at @offset of the code, in the text section; the test may change it. */
static inline Elf64_Sym *image_add(struct elf_image *image, const char *name, unsigned char type,
				   unsigned char binding, uint64_t offset, uint64_t size)
{
	Elf64_Shdr *symbols = &image->sections[IMAGE_SECTION_SYMBOLS];
	Elf64_Shdr *strings = &image->sections[IMAGE_SECTION_STRINGS];
	Elf64_Sym *symbol = &image->symbols[symbols->sh_size / sizeof(*symbol)];

	*symbol = (Elf64_Sym){
		.st_name = (Elf32_Word)strings->sh_size,
		.st_info = (unsigned char)ELF64_ST_INFO(binding, type),
		.st_shndx = IMAGE_SECTION_TEXT,
		.st_value = IMAGE_CODE_VADDR + offset,
		.st_size = size,
	};
	memcpy(image->strings + strings->sh_size, name, strlen(name) + 1);
	strings->sh_size += strlen(name) + 1;
	symbols->sh_size += sizeof(*symbol);
	return symbol;
}

#endif /* SYMTOP_TESTS_ELF_IMAGE_H */
