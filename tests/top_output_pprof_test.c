/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/base/mem.h"
#include "tests/top_fixture.h"

/* ---- a reader of protobuf, and of what of the profile must fit together ---- */

struct field {
	unsigned int number;
	uint64_t value; /* of a varint */
	const unsigned char *bytes;
	size_t len;
};

static bool take_varint(const unsigned char **p, const unsigned char *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned int shift = 0; *p < end && shift < 64; shift += 7) {
		unsigned char byte = *(*p)++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_field(const unsigned char **p, const unsigned char *end, struct field *field)
{
	uint64_t tag;

	*field = (struct field){ 0 };
	if (!take_varint(p, end, &tag) || !take_varint(p, end, &field->value))
		return false;
	field->number = (unsigned int)(tag >> 3);
	if ((tag & 7) == 0)
		return true;
	if ((tag & 7) != 2 || field->value > (uint64_t)(end - *p))
		return false;
	field->bytes = *p;
	field->len = (size_t)field->value;
	*p += field->len;
	return true;
}

struct decoded {
	size_t nr_types, nr_samples, nr_mappings, nr_locations, nr_functions, nr_strings;
	uint64_t sums[8];
	uint64_t leaf;			     /* location of the first sample that comes first */
	uint64_t functions[256], names[256]; /* by location, by function */
	char *strings[256];
};

static bool decode_sample(struct decoded *decoded, const struct field *sample)
{
	const unsigned char *p = sample->bytes, *end = p + sample->len;
	struct field field;
	size_t nr_values = 0;

	while (p < end) {
		const unsigned char *q, *q_end;
		uint64_t value;

		if (!take_field(&p, end, &field) || !field.bytes)
			return false;
		q = field.bytes;
		q_end = q + field.len;
		for (size_t i = 0; field.number <= 2 && q < q_end; i++) {
			if (!take_varint(&q, q_end, &value))
				return false;
			if (field.number == 1 && (!value || value > 1000))
				return false;
			if (field.number == 1 && !decoded->nr_samples && !i)
				decoded->leaf = value;
			if (field.number == 2)
				decoded->sums[nr_values++ & 7] += value;
		}
	}
	decoded->nr_samples++;
	return nr_values == decoded->nr_types;
}

/* The last number of field @number in a message; 0: it has none. */
static uint64_t get_number(const unsigned char *bytes, size_t len, unsigned int number)
{
	const unsigned char *p = bytes;
	struct field field;
	uint64_t value = 0;

	while (p < bytes + len && take_field(&p, bytes + len, &field)) {
		if (field.number == number)
			value = field.value;
	}
	return value;
}

/* What a location or function refers to. */
static void decode_names(struct decoded *decoded, const struct field *message)
{
	const unsigned char *p = message->bytes;
	struct field field;

	if (message->number == 5) {
		decoded->names[decoded->nr_functions & 255] =
			get_number(message->bytes, message->len, 2);
		return;
	}
	while (p < message->bytes + message->len &&
	       take_field(&p, message->bytes + message->len, &field)) {
		if (field.number == 4)
			decoded->functions[decoded->nr_locations & 255] =
				get_number(field.bytes, field.len, 1);
	}
}

/* The first field of a message that is an id: they run from 1. */
static bool has_id(const struct field *message, uint64_t id)
{
	const unsigned char *p = message->bytes;
	struct field field;

	return take_field(&p, message->bytes + message->len, &field) && field.number == 1 &&
	       field.value == id;
}

static bool decode(struct decoded *decoded, const unsigned char *bytes, size_t len)
{
	const unsigned char *p = bytes, *end = bytes + len;
	struct field field;

	*decoded = (struct decoded){ 0 };
	while (p < end) {
		if (!take_field(&p, end, &field))
			return false;
		switch (field.number) {
		case 1:
			decoded->nr_types++;
			break;
		case 2:
			if (!decode_sample(decoded, &field))
				return false;
			break;
		case 3:
			if (!has_id(&field, ++decoded->nr_mappings))
				return false;
			break;
		case 4:
			if (!has_id(&field, ++decoded->nr_locations))
				return false;
			decode_names(decoded, &field);
			break;
		case 5:
			if (!has_id(&field, ++decoded->nr_functions))
				return false;
			decode_names(decoded, &field);
			break;
		case 6:
			if (decoded->nr_strings < 256)
				decoded->strings[decoded->nr_strings++] =
					mem_strndup((const char *)field.bytes, field.len);
			break;
		default:
			break;
		}
	}
	return decoded->nr_strings && !decoded->strings[0][0];
}

static void release_decoded(struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->nr_strings; i++)
		free(decoded->strings[i]);
}

