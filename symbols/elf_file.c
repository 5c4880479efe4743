/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why not libelf here: it allocates and loops by what the header says before a
 * caller can look (a sparse file of some GB may claim 2^26 sections), and mapping a
 * file that somebody truncates ends in SIGBUS. What symbols need of the format is
 * little: headers, symbols, relocations, notes, all of fixed size. So pread() into
 * buffers whose size was checked against the file and against a limit before.
 *
 * Only files of our own byte order: others do not run here.
 */
#include "config.h"

#include "symbols/elf_file.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/symbol.h"

/* 66,000 sections exist (one for each function); a million is a lie. */
#define MAX_SECTIONS (1u << 20)
#define MAX_SEGMENTS (1u << 16)
#define MAX_SECTION_NAMES (64u << 20)

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define OUR_BYTE_ORDER ELFDATA2LSB
#else
#define OUR_BYTE_ORDER ELFDATA2MSB
#endif

/* Whether [@offset, @offset + @size) is inside the file. */
static bool file_has(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset;
}

static int read_at(const struct elf_file *file, uint64_t offset, void *data, size_t size)
{
	unsigned char *pos = data;

	if (!file_has(file, offset, size))
		return -ENOEXEC;
	if (file->image) {
		memcpy(data, file->image + offset, size);
		return 0;
	}
	while (size > 0) {
		ssize_t nr = pread(file->fd, pos, size, (off_t)offset);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (nr == 0)
			return -ENOEXEC; /* truncated meanwhile */
		pos += nr;
		offset += (uint64_t)nr;
		size -= (size_t)nr;
	}
	return 0;
}

int elf_file_load(const struct elf_file *file, uint64_t offset, uint64_t size, uint64_t limit,
		  void **ret_data)
{
	char *data;
	int ret;

	if (!file_has(file, offset, size))
		return -ENOEXEC;
	if (size > limit)
		return -EFBIG;
	data = malloc(size + 1);
	if (!data)
		return -ENOMEM;
	ret = read_at(file, offset, data, size);
	if (ret) {
		free(data);
		return ret;
	}
	data[size] = '\0';
	*ret_data = data;
	return 0;
}

static Elf64_Shdr widen_section(const Elf32_Shdr *section)
{
	return (Elf64_Shdr){
		.sh_name = section->sh_name,
		.sh_type = section->sh_type,
		.sh_flags = section->sh_flags,
		.sh_addr = section->sh_addr,
		.sh_offset = section->sh_offset,
		.sh_size = section->sh_size,
		.sh_link = section->sh_link,
		.sh_info = section->sh_info,
		.sh_addralign = section->sh_addralign,
		.sh_entsize = section->sh_entsize,
	};
}

static Elf64_Phdr widen_segment(const Elf32_Phdr *segment)
{
	return (Elf64_Phdr){
		.p_type = segment->p_type,
		.p_flags = segment->p_flags,
		.p_offset = segment->p_offset,
		.p_vaddr = segment->p_vaddr,
		.p_paddr = segment->p_paddr,
		.p_filesz = segment->p_filesz,
		.p_memsz = segment->p_memsz,
		.p_align = segment->p_align,
	};
}

static int read_header(struct elf_file *file, Elf64_Ehdr *ret_header)
{
	Elf32_Ehdr narrow;
	int ret = read_at(file, 0, ret_header->e_ident, EI_NIDENT);

	if (ret)
		return ret;
	if (memcmp(ret_header->e_ident, ELFMAG, SELFMAG) ||
	    ret_header->e_ident[EI_DATA] != OUR_BYTE_ORDER)
		return -ENOEXEC;
	file->is_64 = ret_header->e_ident[EI_CLASS] == ELFCLASS64;
	if (file->is_64)
		return read_at(file, 0, ret_header, sizeof(*ret_header));
	if (ret_header->e_ident[EI_CLASS] != ELFCLASS32)
		return -ENOEXEC;
	ret = read_at(file, 0, &narrow, sizeof(narrow));
	if (ret)
		return ret;
	ret_header->e_machine = narrow.e_machine;
	ret_header->e_phoff = narrow.e_phoff;
	ret_header->e_shoff = narrow.e_shoff;
	ret_header->e_phentsize = narrow.e_phentsize;
	ret_header->e_phnum = narrow.e_phnum;
	ret_header->e_shentsize = narrow.e_shentsize;
	ret_header->e_shnum = narrow.e_shnum;
	ret_header->e_shstrndx = narrow.e_shstrndx;
	return 0;
}

