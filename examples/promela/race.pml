/* A lost update: two processes each add 1 to a counter, but not in one step. The assertion wants 2 and may find 1.
 *
 * Put an `atomic { ... }` around the two statements, and it holds.
 */
byte counter;

proctype Adder() {
	byte seen;
	seen = counter;
	counter = seen + 1
}

init {
	atomic { run Adder(); run Adder() }
	(_nr_pr == 1);
	assert(counter == 2)
}
