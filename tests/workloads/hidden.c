/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spins, and may not be looked into by others: not dumpable. usage: hidden */
#include <sys/prctl.h>

static volatile unsigned long sink;

int main(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (;;)
		sink++;
}
