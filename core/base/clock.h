/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time. One clock everywhere: CLOCK_MONOTONIC in nanoseconds. Events are opened
 * with the same clock (perf_event_attr.use_clockid), so a sample's time, a /proc
 * scan's time and a deadline can be compared.
 */
#ifndef SYMTOP_CORE_BASE_CLOCK_H
#define SYMTOP_CORE_BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

uint64_t clock_now_ns(void);

/* CPU time of the whole process, user and system. */
uint64_t clock_process_cpu_ns(void);

/* CPU time of the calling thread. */
uint64_t clock_thread_cpu_ns(void);

#endif /* SYMTOP_CORE_BASE_CLOCK_H */
