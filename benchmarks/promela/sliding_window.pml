/* A sliding window protocol (go back n) over two channels that lose messages.
 *
 * Up to W messages are on their way; numbers are modulo W + 1, the least with which it works. An acknowledgement says which
 * number is wanted next. When nothing else can happen the sender sends its whole window again. What is lost is lost as it is sent.
 * Messages carry their true count modulo ROUND, which the protocol does not look at.
 * Checked: everything arrives in order (assertion); `ltl window` holds; `ltl violated_delivers` does not, as all may be lost.
 */
#ifndef W
#define W 2
#endif
#ifndef CAP
#define CAP 2
#endif

#define NUMBERS (W + 1)
#define ROUND   (2 * NUMBERS)

chan data = [CAP] of { byte, byte };	/* number, true count */
chan acks = [CAP] of { byte };
byte outstanding;
byte arrived;

active proctype Sender() {
	byte first;	/* the true count of the first message of the window */
	byte next;	/* the place in the window of the next message to send */
	byte wanted;

	do
	:: next < W ->
		if
		:: data ! (first + next) % NUMBERS, (first + next) % ROUND
		:: skip	/* lost */
		fi;
		next++;
		if
		:: next > outstanding -> outstanding = next
		:: else
		fi
	:: acks ? wanted ->
		do
		:: first % NUMBERS != wanted ->
			first = (first + 1) % ROUND;
			outstanding--;
			if
			:: next > 0 -> next--
			:: else
			fi
		:: else -> break
		od
	:: timeout -> next = 0
	od
}

active proctype Receiver() {
	byte number, count;

	do
	:: data ? number, count ->
		if
		:: number == arrived % NUMBERS ->
			assert(count == arrived);
			arrived = (arrived + 1) % ROUND
		:: else
		fi;
		if
		:: acks ! arrived % NUMBERS
		:: skip	/* lost */
		fi
	od
}

ltl window { [] (outstanding <= W) }
ltl violated_delivers { <> (arrived > 0) }
