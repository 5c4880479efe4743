/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real kernel behind struct event_kernel.
 *
 * Capabilities are asked with capget(2) itself: libcap would be one more library
 * for one call, and reading /proc/self/status fails where /proc is hidden.
 */
#include "config.h"

#include "core/event_kernel.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/affinity.h"
#include "core/procfs.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

static int real_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int real_control(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static int real_read_id(int fd, uint64_t *ret_id)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, ret_id) < 0 ? -errno : 0;
}

static int real_read_enabled_ns(int fd, uint64_t *ret_ns)
{
	uint64_t values[2]; /* PERF_FORMAT_TOTAL_TIME_ENABLED: the count comes first */
	ssize_t len = read(fd, values, sizeof(values));

	if (len != sizeof(values))
		return len < 0 ? -errno : -ENODATA;
	*ret_ns = values[1];
	return 0;
}

static bool real_has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, data) < 0)
		return geteuid() == 0;
	return data[capability / 32].effective >> (capability % 32) & 1;
}

const struct event_kernel event_kernel_real = {
	.open = real_open,
	.control = real_control,
	.read_id = real_read_id,
	.read_enabled_ns = real_read_enabled_ns,
	.ring_open = ring_open,
	.ring_free = ring_free,
	.move = affinity_move,
	.euid = geteuid,
	.has_capability = real_has_capability,
};

const struct event_kernel *event_kernel = &event_kernel_real;

bool event_kernel_is_privileged(void)
{
	return event_kernel->euid() == 0 || event_kernel->has_capability(CAP_PERFMON) ||
	       event_kernel->has_capability(CAP_SYS_ADMIN);
}

bool event_kernel_ignores_mlock(const char *proc)
{
	long paranoid;

	if (event_kernel->has_capability(CAP_IPC_LOCK))
		return true;
	return !procfs_read_sysctl(proc, "kernel/perf_event_paranoid", &paranoid) && paranoid < 0;
}
