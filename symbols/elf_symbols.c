/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which symbols name code, and which bytes.
 *
 * A name is shown only when it is right, so a symbol must be a function (or a label
 * of assembly in an executable section) and its address must be in an executable
 * segment's bytes of the file. What has no size may run to the end of its section,
 * but only where the whole symbol table is there: in a stripped file the functions
 * behind an exported label are just not listed.
 *
 * Not here: PowerPC's function descriptors (.opd), Go's .gopclntab.
 */
#include "config.h"

#include "symbols/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_file.h"
#include "symbols/symbol.h"

#define MAX_SYMBOLS (16u << 20)
#define MAX_NAMES (512u << 20)
#define MAX_NOTES (64u << 10)
#define MAX_NOTE_SEGMENTS 64

struct reader {
	struct elf_file file;
	struct elf_symbol_source all;	  /* .symtab */
	struct elf_symbol_source dynamic; /* .dynsym */
	struct symbol_table *table;
};

static const Elf64_Shdr *find_section(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->nr_sections; i++) {
		if (file->sections[i].sh_type == type)
			return &file->sections[i];
	}
	return NULL;
}

/* SHT_SYMTAB_SHNDX of @symbols: section numbers that do not fit 16 bits. May be missing. */
static int load_section_numbers(const struct elf_file *file, const Elf64_Shdr *symbols,
				struct elf_symbol_source *source)
{
	const Elf64_Shdr *section = file->sections;
	const Elf64_Shdr *end = section + file->nr_sections;
	void *data;
	int ret;

	while (section < end && (section->sh_type != SHT_SYMTAB_SHNDX ||
				 section->sh_link != (size_t)(symbols - file->sections)))
		section++;
	if (section == end)
		return 0;
	ret = elf_file_load(file, section->sh_offset, section->sh_size,
			    MAX_SYMBOLS * sizeof(Elf32_Word), &data);
	if (ret)
		return ret;
	source->sections = data;
	source->nr_sections = section->sh_size / sizeof(Elf32_Word);
	return 0;
}

/* The symbols of the first section of @type; empty when there is none. */
static int load_source(const struct elf_file *file, uint32_t type, struct elf_symbol_source *source)
{
	const Elf64_Shdr *section = find_section(file, type);
	size_t size = elf_file_symbol_size(file);
	const Elf64_Shdr *names;
	void *data;
	int ret;

	if (!section || section->sh_size < size)
		return 0;
	if (section->sh_entsize != size || section->sh_link >= file->nr_sections)
		return -ENOEXEC;
	names = &file->sections[section->sh_link];
	if (names->sh_type != SHT_STRTAB)
		return -ENOEXEC;
	ret = elf_file_load(file, section->sh_offset, section->sh_size, MAX_SYMBOLS * size, &data);
	if (ret)
		return ret;
	source->symbols = data;
	source->nr_symbols = section->sh_size / size;
	ret = elf_file_load(file, names->sh_offset, names->sh_size, MAX_NAMES, &data);
	if (ret)
		return ret;
	source->names = data;
	source->names_size = names->sh_size;
	return load_section_numbers(file, section, source);
}

/*
 * A table that cannot be loaded is as good as none, unless it is too big or the
 * reading itself failed.
 */
static int load_source_or_none(const struct elf_file *file, uint32_t type,
			       struct elf_symbol_source *source)
{
	int ret = load_source(file, type, source);

	if (ret)
		elf_symbol_source_release(source);
	return ret == -ENOEXEC ? 0 : ret;
}

/* The section of symbol @index, or NULL when it has none. */
static const Elf64_Shdr *symbol_section(const struct elf_file *file,
					const struct elf_symbol_source *source, size_t index,
					const Elf64_Sym *symbol)
{
	size_t number = symbol->st_shndx;

	if (number == SHN_XINDEX)
		number = index < source->nr_sections ? source->sections[index] : 0;
	else if (number >= SHN_LORESERVE)
		return NULL;
	return number < file->nr_sections ? &file->sections[number] : NULL;
}

/* $a, $d, $t, $x: what the bytes behind are, not who they are. "$d.12" too. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	if (name[0] != '$')
		return false;
	if (machine == EM_RISCV)
		return name[1] == 'x' || name[1] == 'd';
	return (machine == EM_ARM || machine == EM_AARCH64) && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static bool is_code_symbol(const Elf64_Sym *symbol, const Elf64_Shdr *section)
{
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_COMMON;
	case STT_NOTYPE:
		return symbol->st_shndx != SHN_UNDEF && section &&
		       (section->sh_flags & SHF_EXECINSTR);
	default:
		return false;
	}
}

static enum symbol_binding symbol_binding(const Elf64_Sym *symbol)
{
	/* The bytes are the resolver's: its own name, if there is one, is better. */
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return SYMBOL_FALLBACK;
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return SYMBOL_GLOBAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_LOCAL;
	}
}

/* The file offset up to which a sizeless symbol at @offset may extend; 0: no bytes. */
static uint64_t sizeless_limit(const Elf64_Sym *symbol, const Elf64_Shdr *section, uint64_t offset,
			       uint64_t segment_end)
{
	uint64_t left;

	if (!section || !(section->sh_flags & SHF_EXECINSTR) ||
	    symbol->st_value < section->sh_addr ||
	    symbol->st_value - section->sh_addr >= section->sh_size)
		return 0;
	left = section->sh_size - (symbol->st_value - section->sh_addr);
	return offset + MIN(left, segment_end - offset);
}

