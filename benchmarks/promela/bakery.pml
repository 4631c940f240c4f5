/* Lamport's bakery: who comes draws a number above all others, the least number enters.
 *
 * Numbers would grow for ever; here who would draw one above CAP gives up and tries again. That never blocks for
 * good: who holds CAP is served, and then its number is 0.
 * Checked: at most one process in the critical section; no deadlock.
 */
#ifndef N
#define N 3
#endif
#ifndef CAP
#define CAP 4
#endif

bool choosing[N];
byte number[N];
byte ncrit;

active [N] proctype Customer() {
	byte i, greatest;

draw:
	choosing[_pid] = true;
	greatest = 0;
	for (i : 0 .. N - 1) {
		if
		:: number[i] > greatest -> greatest = number[i]
		:: else
		fi
	}
	if
	:: greatest >= CAP ->
		choosing[_pid] = false;
		goto draw
	:: else
	fi;
	number[_pid] = greatest + 1;
	choosing[_pid] = false;

	for (i : 0 .. N - 1) {
		!choosing[i];
		(number[i] == 0 || number[i] > number[_pid] || (number[i] == number[_pid] && i >= _pid))
	}
	ncrit++;
	assert(ncrit == 1);
	ncrit--;
	number[_pid] = 0;
	goto draw
}
