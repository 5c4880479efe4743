/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding of records (perf_event_open(2), linux/perf_event.h).
 *
 * Whatever the bytes are, decoding stays inside the record. Strings in the kernel's
 * records end with a NUL inside the record or the record is refused. Nothing is
 * allocated: pointers go into the record and are valid as long as it is.
 *
 * A record is 8-byte aligned, as ring_next() gives it, and all its header.size bytes
 * are there. Any thread.
 */
#ifndef SYMTOP_CORE_RECORD_H
#define SYMTOP_CORE_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

/* What the events ask for; the same for all events of a set. */
struct record_format {
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_*, for PERF_SAMPLE_READ */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint64_t sample_regs_intr;
	bool sample_id_all;
	bool build_ids; /* attr.build_id: MMAP2 may have one */
};

/* Fields not in sample_type are 0 (id: 0, cpu: UINT32_MAX, nr_chain: 0). */
struct sample {
	uint64_t id;
	uint64_t ip;
	uint64_t time; /* ns of the events' clock */
	uint64_t addr;
	uint64_t period; /* 1 when not sampled */
	uint64_t weight;
	uint64_t cgroup;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t cpumode; /* PERF_RECORD_MISC_CPUMODE_MASK bits of misc */
	bool exact_ip;
	const uint64_t *chain; /* innermost first, PERF_CONTEXT_* marks included */
	size_t nr_chain;
	const uint64_t *user_regs; /* nr by sample_regs_user; NULL: none */
	uint64_t user_abi;
	const void *user_stack; /* NULL: none */
	size_t user_stack_size; /* bytes that are valid (dyn_size) */
	const void *raw;	/* tracepoint data */
	uint32_t raw_size;
};

/*
 * The trailer of every other record when sample_id_all is set; 0s otherwise. The
 * records that perf(1) adds to its files (types from 64 on) have none.
 */
struct record_id {
	uint64_t id;
	uint64_t time;
	uint32_t pid, tid, cpu;
};

/*
 * False when it is malformed: no sample, or too short for what it claims. Fast while
 * only fields up to PERIOD are asked for.
 */
bool record_decode_sample(const struct record_format *format,
			  const struct perf_event_header *header,
			  struct sample *ret_sample) MUST_CHECK;

/*
 * Only who, when and where of any record, SAMPLE too, for sorting and routing. False
 * when it is too short.
 */
bool record_decode_id(const struct record_format *format, const struct perf_event_header *header,
		      struct record_id *ret_id) MUST_CHECK;

/* The other records, decoded. type is header.type; the union's member goes with it. */
struct record {
	uint32_t type;
	uint16_t misc;
	struct record_id id;
	union {
		struct { /* MMAP, MMAP2 */
			uint32_t pid, tid;
			uint64_t addr, len, pgoff;
			uint32_t maj, min; /* 0 with MMAP and with a build id */
			uint64_t ino, ino_generation;
			uint32_t prot, flags;  /* MMAP: PROT_EXEC unless MISC_MMAP_DATA */
			uint8_t build_id_size; /* 0: none */
			unsigned char build_id[20];
			const char *filename;
		} mmap;
		struct { /* COMM */
			uint32_t pid, tid;
			bool exec;
			const char *comm;
		} comm;
		struct { /* FORK, EXIT */
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task;
		struct { /* LOST: records; LOST_SAMPLES: id_of = 0 */
			uint64_t id_of;
			uint64_t nr; /* new ones since the last such record */
		} lost;
		struct { /* THROTTLE, UNTHROTTLE */
			uint64_t time, id_of, stream_id;
		} throttle;
		struct { /* KSYMBOL */
			uint64_t addr;
			uint32_t len;
			uint16_t ksym_type;
			bool unregister;
			const char *name;
		} ksymbol;
		struct { /* BPF_EVENT */
			uint16_t event_type, flags;
			uint32_t id;
			unsigned char tag[8];
		} bpf;
		struct { /* CGROUP */
			uint64_t id;
			const char *path;
		} cgroup;
		struct { /* SWITCH, SWITCH_CPU_WIDE */
			bool out, preempt;
			uint32_t next_prev_pid, next_prev_tid;
		} context_switch;
	};
};

enum record_result {
	RECORD_OK,
	RECORD_UNKNOWN,	  /* a type we do not know: skip it, count it */
	RECORD_MALFORMED, /* too short for what it claims, or a string without end */
};

/* Decode any record but SAMPLE. */
enum record_result record_decode(const struct record_format *format,
				 const struct perf_event_header *header,
				 struct record *ret_record) MUST_CHECK;

#endif /* SYMTOP_CORE_RECORD_H */
