/* Peterson's lock for two: say that you want to go in, let the other one go first, wait until it is your turn.
 *
 * `ltl exclusive`: they are never both inside.
 * `ltl gets_in`: who waits gets in. This needs no fairness, as the other one goes in once at most and then waits.
 * What does need it is `[] <> Process[0]@inside`, that process 0 goes in again and again: nobody obliges it to
 * move, except `--fairness weak`.
 */
bool wants[2];
byte turn;
byte count;

active [2] proctype Process() {
	do
	:: wants[_pid] = true;
	   turn = 1 - _pid;
waits:	   (!wants[1 - _pid] || turn == _pid);
	   count++;
inside:	   assert(count == 1);
	   count--;
	   wants[_pid] = false
	od
}

ltl exclusive { [] (count <= 1) }
ltl gets_in { [] (Process[0]@waits -> <> Process[0]@inside) }
