/* Readers and writers with a monitor made of atomic steps: readers together, writers alone, writers that wait come first.
 *
 * Checked: a writer is alone (assertions, `ltl safe`); no deadlock; `ltl violated_reader_enters` fails: writers may
 * come for ever.
 */
#ifndef N
#define N 3
#endif
#ifndef W
#define W 2
#endif

byte reading, writing, waiting;

active [N] proctype Reader() {
	do
	:: atomic { writing == 0 && waiting == 0 -> reading++ };
	   assert(writing == 0);
	   reading--
	od
}

active [W] proctype Writer() {
	do
	:: waiting++;
	   atomic { reading == 0 && writing == 0 -> waiting--; writing++ };
	   assert(reading == 0 && writing == 1);
	   writing--
	od
}

ltl safe { [] (writing == 0 || (writing == 1 && reading == 0)) }
ltl violated_reader_enters { <> (reading > 0) }