static int read_section(const struct elf_file *file, uint64_t offset, Elf64_Shdr *ret_section)
{
	Elf32_Shdr narrow;
	int ret;

	if (file->is_64)
		return read_at(file, offset, ret_section, sizeof(*ret_section));
	ret = read_at(file, offset, &narrow, sizeof(narrow));
	if (!ret)
		*ret_section = widen_section(&narrow);
	return ret;
}

/* Load @nr headers of @file->sections; all or none. */
static int load_sections(struct elf_file *file, uint64_t offset, size_t nr)
{
	size_t size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	void *data = NULL;
	int ret = elf_file_load(file, offset, nr * size, MAX_SECTIONS * sizeof(Elf64_Shdr), &data);

	if (ret)
		return ret;
	if (file->is_64) {
		file->sections = data;
	} else {
		const Elf32_Shdr *narrow = data;

		file->sections = malloc(nr * sizeof(*file->sections) + 1);
		for (size_t i = 0; file->sections && i < nr; i++)
			file->sections[i] = widen_section(&narrow[i]);
		free(data);
		if (!file->sections)
			return -ENOMEM;
	}
	file->nr_sections = nr;
	return 0;
}

/*
 * Section headers are of no use to the kernel, so a file with broken ones runs all
 * the same: it is then read like one without. Section 0 has the numbers that do
 * not fit the ELF header.
 */
static void read_sections(struct elf_file *file, const Elf64_Ehdr *header)
{
	size_t size = file->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t nr = header->e_shnum, names = header->e_shstrndx;
	Elf64_Shdr first;
	void *data;

	if (!header->e_shoff || header->e_shentsize != size ||
	    read_section(file, header->e_shoff, &first))
		return;
	if (nr == 0)
		nr = first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (nr == 0 || nr > MAX_SECTIONS || load_sections(file, header->e_shoff, nr))
		return;
	if (names < nr && file->sections[names].sh_type != SHT_NOBITS &&
	    !elf_file_load(file, file->sections[names].sh_offset, file->sections[names].sh_size,
			   MAX_SECTION_NAMES, &data)) {
		file->section_names = data;
		file->section_names_size = file->sections[names].sh_size;
	}
}

/* Executable segments, cut to the file: memory beyond p_filesz is no code of the file. */
static void note_code(struct elf_file *file)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		Elf64_Phdr segment = file->segments[i];

		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    segment.p_offset >= file->size || file->nr_code == ELF_MAX_CODE_SEGMENTS)
			continue;
		segment.p_filesz = MIN(segment.p_filesz, file->size - segment.p_offset);
		file->code[file->nr_code++] = segment;
	}
}

static int read_segments(struct elf_file *file, const Elf64_Ehdr *header)
{
	size_t size = file->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t nr = header->e_phnum;
	Elf64_Shdr first;
	void *data;
	int ret;

	if (nr == PN_XNUM && header->e_shoff && !read_section(file, header->e_shoff, &first))
		nr = first.sh_info;
	if (!nr || !header->e_phoff)
		return 0;
	if (header->e_phentsize != size)
		return -ENOEXEC;
	ret = elf_file_load(file, header->e_phoff, nr * size, MAX_SEGMENTS * sizeof(Elf64_Phdr),
			    &data);
	if (ret)
		return ret;
	if (file->is_64) {
		file->segments = data;
	} else {
		const Elf32_Phdr *narrow = data;

		file->segments = malloc(nr * sizeof(*file->segments));
		for (size_t i = 0; file->segments && i < nr; i++)
			file->segments[i] = widen_segment(&narrow[i]);
		free(data);
		if (!file->segments)
			return -ENOMEM;
	}
	file->nr_segments = nr;
	note_code(file);
	return 0;
}

