/* A producer and a consumer with a buffer of SIZE places between them: everything arrives, and in order.
 *
 * Give the number of messages by -D N=6, the places by -D SIZE=3.
 */
#ifndef N
#define N 4
#endif
#ifndef SIZE
#define SIZE 2
#endif

mtype = { item, done };
chan buffer = [SIZE] of { mtype, byte };
byte received;

active proctype Producer() {
	byte i;
	for (i : 1 .. N) {
		buffer!item(i)
	}
	buffer!done(0)
}

active proctype Consumer() {
	byte value;
	do
	:: buffer?item(value) ->
		received++;
		assert(value == received)
	:: buffer?done(_) -> break
	od;
	assert(received == N)
}

ltl arrives { <> (received == N) }
