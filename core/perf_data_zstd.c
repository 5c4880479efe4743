/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Few files are compressed, so the library is opened on the first compressed record and
 * is no dependency. Its streaming functions have been stable since version 1.0; their
 * declarations stand here, since its header may not be there either.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/perf_data_private.h"

#define LIBRARY "libzstd.so.1"

struct zstd_input {
	const void *bytes;
	size_t size, next;
};

struct zstd_output {
	void *bytes;
	size_t size, next;
};

struct zstd_stream {
	void *library;
	void *state; /* NULL: none */
	void *(*create)(void);
	size_t (*init)(void *state);
	size_t (*decompress)(void *state, struct zstd_output *output, struct zstd_input *input);
	size_t (*release)(void *state);
	unsigned int (*is_error)(size_t code);
	const char *(*error_name)(size_t code);
};

/* POSIX has a function's address in an object's pointer; ISO C needs the copy. */
static bool find_function(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol;
}

static bool find_functions(struct zstd_stream *stream)
{
	void *library = stream->library;

	return find_function(library, "ZSTD_createDStream", &stream->create) &&
	       find_function(library, "ZSTD_initDStream", &stream->init) &&
	       find_function(library, "ZSTD_decompressStream", &stream->decompress) &&
	       find_function(library, "ZSTD_freeDStream", &stream->release) &&
	       find_function(library, "ZSTD_isError", &stream->is_error) &&
	       find_function(library, "ZSTD_getErrorName", &stream->error_name);
}

int zstd_stream_new(struct zstd_stream **ret_stream, struct err *err)
{
	struct zstd_stream *stream = mem_zalloc(sizeof(*stream));

	stream->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!stream->library || !find_functions(stream)) {
		zstd_stream_free(stream);
		return err_say(err, -ENOTSUP,
			       "its records are compressed, which needs " LIBRARY
			       " (Debian: libzstd1)");
	}
	stream->state = stream->create();
	if (!stream->state || stream->is_error(stream->init(stream->state))) {
		zstd_stream_free(stream);
		return err_say(err, -ENOMEM, "no memory to decompress its records");
	}
	*ret_stream = stream;
	return 0;
}

void zstd_stream_free(struct zstd_stream *stream)
{
	if (!stream)
		return;
	if (stream->state)
		stream->release(stream->state);
	if (stream->library)
		dlclose(stream->library);
	free(stream);
}

const char *zstd_stream_read(struct zstd_stream *stream, const void *input, size_t input_size,
			     void *output, size_t output_size, size_t *ret_taken, size_t *ret_made)
{
	struct zstd_input in = { .bytes = input, .size = input_size };
	struct zstd_output out = { .bytes = output, .size = output_size };
	size_t code = stream->decompress(stream->state, &out, &in);

	*ret_taken = in.next;
	*ret_made = out.next;
	return stream->is_error(code) ? stream->error_name(code) : NULL;
}
