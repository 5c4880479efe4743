/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data files built in memory, byte by byte as perf record writes them, and opened by
 * way of /proc/self/fd: for the tests of core/perf_data.c and core/replay.c.
 */
#ifndef SYMTOP_TESTS_PERF_DATA_FIXTURE_H
#define SYMTOP_TESTS_PERF_DATA_FIXTURE_H

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/perf_data.h"
#include "core/perf_data_private.h"

#define SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU)

/* ---- bytes ---- */

struct bytes {
	unsigned char *bytes;
	size_t nr, nr_allocated;
};

static inline void add(struct bytes *to, const void *bytes, size_t size)
{
	while (to->nr + size > to->nr_allocated) {
		to->nr_allocated = to->nr_allocated ? 2 * to->nr_allocated : 4096;
		to->bytes = realloc(to->bytes, to->nr_allocated);
		assert_non_null(to->bytes);
	}
	memcpy(to->bytes + to->nr, bytes, size);
	to->nr += size;
}

static inline void add_u32(struct bytes *to, uint32_t value)
{
	add(to, &value, sizeof(value));
}

static inline void add_u64(struct bytes *to, uint64_t value)
{
	add(to, &value, sizeof(value));
}

static inline void add_padded(struct bytes *to, const char *text, size_t size)
{
	char padded[4096] = "";

	assert_true(strlen(text) < size && size <= sizeof(padded));
	memcpy(padded, text, strlen(text));
	add(to, padded, size);
}

/* As features have them: a length and that many bytes. */
static inline void add_string(struct bytes *to, const char *text)
{
	add_u32(to, 64);
	add_padded(to, text, 64);
}

static inline void put_u64(struct bytes *to, size_t at, uint64_t value)
{
	memcpy(to->bytes + at, &value, sizeof(value));
}

static inline void add_record(struct bytes *to, uint32_t type, uint16_t misc,
			      const struct bytes *body)
{
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + (body ? body->nr : 0)),
	};

	add(to, &header, sizeof(header));
	if (body)
		add(to, body->bytes, body->nr);
}

/* ---- records ---- */

/* tid, time, id, cpu: the fields of SAMPLE_TYPE that stand in a trailer. */
static inline void add_trailer(struct bytes *to, uint32_t pid, uint64_t time, uint64_t id)
{
	add_u32(to, pid);
	add_u32(to, pid);
	add_u64(to, time);
	add_u64(to, id);
	add_u64(to, 1);
}

static inline void add_sample(struct bytes *to, uint64_t ip, uint32_t pid, uint64_t time,
			      uint64_t id)
{
	struct bytes body = { 0 };

	add_u64(&body, ip);
	add_trailer(&body, pid, time, id);
	add_record(to, PERF_RECORD_SAMPLE,
		   ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &body);
	free(body.bytes);
}

static inline void add_comm(struct bytes *to, uint32_t pid, const char *comm, uint64_t time,
			    uint64_t id)
{
	struct bytes body = { 0 };

	add_u32(&body, pid);
	add_u32(&body, pid);
	add_padded(&body, comm, 16);
	add_trailer(&body, pid, time, id);
	add_record(to, PERF_RECORD_COMM, 0, &body);
	free(body.bytes);
}

static inline void add_mmap2(struct bytes *to, uint32_t pid, uint64_t addr, const char *path,
			     uint64_t time)
{
	struct bytes body = { 0 };

	add_u32(&body, pid);
	add_u32(&body, pid);
	add_u64(&body, addr);
	add_u64(&body, 0x1000);
	add_u64(&body, 0);
	add_u32(&body, 8);
	add_u32(&body, 1);
	add_u64(&body, 77);
	add_u64(&body, 0);
	add_u32(&body, PROT_READ | PROT_EXEC);
	add_u32(&body, 2);
	add_padded(&body, path, 32);
	add_trailer(&body, pid, time, 0);
	add_record(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body);
	free(body.bytes);
}

