/* A token ring: only the station that has the token may use the line.
 *
 * Between two turns a station has work of its own, which has nothing to do with anybody else.
 * Checked: at most one station on the line (assertion, `ltl exclusive`); `ltl token_moves` holds;
 * `ltl violated_line_used` does not: all may pass the token on for ever.
 */
#ifndef N
#define N 4
#endif
#ifndef WORK
#define WORK 2
#endif

chan ring[N] = [1] of { bit };
byte sending;
byte holder;

active [N] proctype Station() {
	byte work;

	if
	:: _pid == 0 -> ring[0] ! 1
	:: else
	fi;
	do
	:: work < WORK -> work++
	:: work == WORK ->
		ring[_pid] ? _;
		holder = _pid;
		if
		:: sending++;
		   assert(sending == 1);
		   sending--
		:: skip
		fi;
		work = 0;
		ring[(_pid + 1) % N] ! 1
	od
}

ltl exclusive { [] (sending <= 1) }
ltl token_moves { [] <> (holder == 0) }
ltl violated_line_used { <> (sending == 1) }
