/* Cache coherence with a directory: modified, shared, invalid; one line of memory, N caches.
 *
 * A cache asks the directory for the line to read or to write. The directory serves one request at a time: it recalls the
 * line from those whose copies are in the way, waits for each to answer, then grants. Shared copies are dropped silently.
 * Checked: one writer and no reader beside it (assertions, `ltl single_writer`); no deadlock; `ltl violated_written` fails, as
 * all may keep to reading.
 */
#ifndef N
#define N 2
#endif

#define NOBODY N

mtype = { to_read, to_write, grant, invalidate, demote };

chan request = [1] of { mtype, byte };
chan cache[N] = [1] of { mtype };
chan answer = [1] of { byte };
byte readers, writers;

inline become_reader() {
	atomic { readers++; assert(writers == 0) }
}

inline become_writer() {
	atomic { writers++; assert(writers == 1 && readers == 0) }
}

active [N] proctype Cache() {
end:
invalid:
	if
	:: request ! to_read(_pid) -> goto reading
	:: request ! to_write(_pid) -> goto writing
	:: cache[_pid] ? invalidate -> answer ! _pid; goto invalid
	fi;

shared:
	if
	:: readers--; goto invalid
	:: request ! to_write(_pid) -> readers--; goto writing
	:: cache[_pid] ? invalidate -> readers--; answer ! _pid; goto invalid
	fi;

modified:
	if
	:: cache[_pid] ? invalidate -> writers--; answer ! _pid; goto invalid
	:: cache[_pid] ? demote -> atomic { writers--; readers++ }; answer ! _pid; goto shared
	fi;

reading:
	if
	:: cache[_pid] ? grant -> become_reader(); goto shared
	:: cache[_pid] ? invalidate -> answer ! _pid; goto reading
	fi;

writing:
	if
	:: cache[_pid] ? grant -> become_writer(); goto modified
	:: cache[_pid] ? invalidate -> answer ! _pid; goto writing
	fi
}

active proctype Directory() {
	mtype what;
	byte who, i;
	byte owner = NOBODY;
	bool sharing[N];

end:
	do
	:: request ? what(who) ->
		if
		:: owner != NOBODY && what == to_read ->
			cache[owner] ! demote;
			answer ? eval(owner);
			sharing[owner] = true;
			owner = NOBODY
		:: owner != NOBODY && what == to_write ->
			cache[owner] ! invalidate;
			answer ? eval(owner)
		:: owner == NOBODY && what == to_write ->
			for (i : 0 .. N - 1) {
				if
				:: sharing[i] && i != who ->
					cache[i] ! invalidate;
					answer ? eval(i)
				:: else
				fi;
				sharing[i] = false
			}
		:: else
		fi;
		if
		:: what == to_read -> sharing[who] = true
		:: what == to_write -> owner = who
		fi;
		cache[who] ! grant
	od
}

ltl single_writer { [] (writers == 0 || (writers == 1 && readers == 0)) }
ltl violated_written { <> (writers == 1) }
