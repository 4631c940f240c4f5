/* Dining philosophers: forks are variables, and all may starve.
 *
 * Fork i is true while somebody holds it. All reach for the fork on their left first, so each may hold that one
 * and wait for the other.
 * Checked: deadlock (there is exactly one such state).
 */
#ifndef N
#define N 5
#endif

#define LEFT  _pid
#define RIGHT ((_pid + 1) % N)

bool fork[N];

active [N] proctype Philosopher() {
	do
	:: atomic { !fork[LEFT] -> fork[LEFT] = true };
	   atomic { !fork[RIGHT] -> fork[RIGHT] = true };
	   fork[RIGHT] = false;
	   fork[LEFT] = false
	od
}
