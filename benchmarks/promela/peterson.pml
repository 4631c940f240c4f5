/* Peterson's lock for N processes (the filter lock): N - 1 levels, each of which holds back at least one.
 *
 * To pass level l a process says that it tries, makes itself the last to come, and waits until it is not the last
 * any more or nobody else is that far.
 * Checked: at most one process in the critical section (the assertion, `ltl exclusive`); `ltl violated_first_enters`
 * fails, as nothing obliges the first process to move.
 */
#ifndef N
#define N 3
#endif

byte level[N];
byte last[N];
byte ncrit;

active [N] proctype Process() {
	byte l, other;
	do
	:: l = 1;
	   do
	   :: l < N ->
		level[_pid] = l;
		last[l] = _pid;
		other = 0;
		do
		:: other < N ->
			(other == _pid || level[other] < l || last[l] != _pid);
			other++
		:: other == N -> break
		od;
		l++
	   :: l == N -> break
	   od;
	   ncrit++;
	   assert(ncrit == 1);
	   ncrit--;
	   level[_pid] = 0
	od
}

ltl exclusive { [] (ncrit <= 1) }
ltl violated_first_enters { <> (level[0] == N - 1) }
