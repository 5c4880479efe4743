/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Endless recursion of moderate depth: main calls fib(25) again and again. usage: fib */
static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long fib(unsigned int n)
{
	unsigned long sum;

	if (n < 2)
		return n;
	sum = fib(n - 1);
	sum += fib(n - 2);
	sink = sum; /* no tail call */
	return sum;
}

int main(void)
{
	for (;;)
		sink += fib(25);
}
