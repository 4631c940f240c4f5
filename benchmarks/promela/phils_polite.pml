/* Dining philosophers who give up if they cannot get the second fork: nothing deadlocks.
 *
 * Where a philosopher stands says which forks are taken: fork i is the left one of i, and the right one of the
 * philosopher before. There are as many states as there are ways to choose things on a circle of 3N of which no two
 * are neighbours: the Lucas number L(3N), 322 for N = 4 and 10,749,957,122 for N = 16. So the count checks itself.
 */
#ifndef N
#define N 4
#endif

#define THINKS  0
#define WAITS   1  /* has the left fork */
#define EATS    2  /* has both */
#define PAUSES  3  /* has the left one still, or has given up */
#define LEAVES  4  /* the same */

#define BEFORE ((_pid + N - 1) % N)
#define AFTER  ((_pid + 1) % N)

byte at[N];

active [N] proctype Philosopher() {
	do
	:: d_step { at[_pid] == THINKS && at[BEFORE] != EATS -> at[_pid] = WAITS }
	:: d_step { at[_pid] == WAITS -> at[_pid] = PAUSES }
	:: d_step { at[_pid] == WAITS && at[AFTER] == THINKS -> at[_pid] = EATS }
	:: d_step { at[_pid] == EATS -> at[_pid] = PAUSES }
	:: d_step { at[_pid] == PAUSES -> at[_pid] = LEAVES }
	:: d_step { at[_pid] == LEAVES -> at[_pid] = THINKS }
	od
}
