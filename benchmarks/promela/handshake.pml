/* Clients and servers that meet over rendezvous channels only.
 *
 * N clients ask any of the SERVERS to double a number, over one channel that all share; the answer comes over the
 * client's own. Each client asks ROUNDS times and ends; the servers may then wait for ever.
 * Checked: each answer belongs to its question; no deadlock.
 */
#ifndef N
#define N 3
#endif
#ifndef SERVERS
#define SERVERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

chan ask = [0] of { byte, byte };
chan reply[N] = [0] of { byte };

active [N] proctype Client() {
	byte n, twice;

	for (n : 1 .. ROUNDS) {
		ask ! _pid, n + _pid;
		reply[_pid] ? twice;
		assert(twice == 2 * (n + _pid))
	}
}

active [SERVERS] proctype Server() {
	byte who, n;

end:
	do
	:: ask ? who, n -> reply[who] ! 2 * n
	od
}