static int add_symbol(struct reader *reader, const struct elf_symbol_source *source, size_t index)
{
	struct elf_file *file = &reader->file;
	Elf64_Sym symbol = elf_file_symbol(file, source, index);
	const Elf64_Shdr *section = symbol_section(file, source, index, &symbol);
	uint64_t offset, segment_end, limit = 0;
	const char *name;
	size_t len;

	if (!is_code_symbol(&symbol, section))
		return 0;
	if (file->machine == EM_ARM)
		symbol.st_value &= ~(uint64_t)1; /* Thumb code */
	if (!elf_file_code_offset(file, symbol.st_value, &offset, &segment_end))
		return 0;
	name = elf_symbol_source_name(source, &symbol, &len);
	/* .L: labels of the assembler itself, which some linkers leave in. */
	if (!len || !strncmp(name, ".L", 2) || is_mapping_symbol(file->machine, name))
		return 0;
	if (!elf_file_take_name(file, len))
		return -EFBIG;
	symbol.st_size = MIN(symbol.st_size, segment_end - offset);
	if (!symbol.st_size && source == &reader->all)
		limit = sizeless_limit(&symbol, section, offset, segment_end);
	symbol_table_add(reader->table, offset, symbol.st_size, limit, symbol_binding(&symbol),
			 name, len, NULL);
	return 0;
}

static int add_source(struct reader *reader, const struct elf_symbol_source *source)
{
	int ret = 0;

	/*
	 * Strings may share their ends, and many symbols may have one name, so the names
	 * can be more than the string table has; but not without end.
	 */
	reader->file.names_left += 4 * (uint64_t)source->names_size + 64 * source->nr_symbols;
	reader->file.names_left = MIN(reader->file.names_left, MAX_NAMES);
	for (size_t i = 0; !ret && i < source->nr_symbols; i++)
		ret = add_symbol(reader, source, i);
	return ret;
}

static int load_sources(struct reader *reader)
{
	int ret = load_source_or_none(&reader->file, SHT_SYMTAB, &reader->all);

	if (!ret)
		ret = load_source_or_none(&reader->file, SHT_DYNSYM, &reader->dynamic);
	if (ret || reader->all.nr_symbols || reader->dynamic.nr_symbols)
		return ret;
	ret = elf_dynamic_load(&reader->file, MAX_SYMBOLS, MAX_NAMES, &reader->dynamic);
	return ret == -ENOENT || ret == -ENOEXEC ? 0 : ret;
}

/* @reader->file is initialised, and is released here. */
static int read_symbols(struct reader *reader, struct symbol_table **ret_table, struct err *err)
{
	int ret = 0;

	reader->table = symbol_table_new();
	if (reader->file.nr_code) {
		ret = load_sources(reader);
		if (!ret)
			ret = add_source(reader, &reader->all);
		if (!ret)
			ret = add_source(reader, &reader->dynamic);
		if (!ret)
			ret = elf_plt_add(&reader->file, &reader->dynamic, reader->table);
	}
	elf_symbol_source_release(&reader->all);
	elf_symbol_source_release(&reader->dynamic);
	elf_file_release(&reader->file);
	if (ret) {
		symbol_table_free(reader->table);
		return err_set(err, ret, "ELF symbols");
	}
	symbol_table_finish(reader->table);
	*ret_table = reader->table;
	return 0;
}

int elf_symbols_read(int fd, struct symbol_table **ret_table, struct err *err)
{
	struct reader reader = { .table = NULL };
	int ret = elf_file_init_fd(&reader.file, fd, err);

	if (ret)
		return ret;
	return read_symbols(&reader, ret_table, err);
}

int elf_symbols_read_image(const void *image, size_t size, struct symbol_table **ret_table,
			   struct err *err)
{
	struct reader reader = { .table = NULL };
	int ret = elf_file_init_image(&reader.file, image, size, err);

	if (ret)
		return ret;
	return read_symbols(&reader, ret_table, err);
}

/*
 * Notes: name size, description size, type, then both, each padded to 4 bytes (to
 * @align 8 in some segments, but never before a build id of those).
 */
static size_t find_build_id(const unsigned char *notes, uint64_t size, uint64_t align,
			    unsigned char ret_id[static 20])
{
	uint64_t pos = 0;
	Elf32_Nhdr header; /* the same in both classes */

	align = align == 8 ? 8 : 4;
	while (size - pos >= sizeof(header)) {
		uint64_t name = pos + sizeof(header), description;

		memcpy(&header, notes + pos, sizeof(header));
		description = (name + header.n_namesz + align - 1) & ~(align - 1);
		if (description > size || header.n_descsz > size - description)
			return 0;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && header.n_descsz && header.n_descsz <= 20) {
			memcpy(ret_id, notes + description, header.n_descsz);
			return header.n_descsz;
		}
		pos = (description + header.n_descsz + align - 1) & ~(align - 1);
		if (pos > size)
			return 0;
	}
	return 0;
}

size_t elf_symbols_build_id(int fd, unsigned char ret_id[static 20])
{
	struct elf_file file;
	size_t len = 0, nr_notes = 0;

	if (elf_file_init_fd(&file, fd, NULL))
		return 0;
	for (size_t i = 0; !len && i < file.nr_segments && nr_notes < MAX_NOTE_SEGMENTS; i++) {
		const Elf64_Phdr *segment = &file.segments[i];
		void *data;

		if (segment->p_type != PT_NOTE)
			continue;
		nr_notes++;
		if (elf_file_load(&file, segment->p_offset, segment->p_filesz, MAX_NOTES, &data))
			continue;
		len = find_build_id(data, segment->p_filesz, segment->p_align, ret_id);
		free(data);
	}
	elf_file_release(&file);
	return len;
}