static int init(struct elf_file *file, struct err *err)
{
	Elf64_Ehdr header = { .e_machine = EM_NONE };
	int ret = read_header(file, &header);

	if (ret)
		return err_set(err, ret, "not an ELF file of this machine");
	file->machine = header.e_machine;
	ret = read_segments(file, &header);
	if (ret)
		return err_set(err, ret, "ELF program headers");
	read_sections(file, &header);
	return 0;
}

int elf_file_init_fd(struct elf_file *file, int fd, struct err *err)
{
	struct stat status;

	*file = (struct elf_file){ .fd = fd };
	if (fstat(fd, &status))
		return err_set(err, -errno, "fstat");
	if (!S_ISREG(status.st_mode))
		return err_say(err, -ENOEXEC, "not a regular file");
	file->size = (uint64_t)status.st_size;
	return init(file, err);
}

int elf_file_init_image(struct elf_file *file, const void *image, size_t size, struct err *err)
{
	*file = (struct elf_file){ .fd = -1, .image = image, .size = size };
	return init(file, err);
}

void elf_file_release(struct elf_file *file)
{
	free(file->segments);
	free(file->sections);
	free(file->section_names);
}

const char *elf_file_section_name(const struct elf_file *file, const Elf64_Shdr *section)
{
	if (section->sh_name >= file->section_names_size)
		return "";
	return file->section_names + section->sh_name;
}

bool elf_file_code_offset(struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
			  uint64_t *ret_end)
{
	for (size_t i = 0; i < file->nr_code; i++) {
		size_t index = (file->last_code + i) % file->nr_code;
		const Elf64_Phdr *segment = &file->code[index];

		if (vaddr >= segment->p_vaddr && vaddr - segment->p_vaddr < segment->p_filesz) {
			file->last_code = index;
			*ret_offset = segment->p_offset + (vaddr - segment->p_vaddr);
			*ret_end = segment->p_offset + segment->p_filesz;
			return true;
		}
	}
	return false;
}

bool elf_file_data_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *ret_offset,
			  uint64_t *ret_size)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		uint64_t skipped = vaddr - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || vaddr < segment->p_vaddr ||
		    skipped >= segment->p_filesz || segment->p_offset >= file->size ||
		    skipped >= file->size - segment->p_offset)
			continue;
		*ret_offset = segment->p_offset + skipped;
		*ret_size = MIN(segment->p_filesz - skipped, file->size - *ret_offset);
		return true;
	}
	return false;
}

size_t elf_file_symbol_size(const struct elf_file *file)
{
	return file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

Elf64_Sym elf_file_symbol(const struct elf_file *file, const struct elf_symbol_source *source,
			  size_t index)
{
	Elf64_Sym symbol;
	Elf32_Sym narrow;

	if (file->is_64) {
		memcpy(&symbol, source->symbols + index * sizeof(symbol), sizeof(symbol));
		return symbol;
	}
	memcpy(&narrow, source->symbols + index * sizeof(narrow), sizeof(narrow));
	return (Elf64_Sym){
		.st_name = narrow.st_name,
		.st_info = narrow.st_info,
		.st_other = narrow.st_other,
		.st_shndx = narrow.st_shndx,
		.st_value = narrow.st_value,
		.st_size = narrow.st_size,
	};
}

const char *elf_symbol_source_name(const struct elf_symbol_source *source, const Elf64_Sym *symbol,
				   size_t *ret_len)
{
	const char *name = "";

	if (symbol->st_name < source->names_size)
		name = source->names + symbol->st_name;
	/* There is a NUL behind the last one; the limit is for tables without others. */
	*ret_len = strnlen(name, SYMBOL_MAX_NAME);
	return name;
}

bool elf_file_take_name(struct elf_file *file, size_t len)
{
	if (len >= file->names_left)
		return false;
	file->names_left -= len + 1;
	return true;
}

void elf_symbol_source_release(struct elf_symbol_source *source)
{
	free(source->symbols);
	free(source->names);
	free(source->sections);
	*source = (struct elf_symbol_source){ .symbols = NULL };
}
