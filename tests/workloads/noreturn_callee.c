/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other half of noreturn.c, in a file of its own so that nothing is inlined. */
__attribute__((noreturn)) void never_returns(void);

static volatile unsigned long sink;

__attribute__((noinline)) static void burn(void)
{
	for (unsigned int i = 0; i < 100000; i++)
		sink += i;
}

void never_returns(void)
{
	for (;;)
		burn(); /* not a leaf: it has a frame */
}
