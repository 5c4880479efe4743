/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the dynamic linker sees: PT_DYNAMIC has the addresses of the symbols and of
 * their names. Nothing there says how many symbols there are; the hash tables do,
 * DT_HASH by its number of chains, DT_GNU_HASH by the last chain's end. The
 * latter's walk is bounded by the file.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_file.h"

#define MAX_DYNAMIC_BYTES (1u << 20)
#define MAX_HASH_BYTES (256u << 20)

struct dynamic {
	uint64_t symbols, names, names_size, hash, gnu_hash; /* addresses; 0: not there */
};

static void note_entry(struct dynamic *dynamic, int64_t tag, uint64_t value)
{
	if (tag == DT_SYMTAB)
		dynamic->symbols = value;
	else if (tag == DT_STRTAB)
		dynamic->names = value;
	else if (tag == DT_STRSZ)
		dynamic->names_size = value;
	else if (tag == DT_HASH)
		dynamic->hash = value;
	else if (tag == DT_GNU_HASH)
		dynamic->gnu_hash = value;
}

static int read_dynamic(const struct elf_file *file, struct dynamic *ret_dynamic)
{
	const Elf64_Phdr *segment = file->segments;
	const Elf64_Phdr *end = segment + file->nr_segments;
	void *data;
	int ret;

	while (segment < end && segment->p_type != PT_DYNAMIC)
		segment++;
	if (segment == end)
		return -ENOENT;
	ret = elf_file_load(file, segment->p_offset, segment->p_filesz, MAX_DYNAMIC_BYTES, &data);
	if (ret)
		return ret;
	if (file->is_64) {
		const Elf64_Dyn *entry = data;

		for (size_t i = 0; i < segment->p_filesz / sizeof(*entry); i++)
			note_entry(ret_dynamic, entry[i].d_tag, entry[i].d_un.d_val);
	} else {
		const Elf32_Dyn *entry = data;

		for (size_t i = 0; i < segment->p_filesz / sizeof(*entry); i++)
			note_entry(ret_dynamic, entry[i].d_tag, entry[i].d_un.d_val);
	}
	free(data);
	return ret_dynamic->symbols && ret_dynamic->names ? 0 : -ENOENT;
}

/* Load @size bytes at @vaddr, or what the file has of them when @size is UINT64_MAX. */
static int load_at(const struct elf_file *file, uint64_t vaddr, uint64_t size, uint64_t limit,
		   void **ret_data, uint64_t *ret_size)
{
	uint64_t offset, available;

	if (!vaddr || !elf_file_data_offset(file, vaddr, &offset, &available))
		return -ENOENT;
	if (size == UINT64_MAX)
		size = MIN(available, limit);
	else if (size > available)
		return -ENOEXEC;
	*ret_size = size;
	return elf_file_load(file, offset, size, limit, ret_data);
}

/* DT_HASH: nbucket, nchain; there are as many chains as symbols. */
static uint64_t count_by_hash(const struct elf_file *file, uint64_t vaddr)
{
	uint64_t nr, size;
	void *data;

	if (load_at(file, vaddr, 2 * sizeof(Elf32_Word), MAX_HASH_BYTES, &data, &size))
		return 0;
	nr = ((const Elf32_Word *)data)[1];
	free(data);
	return nr;
}

/*
 * DT_GNU_HASH: nbuckets, first symbol, bloom words, shift; bloom; buckets; chains,
 * each ending with an odd hash. @words are all words of the file from there.
 */
static uint64_t count_chains(const Elf32_Word *words, uint64_t nr_words, bool is_64)
{
	uint64_t nr_buckets, first, buckets, chains, last = 0;

	if (nr_words < 4)
		return 0;
	nr_buckets = words[0];
	first = words[1];
	buckets = 4 + (uint64_t)words[2] * (is_64 ? 2 : 1);
	chains = buckets + nr_buckets;
	if (chains > nr_words)
		return 0;
	for (uint64_t i = 0; i < nr_buckets; i++)
		last = MAX(last, words[buckets + i]);
	if (last < first)
		return first; /* only symbols that are not hashed: undefined ones */
	for (uint64_t i = chains + (last - first); i < nr_words; i++, last++) {
		if (words[i] & 1)
			return last + 1;
	}
	return 0;
}

static uint64_t count_by_gnu_hash(const struct elf_file *file, uint64_t vaddr)
{
	uint64_t nr, size;
	void *data;

	if (load_at(file, vaddr, UINT64_MAX, MAX_HASH_BYTES, &data, &size))
		return 0;
	nr = count_chains(data, size / sizeof(Elf32_Word), file->is_64);
	free(data);
	return nr;
}

int elf_dynamic_load(const struct elf_file *file, uint64_t max_symbols, uint64_t max_names,
		     struct elf_symbol_source *ret_source)
{
	struct elf_symbol_source source = { .symbols = NULL };
	struct dynamic dynamic = { .symbols = 0 };
	uint64_t nr, size;
	void *data;
	int ret = read_dynamic(file, &dynamic);

	if (ret)
		return ret;
	nr = count_by_gnu_hash(file, dynamic.gnu_hash);
	if (!nr)
		nr = count_by_hash(file, dynamic.hash);
	if (!nr)
		return -ENOENT;

	ret = load_at(file, dynamic.symbols, nr * elf_file_symbol_size(file),
		      max_symbols * elf_file_symbol_size(file), &data, &size);
	if (ret)
		return ret;
	source.symbols = data;
	source.nr_symbols = nr;
	ret = load_at(file, dynamic.names, dynamic.names_size, max_names, &data, &size);
	if (ret) {
		elf_symbol_source_release(&source);
		return ret;
	}
	source.names = data;
	source.names_size = size;
	*ret_source = source;
	return 0;
}