static inline void add_task(struct bytes *to, uint32_t type, uint32_t pid, uint32_t ppid,
			    uint64_t time)
{
	struct bytes body = { 0 };

	add_u32(&body, pid);
	add_u32(&body, ppid);
	add_u32(&body, pid);
	add_u32(&body, ppid);
	add_u64(&body, time);
	add_trailer(&body, pid, time, 0);
	add_record(to, type, 0, &body);
	free(body.bytes);
}

static inline void add_kernel_map(struct bytes *to)
{
	struct bytes body = { 0 };

	add_u32(&body, UINT32_MAX);
	add_u32(&body, 0);
	add_u64(&body, 0xffffffff81000000);
	add_u64(&body, 0x1000000);
	add_u64(&body, 0xffffffff81000000);
	add_padded(&body, "[kernel.kallsyms]_text", 24);
	add_trailer(&body, 0, 0, 0);
	add_record(to, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
	free(body.bytes);
}

static inline void add_round(struct bytes *to)
{
	add_record(to, FILE_FINISHED_ROUND, 0, NULL);
}

static inline void add_build_id(struct bytes *to, uint16_t misc, unsigned char first, uint8_t size,
				const char *path)
{
	unsigned char id[24] = { first };
	struct bytes body = { 0 };

	id[20] = size;
	add_u32(&body, UINT32_MAX);
	add(&body, id, sizeof(id));
	add_padded(&body, path, 36);
	add_record(to, FILE_BUILD_ID, misc, &body);
	free(body.bytes);
}

static inline struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = 1000,
		.sample_type = SAMPLE_TYPE,
		.sample_id_all = 1,
	};
}

/* Two events, with the ids 11, 12 and 21, 22. */
static const uint64_t event_ids[2][2] = { { 11, 12 }, { 21, 22 } };

static inline struct perf_event_attr event_attr(size_t index)
{
	return index ? attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS)
		     : attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

/* Some of everything. */
static inline void add_data(struct bytes *to)
{
	add_kernel_map(to);
	add_comm(to, 100, "first", 0, 0);
	add_mmap2(to, 100, 0x400000, "/usr/bin/first", 0);
	add_sample(to, 0x400010, 100, 2000, 11);
	add_sample(to, 0x400020, 100, 1000, 21);
	add_task(to, PERF_RECORD_FORK, 101, 100, 2500);
	add_round(to);
	add_sample(to, 0x400010, 101, 2600, 12);
	add_comm(to, 101, "second", 2700, 0);
	add_sample(to, 0x400010, 101, 2750, 12);
	add_sample(to, 0xffffffff81000010, 101, 2800, 11);
	add_task(to, PERF_RECORD_EXIT, 101, 100, 2900);
	add_record(to, 82, 0, NULL); /* FINISHED_INIT */
	add_sample(to, 0x400010, 100, 2450, 22);
	add_round(to);
}

/* ---- files ---- */

/* The sections of a file; what is not set is left out. */
struct image {
	struct bytes data;
	struct bytes features[32];
	bool without_size; /* as a recorder leaves it that was killed */
};

static inline void image_release(struct image *image)
{
	free(image->data.bytes);
	for (size_t i = 0; i < ARRAY_SIZE(image->features); i++)
		free(image->features[i].bytes);
}

