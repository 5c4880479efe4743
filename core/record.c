/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All fixed fields are 8-byte words or pairs of halves in one, and what varies in
 * length is padded to words by the kernel. So a record is walked as words by a
 * cursor: take() gives the next one, or 0 and a mark once the record is used up; the
 * mark is looked at once, at the end. Counts are compared with the words left before
 * anything is multiplied.
 *
 * A sample without chain is decoded by straight code, a test a field that is always
 * the same for a set of events and therefore predicted; what follows PERIOD is a
 * function of its own.
 *
 * linux/perf_event.h shows AUX before CGROUP; the kernel writes it last, after
 * CODE_PAGE_SIZE (perf_output_sample()), and we read what is written.
 */
#include "config.h"

#include "core/record.h"

#include <string.h>
#include <sys/mman.h>

/* Newer than the headers we may be built with. */
#define FORMAT_LOST (UINT64_C(1) << 4)	    /* PERF_FORMAT_LOST, 6.0 */
#define BRANCH_COUNTERS (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, 6.8 */

/* Types that only perf(1) writes, into its files. */
#define FIRST_FILE_TYPE 64

#define WORDS_OF_BRANCH 3

/* In MMAP2: header, pid and tid, address, length, offset; then device and inode, or build id. */
#define MMAP2_IDENTITY_OFFSET 40

/* Sample fields whose place is fixed by those before. */
#define FIXED_FIELDS                                                                    \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

struct cursor {
	const uint64_t *next;
	const uint64_t *end;
	bool is_bad; /* asked for more than there is */
};

static inline size_t left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->next);
}

static inline uint64_t take(struct cursor *cursor)
{
	if (cursor->next == cursor->end) {
		cursor->is_bad = true;
		return 0;
	}
	return *cursor->next++;
}

/* A word that is two halves, in the order of memory. */
static inline void take_pair(struct cursor *cursor, uint32_t *ret_first, uint32_t *ret_second)
{
	uint64_t word = take(cursor);

	memcpy(ret_first, &word, 4);
	memcpy(ret_second, (const char *)&word + 4, 4);
}

/* @nr words; NULL and a mark when there are fewer. */
static const uint64_t *take_words(struct cursor *cursor, uint64_t nr)
{
	const uint64_t *words = cursor->next;

	if (nr > left(cursor)) {
		cursor->is_bad = true;
		cursor->next = cursor->end;
		return NULL;
	}
	cursor->next += nr;
	return words;
}

/* What follows the header; nothing when the kernel cannot have given that size. */
static inline struct cursor body_of(const struct perf_event_header *header)
{
	const uint64_t *words = (const void *)(header + 1);

	if (header->size < sizeof(*header) || header->size % 8)
		return (struct cursor){ .next = words, .end = words, .is_bad = true };
	return (struct cursor){ .next = words, .end = words + header->size / 8 - 1 };
}

static void skip_read(struct cursor *cursor, uint64_t read_format)
{
	uint64_t nr_times = !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			    !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t nr_each = 1U + !!(read_format & PERF_FORMAT_ID) + !!(read_format & FORMAT_LOST);
	uint64_t nr;

	if (!(read_format & PERF_FORMAT_GROUP)) {
		take_words(cursor, nr_times + nr_each);
		return;
	}
	nr = take(cursor);
	take_words(cursor, nr_times);
	if (nr > left(cursor) / nr_each)
		cursor->is_bad = true;
	else
		take_words(cursor, nr * nr_each);
}

static void take_chain(struct cursor *cursor, struct sample *sample)
{
	uint64_t nr = take(cursor);

	sample->chain = take_words(cursor, nr);
	if (sample->chain)
		sample->nr_chain = nr;
}

/* A 32-bit size, then the data at once; the kernel pads size and data together to words. */
static void take_raw(struct cursor *cursor, struct sample *sample)
{
	const uint64_t *words = cursor->next;
	uint32_t size, ignored;

	take_pair(cursor, &size, &ignored);
	if (size % 8 != 4) {
		cursor->is_bad = true;
		return;
	}
	/* The first word is taken: it holds the size and the first four bytes. */
	if (take_words(cursor, size / 8)) {
		sample->raw = (const char *)words + sizeof(size);
		sample->raw_size = size;
	}
}

