/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records in a buffer, one after the other. */
#ifndef SYMTOP_TESTS_RECORD_STATE_FIXTURE_H
#define SYMTOP_TESTS_RECORD_STATE_FIXTURE_H

#include "core/record_write.h"
#include "tests/core_thread_table_fixture.h"

static const struct record_format format = {
	.sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	.sample_id_all = true,
};

static UNUSED const struct perf_event_header *record_at(const struct record_buffer *buffer,
							size_t pos)
{
	return (const void *)(buffer->bytes + pos);
}

static UNUSED void decode(const struct perf_event_header *header, struct record *ret_record)
{
	assert_int_equal(record_decode(&format, header, ret_record), RECORD_OK);
}

#endif /* SYMTOP_TESTS_RECORD_STATE_FIXTURE_H */
