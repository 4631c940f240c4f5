/* Dining philosophers: each fork is a channel of capacity 1, full while somebody holds it.
 *
 * To take a fork is to send into it (which waits while it is full), to lay it down is to receive. The last one
 * reaches for the right fork first.
 * Checked: no deadlock; a fork laid down is one's own.
 */
#ifndef N
#define N 5
#endif

#define LEFT  fork[_pid]
#define RIGHT fork[(_pid + 1) % N]

chan fork[N] = [1] of { byte };

#define DINE(first, second) \
	do \
	:: first ! _pid; \
	   second ! _pid; \
	   second ? holder; \
	   assert(holder == _pid); \
	   first ? holder; \
	   assert(holder == _pid) \
	od

active [N - 1] proctype Right() {
	byte holder;
	DINE(LEFT, RIGHT)
}

active proctype Left() {
	byte holder;
	DINE(RIGHT, LEFT)
}