static void skip_branches(struct cursor *cursor, uint64_t branch_sample_type)
{
	uint64_t nr_each = WORDS_OF_BRANCH + !!(branch_sample_type & BRANCH_COUNTERS);
	uint64_t nr = take(cursor);

	if (branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take(cursor);
	if (nr > left(cursor) / nr_each)
		cursor->is_bad = true;
	else
		take_words(cursor, nr * nr_each);
}

/* NULL for a task without user registers (a kernel thread). */
static const uint64_t *take_regs(struct cursor *cursor, uint64_t mask, uint64_t *ret_abi)
{
	*ret_abi = take(cursor);
	if (*ret_abi == PERF_SAMPLE_REGS_ABI_NONE)
		return NULL;
	return take_words(cursor, (uint64_t)__builtin_popcountll(mask));
}

/* The size that was asked for, so many bytes, and how many of them are valid. */
static void take_stack(struct cursor *cursor, struct sample *sample)
{
	uint64_t size = take(cursor);
	const uint64_t *stack;
	uint64_t valid;

	if (!size)
		return;
	stack = take_words(cursor, size / 8);
	valid = take(cursor);
	if (size % 8 || valid > size) {
		cursor->is_bad = true;
		return;
	}
	if (stack && valid) {
		sample->user_stack = stack;
		sample->user_stack_size = valid;
	}
}

static uint64_t take_weight(struct cursor *cursor, uint64_t type)
{
	uint64_t word = take(cursor);

	/* As a struct: the weight proper in the low half, two other latencies above. */
	return type & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)word : word;
}

static void take_variable_fields(struct cursor *cursor, const struct record_format *format,
				 struct sample *sample)
{
	uint64_t type = format->sample_type;
	uint64_t ignored;

