/* Leader election in a ring of one direction, after Dolev, Klawe and Rodeh (O(n log n) messages).
 *
 * In each phase every node that is still active learns of the two active ones before it: it carries on in the name
 * of the nearer one if that one is a local maximum, and only relays otherwise. Who gets back the number it stands
 * for knows that it is the greatest; word of that goes round once.
 * Checked: at most one leader, of number N (assertions, `ltl one_leader`); `ltl elected` holds; `ltl violated_never_elected`
 * does not.
 */
#ifndef N
#define N 5
#endif
#ifndef CAP
#define CAP N
#endif

mtype = { nearer, farther, elected_is };

chan ring[N] = [CAP] of { mtype, byte };
byte nr_leaders;

#define IN     ring[_pid]
#define OUT    ring[(_pid + 1) % N]
#define NUMBER ((_pid % 2) * ((N + 1) / 2) + _pid / 2 + 1)	/* low and high by turns, as 1 4 2 5 3 */

active [N] proctype Node() {
	byte stands_for = NUMBER;
	byte number, before;

	OUT ! nearer(stands_for);
	do	/* active */
	:: IN ? nearer(number) ->
		if
		:: number == stands_for ->
			assert(number == N);
			OUT ! elected_is(number)
		:: else ->
			before = number;
			OUT ! farther(number)
		fi
	:: IN ? farther(number) ->
		if
		:: before > number && before > stands_for ->
			stands_for = before;
			OUT ! nearer(stands_for)
		:: else -> break
		fi
	:: IN ? elected_is(number) -> goto known
	od;

	do	/* relaying */
	:: IN ? nearer(number) -> OUT ! nearer(number)
	:: IN ? farther(number) -> OUT ! farther(number)
	:: IN ? elected_is(number) -> OUT ! elected_is(number); break
	od;

known:
	assert(number == N);
	if
	:: number == NUMBER ->
		nr_leaders++;
		assert(nr_leaders == 1)
	:: else
	fi
}

ltl elected { <> (nr_leaders > 0) }
ltl one_leader { [] (nr_leaders <= 1) }
ltl violated_never_elected { [] (nr_leaders == 0) }