static inline struct bytes image_bytes(const struct image *image)
{
	const size_t attr_bytes = sizeof(struct perf_event_attr) + 16;
	const uint64_t ids_at = 104, attrs_at = ids_at + sizeof(event_ids);
	const uint64_t data_at = attrs_at + 2 * attr_bytes;
	uint64_t section_at = data_at + image->data.nr;
	struct bytes file = { 0 };
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(image->features); i++)
		mask |= image->features[i].bytes ? UINT64_C(1) << i : 0;
	add(&file, "PERFILE2", 8);
	add_u64(&file, 104);
	add_u64(&file, attr_bytes);
	add_u64(&file, attrs_at);
	add_u64(&file, 2 * attr_bytes);
	add_u64(&file, data_at);
	add_u64(&file, image->without_size ? 0 : image->data.nr);
	add_u64(&file, 0);
	add_u64(&file, 0);
	add_u64(&file, mask);
	for (size_t i = 0; i < 3; i++)
		add_u64(&file, 0);
	add(&file, event_ids, sizeof(event_ids));
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_attr attr = event_attr(i);

		add(&file, &attr, sizeof(attr));
		add_u64(&file, ids_at + i * sizeof(event_ids[0]));
		add_u64(&file, sizeof(event_ids[0]));
	}
	assert_int_equal(file.nr, data_at);
	add(&file, image->data.bytes, image->data.nr);
	if (image->without_size)
		return file;
	section_at += 16 * (uint64_t)__builtin_popcountll(mask);
	for (size_t i = 0; i < ARRAY_SIZE(image->features); i++) {
		if (!image->features[i].bytes)
			continue;
		add_u64(&file, section_at);
		add_u64(&file, image->features[i].nr);
		section_at += image->features[i].nr;
	}
	for (size_t i = 0; i < ARRAY_SIZE(image->features); i++) {
		if (image->features[i].bytes)
			add(&file, image->features[i].bytes, image->features[i].nr);
	}
	return file;
}

static inline void add_event_desc(struct bytes *to)
{
	static const char *const names[] = { "cpu-clock:u", "page-faults" };

	add_u32(to, 2);
	add_u32(to, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < 2; i++) {
		struct perf_event_attr attr = event_attr(i);

		add(to, &attr, sizeof(attr));
		add_u32(to, 2);
		add_string(to, names[i]);
		add(to, event_ids[i], sizeof(event_ids[i]));
	}
}

static inline void image_init(struct image *image)
{
	*image = (struct image){ 0 };
	add_data(&image->data);
	add_build_id(&image->features[2], PERF_RECORD_MISC_USER, 0xaa, 0, "/usr/bin/first");
	add_build_id(&image->features[2], PERF_RECORD_MISC_USER | 1 << 15, 0xbb, 16,
		     "/lib/short.so");
	add_build_id(&image->features[2], PERF_RECORD_MISC_GUEST_USER, 0xcc, 0, "/guest");
	add_build_id(&image->features[2], PERF_RECORD_MISC_KERNEL, 0xdd, 0, "[kernel.kallsyms]");
	add_string(&image->features[3], "node07");
	add_string(&image->features[4], "6.18.0-test");
	add_string(&image->features[5], "6.1.187");
	add_string(&image->features[6], "x86_64");
	add_u32(&image->features[7], 4);
	add_u32(&image->features[7], 3);
	add_u32(&image->features[11], 3);
	add_string(&image->features[11], "perf");
	add_string(&image->features[11], "record");
	add_string(&image->features[11], "-a");
	add_event_desc(&image->features[12]);
	add_u32(&image->features[14], 2);
	for (uint32_t node = 0; node < 2; node++) {
		add_u32(&image->features[14], node);
		add_u64(&image->features[14], 1000);
		add_u64(&image->features[14], 500);
		add_string(&image->features[14], node ? "2-3" : "0-1");
	}
	add_u64(&image->features[21], 1000);
	add_u64(&image->features[21], 2800);
}

static inline struct bytes whole_image(void)
{
	struct image image;
	struct bytes file;

	image_init(&image);
	file = image_bytes(&image);
	image_release(&image);
	return file;
}

static inline void add_attr_record(struct bytes *to, size_t index)
{
	struct perf_event_attr attr = event_attr(index);
	struct bytes body = { 0 };

	add(&body, &attr, sizeof(attr));
	add(&body, event_ids[index], sizeof(event_ids[index]));
	add_record(to, FILE_ATTR, 0, &body);
	free(body.bytes);
}