	if (type & PERF_SAMPLE_READ)
		skip_read(cursor, format->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(cursor, sample);
	if (type & PERF_SAMPLE_RAW)
		take_raw(cursor, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(cursor, format->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		sample->user_regs = take_regs(cursor, format->sample_regs_user, &sample->user_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(cursor, sample);
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		sample->weight = take_weight(cursor, type);
	if (type & PERF_SAMPLE_DATA_SRC)
		take(cursor);
	if (type & PERF_SAMPLE_TRANSACTION)
		take(cursor);
	if (type & PERF_SAMPLE_REGS_INTR)
		take_regs(cursor, format->sample_regs_intr, &ignored);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		take(cursor);
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = take(cursor);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		take(cursor);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		take(cursor);
	if (type & PERF_SAMPLE_AUX) {
		/* The last: only its length is checked. */
		if (take(cursor) > 8 * left(cursor))
			cursor->is_bad = true;
	}
}

/* The fields up to PERIOD, in the order of the kernel. */
static inline void take_fixed_fields(struct cursor *cursor, uint64_t type, struct sample *sample)
{
	uint32_t ignored;

	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->id = take(cursor);
	if (type & PERF_SAMPLE_IP)
		sample->ip = take(cursor);
	if (type & PERF_SAMPLE_TID)
		take_pair(cursor, &sample->pid, &sample->tid);
	if (type & PERF_SAMPLE_TIME)
		sample->time = take(cursor);
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = take(cursor);
	if (type & PERF_SAMPLE_ID)
		sample->id = take(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		take(cursor);
	if (type & PERF_SAMPLE_CPU)
		take_pair(cursor, &sample->cpu, &ignored);
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = take(cursor);
}

/*
 * Field by field: gcc clears a struct of this size with "rep stos", which takes longer
 * than all the rest of decoding.
 */
static inline void sample_clear(struct sample *sample, uint16_t misc)
{
	sample->id = 0;
	sample->ip = 0;
	sample->time = 0;
	sample->addr = 0;
	sample->period = 1;
	sample->weight = 0;
	sample->cgroup = 0;
	sample->pid = 0;
	sample->tid = 0;
	sample->cpu = UINT32_MAX;
	sample->cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->exact_ip = misc & PERF_RECORD_MISC_EXACT_IP;
	sample->chain = NULL;
	sample->nr_chain = 0;
	sample->user_regs = NULL;
	sample->user_abi = 0;
	sample->user_stack = NULL;
	sample->user_stack_size = 0;
	sample->raw = NULL;
	sample->raw_size = 0;
}

bool record_decode_sample(const struct record_format *format,
			  const struct perf_event_header *header, struct sample *ret_sample)
{
	struct cursor cursor = body_of(header);
	uint64_t type = format->sample_type;

	if (header->type != PERF_RECORD_SAMPLE)
		return false;
	sample_clear(ret_sample, header->misc);
	take_fixed_fields(&cursor, type, ret_sample);
	if (type & ~(uint64_t)FIXED_FIELDS)
		take_variable_fields(&cursor, format, ret_sample);
	return !cursor.is_bad;
}

static size_t trailer_words(uint64_t type)
{
	return (size_t) !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
	       !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
	       !!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER);
}

static bool has_trailer(const struct record_format *format, const struct perf_event_header *header)
{
	return format->sample_id_all && header->type < FIRST_FILE_TYPE;
}

/* Cut the trailer off the end of @body and decode it. */
static void take_trailer(struct cursor *body, uint64_t type, struct record_id *id)
{
	size_t nr = trailer_words(type);
	struct cursor trailer;
	uint32_t ignored;

	if (nr > left(body)) {
		body->is_bad = true;
		return;
	}
	trailer = (struct cursor){ .next = body->end - nr, .end = body->end };
	body->end -= nr;
	if (type & PERF_SAMPLE_TID)
		take_pair(&trailer, &id->pid, &id->tid);
	if (type & PERF_SAMPLE_TIME)
		id->time = take(&trailer);
	if (type & PERF_SAMPLE_ID)
		id->id = take(&trailer);
	if (type & PERF_SAMPLE_STREAM_ID)
		take(&trailer);
	if (type & PERF_SAMPLE_CPU)
		take_pair(&trailer, &id->cpu, &ignored);
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = take(&trailer);
}

bool record_decode_id(const struct record_format *format, const struct perf_event_header *header,
		      struct record_id *ret_id)
{
	struct cursor cursor = body_of(header);
	struct sample sample;

	*ret_id = (struct record_id){ 0 };
	if (header->type == PERF_RECORD_SAMPLE) {
		sample_clear(&sample, header->misc);
		take_fixed_fields(&cursor, format->sample_type, &sample);
		*ret_id = (struct record_id){
			.id = sample.id,
			.time = sample.time,
			.pid = sample.pid,
			.tid = sample.tid,
			.cpu = format->sample_type & PERF_SAMPLE_CPU ? sample.cpu : 0,
		};
	} else if (has_trailer(format, header)) {
		take_trailer(&cursor, format->sample_type, ret_id);
	}
	return !cursor.is_bad;
}

/* The rest of the body, which must hold a NUL. */
static const char *take_string(struct cursor *cursor)
{
	const char *text = (const void *)cursor->next;

	if (cursor->is_bad || !memchr(text, '\0', 8 * left(cursor))) {
		cursor->is_bad = true;
		return NULL;
	}
	cursor->next = cursor->end;
	return text;
}

static void take_build_id(struct cursor *body, struct record *record)
{
	const uint64_t *words = take_words(body, 3);
	const unsigned char *bytes = (const void *)words;

	if (!bytes)
		return;
	/* u8 size, three reserved bytes, 20 bytes. */
	if (bytes[0] > sizeof(record->mmap.build_id)) {
		body->is_bad = true;
		return;
	}
	record->mmap.build_id_size = bytes[0];
	memcpy(record->mmap.build_id, bytes + 4, bytes[0]);
}

static void take_mmap(struct cursor *body, struct record *record)
{
	take_pair(body, &record->mmap.pid, &record->mmap.tid);
	record->mmap.addr = take(body);
	record->mmap.len = take(body);
	record->mmap.pgoff = take(body);
	if (record->type == PERF_RECORD_MMAP) {
		if (!(record->misc & PERF_RECORD_MISC_MMAP_DATA))
			record->mmap.prot = PROT_EXEC;
	} else {
		if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			take_build_id(body, record);
		} else {
			take_pair(body, &record->mmap.maj, &record->mmap.min);
			record->mmap.ino = take(body);
			record->mmap.ino_generation = take(body);
		}
		take_pair(body, &record->mmap.prot, &record->mmap.flags);
	}
	record->mmap.filename = take_string(body);
}

static void take_comm(struct cursor *body, struct record *record)
{
	take_pair(body, &record->comm.pid, &record->comm.tid);
	record->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	record->comm.comm = take_string(body);
}

static void take_task(struct cursor *body, struct record *record)
{
	take_pair(body, &record->task.pid, &record->task.ppid);
	take_pair(body, &record->task.tid, &record->task.ptid);
	record->task.time = take(body);
}

static void take_lost(struct cursor *body, struct record *record)
{
	if (record->type == PERF_RECORD_LOST)
		record->lost.id_of = take(body);
	record->lost.nr = take(body);
}

static void take_throttle(struct cursor *body, struct record *record)
{
	record->throttle.time = take(body);
	record->throttle.id_of = take(body);
	record->throttle.stream_id = take(body);
}

static void take_ksymbol(struct cursor *body, struct record *record)
{
	uint32_t type_and_flags;
	uint16_t halves[2];

	record->ksymbol.addr = take(body);
	take_pair(body, &record->ksymbol.len, &type_and_flags);
	memcpy(halves, &type_and_flags, sizeof(halves));
	record->ksymbol.ksym_type = halves[0];
	record->ksymbol.unregister = halves[1] & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	record->ksymbol.name = take_string(body);
}

static void take_bpf(struct cursor *body, struct record *record)
{
	uint32_t type_and_flags;
	uint16_t halves[2];
	uint64_t tag;

	take_pair(body, &type_and_flags, &record->bpf.id);
	memcpy(halves, &type_and_flags, sizeof(halves));
	record->bpf.event_type = halves[0];
	record->bpf.flags = halves[1];
	tag = take(body);
	memcpy(record->bpf.tag, &tag, sizeof(record->bpf.tag));
}

static void take_cgroup(struct cursor *body, struct record *record)
{
	record->cgroup.id = take(body);
	record->cgroup.path = take_string(body);
}

static void take_switch(struct cursor *body, struct record *record)
{
	record->context_switch.out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	record->context_switch.preempt = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		take_pair(body, &record->context_switch.next_prev_pid,
			  &record->context_switch.next_prev_tid);
}

static void (*const takers[])(struct cursor *body, struct record *record) = {
	[PERF_RECORD_MMAP] = take_mmap,
	[PERF_RECORD_LOST] = take_lost,
	[PERF_RECORD_COMM] = take_comm,
	[PERF_RECORD_EXIT] = take_task,
	[PERF_RECORD_THROTTLE] = take_throttle,
	[PERF_RECORD_UNTHROTTLE] = take_throttle,
	[PERF_RECORD_FORK] = take_task,
	[PERF_RECORD_MMAP2] = take_mmap,
	[PERF_RECORD_LOST_SAMPLES] = take_lost,
	[PERF_RECORD_SWITCH] = take_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = take_switch,
	[PERF_RECORD_KSYMBOL] = take_ksymbol,
	[PERF_RECORD_BPF_EVENT] = take_bpf,
	[PERF_RECORD_CGROUP] = take_cgroup,
};

/*
 * Does an MMAP2 that says so really have a build id? While somebody else asks for them, the
 * kernel (6.18 and older) says it of everybody's records, also of those that have device
 * and inode in that place. Where the event did not ask, perf inject may have put it there: it
 * is taken for one if it looks like that, of MD5 or SHA-1. No device has such a number.
 */
static bool has_build_id(const struct record_format *format, const struct perf_event_header *header)
{
	const unsigned char *bytes = (const unsigned char *)header + MMAP2_IDENTITY_OFFSET;

	if (format->build_ids || header->size < MMAP2_IDENTITY_OFFSET + 4)
		return true;
	return (bytes[0] == 16 || bytes[0] == 20) && !bytes[1] && !bytes[2] && !bytes[3];
}

enum record_result record_decode(const struct record_format *format,
				 const struct perf_event_header *header, struct record *ret_record)
{
	struct cursor body = body_of(header);

	*ret_record = (struct record){ .type = header->type, .misc = header->misc };
	if (header->type >= ARRAY_SIZE(takers) || !takers[header->type])
		return RECORD_UNKNOWN;
	if (header->type == PERF_RECORD_MMAP2 && header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    !has_build_id(format, header))
		ret_record->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (has_trailer(format, header))
		take_trailer(&body, format->sample_type, &ret_record->id);
	takers[header->type](&body, ret_record);
	return body.is_bad ? RECORD_MALFORMED : RECORD_OK;
}
