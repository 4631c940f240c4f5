/* The sieve of Eratosthenes as a pipeline that grows: one process for each prime.
 *
 * A generator sends 2 .. MAX and then STOP. Each Sieve keeps the first number it gets, which is a prime, drops its
 * multiples, and sends the others to the next one, which it starts as soon as there is something to send.
 * Checked: the numbers kept grow along the pipeline; all end.
 */
#ifndef MAX
#define MAX 12
#endif
#ifndef CAP
#define CAP 1
#endif

#define STOP 0

proctype Sieve(chan in; byte below) {
	chan out = [CAP] of { byte };
	byte prime, n;
	bool more;

	in ? prime;
	assert(prime > below);
	do
	:: in ? n ->
		if
		:: n == STOP -> break
		:: n != STOP && n % prime == 0
		:: n != STOP && n % prime != 0 ->
			if
			:: !more ->
				more = true;
				run Sieve(out, prime)
			:: else
			fi;
			out ! n
		fi
	od;
	if
	:: more -> out ! STOP
	:: else
	fi
}

active proctype Generator() {
	chan out = [CAP] of { byte };
	byte n;

	run Sieve(out, 1);
	for (n : 2 .. MAX) {
		out ! n
	}
	out ! STOP
}
