/* Dining philosophers: forks are variables, so that they never all starve.
 *
 * Fork i is 0 on the table, or the number of its holder + 1. All reach for the fork on their left first, but for
 * the last one: no circle of waiting can close.
 * Checked: no deadlock; who eats holds both forks (assertion); `ltl neighbours` holds (only they hold the fork);
 * `ltl violated_first_eats` does not (the others may eat for ever).
 */
#ifndef N
#define N 5
#endif

#define LEFT  _pid
#define RIGHT ((_pid + 1) % N)

byte fork[N];

#define DINE(first, second) \
	do \
	:: atomic { fork[first] == 0 -> fork[first] = _pid + 1 }; \
	   atomic { fork[second] == 0 -> fork[second] = _pid + 1 }; \
	   assert(fork[LEFT] == _pid + 1 && fork[RIGHT] == _pid + 1); \
	   fork[second] = 0; \
	   fork[first] = 0 \
	od

active [N - 1] proctype Right() {
	DINE(LEFT, RIGHT)
}

active proctype Left() {
	DINE(RIGHT, LEFT)
}

ltl neighbours { [] (fork[0] == 0 || fork[0] == 1 || fork[0] == N) }
ltl violated_first_eats { [] <> (fork[0] == 1 && fork[1] == 1) }
