/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * true_caller ends with the call of a function that never returns, so its return
 * address is the first byte of innocent_next. Build with -O0 (or -fno-toplevel-reorder)
 * -falign-functions=1 and link with noreturn_callee.c.
 */
__attribute__((noreturn)) void never_returns(void);
void true_caller(void);
void innocent_next(void);

static volatile int calls;

__attribute__((noinline)) void true_caller(void)
{
	calls++;
	never_returns();
}

__attribute__((noinline)) void innocent_next(void)
{
	calls--;
}

int main(void)
{
	true_caller();
	innocent_next();
}