static inline void add_name_record(struct bytes *to, uint64_t id, const char *name)
{
	struct bytes body = { 0 };

	add_u64(&body, 2);
	add_u64(&body, id);
	add_padded(&body, name, 16);
	add_record(to, FILE_EVENT_UPDATE, 0, &body);
	free(body.bytes);
}

static inline void add_feature_record(struct bytes *to, uint64_t number, const char *text)
{
	struct bytes body = { 0 };

	add_u64(&body, number);
	add_string(&body, text);
	add_record(to, FILE_FEATURE, 0, &body);
	free(body.bytes);
}

static inline struct bytes pipe_image(void)
{
	struct bytes file = { 0 };

	add(&file, "PERFILE2", 8);
	add_u64(&file, 16);
	add_attr_record(&file, 0);
	add_attr_record(&file, 1);
	add_feature_record(&file, 3, "node08");
	add_kernel_map(&file);
	add_name_record(&file, 22, "faults!");
	add_build_id(&file, PERF_RECORD_MISC_USER, 0xee, 0, "/usr/bin/piped");
	add_data(&file);
	return file;
}

static inline int file_of(const struct bytes *bytes, char path[static 64])
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes->bytes, bytes->nr), bytes->nr);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Frees @bytes. NULL with the message in @ret_text. */
static inline struct perf_data *open_bytes(struct bytes bytes, char ret_text[static 1024])
{
	struct perf_data *data = NULL;
	struct err err = { 0 };
	char path[64];
	int fd = file_of(&bytes, path);

	if (perf_data_open(path, &data, &err) < 0)
		memcpy(ret_text, err.text, sizeof(err.text));
	close(fd);
	free(bytes.bytes);
	return data;
}

static inline struct perf_data *open_good(struct bytes bytes)
{
	char text[1024] = "";
	struct perf_data *data = open_bytes(bytes, text);

	if (!data)
		fail_msg("%s", text);
	return data;
}

static inline void assert_refused(struct bytes bytes, const char *reason)
{
	char text[1024] = "";

	assert_null(open_bytes(bytes, text));
	if (!strstr(text, reason) || !strstr(text, "/proc/self/fd/"))
		fail_msg("'%s' does not name the file and '%s'", text, reason);
}

/* ---- compressed ---- */

static size_t (*compress_all)(void *to, size_t to_size, const void *from, size_t size, int level);

static inline bool has_zstd(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW);
	void *symbol = library ? dlsym(library, "ZSTD_compress") : NULL;

	memcpy(&compress_all, &symbol, sizeof(symbol));
	return symbol;
}

/* The data of a file in compressed records, cut anywhere; sizes are no multiples of 8. */
static inline void compress(struct image *image, uint32_t type)
{
	unsigned char *packed = malloc(image->data.nr + 4096);
	size_t nr, at = 0;
	struct bytes data = { 0 };

	assert_non_null(packed);
	nr = compress_all(packed, image->data.nr + 4096, image->data.bytes, image->data.nr, 1);
	add_round(&data);
	while (at < nr) {
		size_t size = MIN(nr - at, (size_t)(type == FILE_COMPRESSED ? 37 : 64));
		struct bytes body = { 0 };

		if (type == FILE_COMPRESSED2)
			add_u64(&body, size);
		add(&body, packed + at, size);
		while (type == FILE_COMPRESSED2 && body.nr % 8)
			add(&body, "", 1);
		add_record(&data, type, 0, &body);
		free(body.bytes);
		at += size;
	}
	add_round(&data);
	free(packed);
	free(image->data.bytes);
	image->data = data;
}

static inline struct bytes compressed_image(uint32_t type)
{
	struct image image;
	struct bytes file;

	image_init(&image);
	compress(&image, type);
	file = image_bytes(&image);
	image_release(&image);
	return file;
}

#endif /* SYMTOP_TESTS_PERF_DATA_FIXTURE_H */