/* Returns the number of bytes, or 0 when it is no good gzip file. */
static size_t gunzip(const struct textbuf *buf, unsigned char *bytes, size_t size)
{
	z_stream stream = {
		.next_in = (Bytef *)buf->text,
		.avail_in = (uInt)buf->len,
		.next_out = bytes,
		.avail_out = (uInt)size,
	};
	int ret;

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	ret = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	return ret == Z_STREAM_END ? size - stream.avail_out : 0;
}

static bool has_string(const struct decoded *decoded, const char *text)
{
	for (size_t i = 0; i < decoded->nr_strings; i++) {
		if (!strcmp(decoded->strings[i], text))
			return true;
	}
	return false;
}

static void test_a_pprof_is_whole(void **state)
{
	static unsigned char bytes[1 << 16];
	struct snapshot *snapshot = hostile_snapshot();
	struct textbuf buf = write_as("pprof", snapshot);
	struct decoded decoded;

	(void)state;
	assert_true(decode(&decoded, bytes, gunzip(&buf, bytes, sizeof(bytes))));
	assert_int_equal(decoded.nr_types, 2);
	assert_int_equal(decoded.nr_samples, snapshot_nr_chains(snapshot));
	assert_int_equal(decoded.sums[0], snapshot_header(snapshot)->nr_samples);
	assert_int_equal(decoded.sums[1], 250000 * decoded.sums[0]);
	assert_true(has_string(&decoded, "samples"));
	assert_true(has_string(&decoded, "cpu-clock"));
	assert_true(has_string(&decoded, "nanoseconds"));
	assert_true(has_string(&decoded, "[no name]"));
	assert_true(has_string(&decoded, "a;b c 12"));
	assert_true(has_string(&decoded, "command: symtop -d 5 --filter 'a \"b\" <c> & 7'"));
	assert_true(has_string(&decoded, "rate_hz: 4000"));
	release_decoded(&decoded);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_each_event_has_two_values_in_a_pprof(void **state)
{
	static unsigned char bytes[1 << 16];
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("pprof", snapshot);
	struct decoded decoded;

	(void)state;
	assert_true(decode(&decoded, bytes, gunzip(&buf, bytes, sizeof(bytes))));
	assert_int_equal(decoded.nr_types, 4);
	assert_int_equal(decoded.sums[0], 32);
	assert_int_equal(decoded.sums[1], 32 * 250000);
	assert_int_equal(decoded.sums[2], 5);
	assert_int_equal(decoded.sums[3], 5 * 250000);
	assert_int_equal(decoded.nr_locations, 6); /* the fixture makes places anew */
	assert_int_equal(decoded.nr_functions, 2);
	assert_string_equal(decoded.strings[decoded.names[decoded.functions[decoded.leaf]]],
			    "leaf");
	assert_int_equal(decoded.nr_mappings, 1);
	assert_true(has_string(&decoded, "faults:u-samples"));
	release_decoded(&decoded);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

static void test_a_damaged_pprof_is_refused(void **state)
{
	static unsigned char bytes[1 << 16];
	struct snapshot *snapshot = two_events_snapshot();
	struct textbuf buf = write_as("pprof", snapshot);
	struct decoded decoded;
	size_t len = gunzip(&buf, bytes, sizeof(bytes));
	struct textbuf cut = { .text = buf.text, .len = buf.len - 5 };

	(void)state;
	assert_true(len > 0);
	assert_int_equal(gunzip(&cut, bytes, sizeof(bytes)), 0);
	assert_false(decode(&decoded, bytes, len - 1));
	release_decoded(&decoded);
	buf.text[buf.len / 2] ^= 0x10;
	assert_int_equal(gunzip(&buf, bytes, sizeof(bytes)), 0);
	textbuf_release(&buf);
	snapshot_put(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pprof_is_whole),
		cmocka_unit_test(test_each_event_has_two_values_in_a_pprof),
		cmocka_unit_test(test_a_damaged_pprof_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
