/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The procedure linkage table has no symbols of its own. A stub is a jump through
 * a slot of the GOT, and the slot has a relocation that names the function. So each
 * stub is decoded as far as its slot's address: this holds for every layout that
 * linkers made (.plt, .plt.sec of IBT, .plt.got, lazy or not, any order), where
 * counting stubs against relocations holds only for some.
 *
 * x86-64 and AArch64. What is no such stub, and all of it on other machines, is
 * "[plt]": true, and better than a neighbour's name.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "symbols/elf_file.h"
#include "symbols/symbol.h"

#define MAX_PLT_BYTES (64u << 20)
#define MAX_RELOCATION_BYTES (512u << 20)

struct slot {
	uint64_t vaddr;
	uint32_t symbol; /* index of the dynamic symbols */
};

struct plt {
	struct elf_file *file;
	const struct elf_symbol_source *dynamic;
	struct symbol_table *table;
	struct slot *slots; /* by address */
	size_t nr_slots;
	uint64_t nr_bytes; /* of all sections so far */
};

/* A stub that was decoded: its bytes, and the address of its slot. */
struct stub {
	uint64_t size;
	uint64_t slot;
};

static int compare_slots(const void *left_arg, const void *right_arg)
{
	const struct slot *left = left_arg, *right = right_arg;

	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static bool is_slot_type(uint16_t machine, uint64_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static int add_slots(struct plt *plt, const Elf64_Shdr *section)
{
	const Elf64_Rela *relocation;
	struct slot *slots;
	void *data;
	size_t nr = section->sh_size / sizeof(*relocation);
	int ret = elf_file_load(plt->file, section->sh_offset, section->sh_size,
				MAX_RELOCATION_BYTES, &data);

	if (ret)
		return ret;
	relocation = data;
	slots = realloc(plt->slots, (plt->nr_slots + nr) * sizeof(*slots) + 1);
	if (!slots) {
		free(data);
		return -ENOMEM;
	}
	plt->slots = slots;
	for (size_t i = 0; i < nr; i++) {
		uint64_t symbol = ELF64_R_SYM(relocation[i].r_info);

		if (symbol && symbol < plt->dynamic->nr_symbols &&
		    is_slot_type(plt->file->machine, ELF64_R_TYPE(relocation[i].r_info)))
			slots[plt->nr_slots++] = (struct slot){ .vaddr = relocation[i].r_offset,
								.symbol = (uint32_t)symbol };
	}
	free(data);
	return 0;
}

/* What the dynamic linker applies: the relocation sections that are loaded. */
static int load_slots(struct plt *plt)
{
	uint64_t nr_bytes = 0;
	int ret;

	for (size_t i = 0; i < plt->file->nr_sections; i++) {
		const Elf64_Shdr *section = &plt->file->sections[i];

		if (section->sh_type != SHT_RELA || !(section->sh_flags & SHF_ALLOC))
			continue;
		if (__builtin_add_overflow(nr_bytes, section->sh_size, &nr_bytes) ||
		    nr_bytes > MAX_RELOCATION_BYTES)
			return -EFBIG;
		ret = add_slots(plt, section);
		if (ret)
			return ret;
	}
	if (plt->nr_slots)
		qsort(plt->slots, plt->nr_slots, sizeof(*plt->slots), compare_slots);
	return 0;
}

/*
 * [endbr64] [bnd] jmp *slot(%rip), then filling. Stubs are 8 or 16 bytes long and
 * aligned so.
 */
static bool decode_x86_64(const unsigned char *code, size_t size, uint64_t vaddr, struct stub *stub)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t pos = 0;
	int32_t distance;

	if (size >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		pos = sizeof(endbr64);
	if (pos < size && code[pos] == 0xf2)
		pos++;
	if (size - pos < 6 || code[pos] != 0xff || code[pos + 1] != 0x25)
		return false;
	memcpy(&distance, code + pos + 2, sizeof(distance));
	stub->slot = vaddr + pos + 6 + (uint64_t)(int64_t)distance;
	/* An 8 byte stub is followed by another; a longer one by a push or filling. */
	stub->size = pos == 0 && size >= 8 && code[6] == 0x66 && code[7] == 0x90 ? 8 : 16;
	return true;
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #low]; add x16, x16, #low; br x17; [filling] */
static bool decode_aarch64(const unsigned char *code, size_t size, uint64_t vaddr,
			   struct stub *stub)
{
	uint32_t words[5];
	const uint32_t *word = words;
	uint64_t page;

	if (size < 4 * sizeof(*word))
		return false;
	memcpy(words, code, MIN(sizeof(words), size));
	if (words[0] == 0xd503245f && size >= sizeof(words)) {
		word++;
		vaddr += 4;
	}
	if ((word[0] & 0x9f00001f) != 0x90000010 || (word[1] & 0xffc003ff) != 0xf9400211 ||
	    word[3] != 0xd61f0220)
		return false;
	page = (uint64_t)((word[0] >> 5) & 0x7ffff) << 2 | ((word[0] >> 29) & 3);
	if (page & (1u << 20))
		page |= ~(uint64_t)0x1fffff; /* 21 bits, signed */
	stub->slot = (vaddr & ~(uint64_t)0xfff) + (page << 12) + ((word[1] >> 10) & 0xfff) * 8;
	stub->size = (word == words ? 4 : 5) * sizeof(*word);
	return true;
}

static void add_stub(struct plt *plt, uint64_t offset, const struct stub *stub)
{
	struct slot key = { .vaddr = stub->slot };
	const struct slot *slot;
	Elf64_Sym symbol;
	const char *function;
	char *name;
	size_t len;

	slot = bsearch(&key, plt->slots, plt->nr_slots, sizeof(key), compare_slots);
	if (!slot)
		return;
	symbol = elf_file_symbol(plt->file, plt->dynamic, slot->symbol);
	function = elf_symbol_source_name(plt->dynamic, &symbol, &len);
	if (!len || !elf_file_take_name(plt->file, len))
		return;
	name = mem_printf("%.*s@plt", (int)len, function);
	symbol_table_add(plt->table, offset, stub->size, 0, SYMBOL_LOCAL, name, strlen(name), NULL);
	free(name);
}

static void add_stubs(struct plt *plt, const unsigned char *code, const Elf64_Shdr *section,
		      uint64_t offset, uint64_t size)
{
	bool is_x86 = plt->file->machine == EM_X86_64;
	size_t step = is_x86 ? 8 : 4;
	struct stub stub;

	for (size_t pos = 0; pos < size; pos += step) {
		uint64_t vaddr = section->sh_addr + pos;

		if (is_x86 ? decode_x86_64(code + pos, size - pos, vaddr, &stub)
			   : decode_aarch64(code + pos, size - pos, vaddr, &stub)) {
			stub.size = MIN(stub.size, size - pos);
			add_stub(plt, offset + pos, &stub);
			pos += stub.size - step;
		}
	}
}

static int add_section(struct plt *plt, const Elf64_Shdr *section)
{
	uint64_t offset, end;
	void *code;
	int ret;

	if (!elf_file_code_offset(plt->file, section->sh_addr, &offset, &end) ||
	    section->sh_size > end - offset)
		return 0;
	symbol_table_add(plt->table, offset, section->sh_size, 0, SYMBOL_FALLBACK, "[plt]", 5,
			 NULL);
	if (!plt->nr_slots)
		return 0;
	plt->nr_bytes += section->sh_size;
	if (plt->nr_bytes > MAX_PLT_BYTES)
		return -EFBIG;
	ret = elf_file_load(plt->file, offset, section->sh_size, MAX_PLT_BYTES, &code);
	if (ret)
		return ret;
	add_stubs(plt, code, section, offset, section->sh_size);
	free(code);
	return 0;
}

static bool is_plt(const struct elf_file *file, const Elf64_Shdr *section)
{
	const char *name = elf_file_section_name(file, section);

	return section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR) &&
	       section->sh_size && (!strcmp(name, ".plt") || !strncmp(name, ".plt.", 5));
}

int elf_plt_add(struct elf_file *file, const struct elf_symbol_source *dynamic,
		struct symbol_table *table)
{
	struct plt plt = { .file = file, .dynamic = dynamic, .table = table };
	bool is_known = file->is_64 && (file->machine == EM_X86_64 || file->machine == EM_AARCH64);
	bool is_loaded = false;
	int ret = 0;

	for (size_t i = 0; !ret && i < file->nr_sections; i++) {
		if (!is_plt(file, &file->sections[i]))
			continue;
		if (is_known && !is_loaded) {
			ret = load_slots(&plt);
			is_loaded = true;
		}
		if (!ret)
			ret = add_section(&plt, &file->sections[i]);
	}
	free(plt.slots);
	return ret;
}
