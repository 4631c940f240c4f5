
/* Dolev, Klawe and Rodeh's leader election in a ring of one direction */
#define N 5
#define I 3
#define L 10    /* size of buffer, >= 2*N */
mtype = { one, two, winner };
chan q[N] = [L] of { mtype, byte };
byte nr_leaders = 0;

inline forward(kind, value) {
    out!kind(value)
}

proctype node (chan inp, out; byte mynumber)
{   bit Active = 1, know_winner = 0;
    byte nr, maximum = mynumber, neighbourR;
    xr inp;
    xs out;

    printf("MSC: %d\n", mynumber);
    forward(one, mynumber);
end: do
    :: inp?one(nr) ->
        if
        :: Active ->
            if
            :: nr != maximum ->
                forward(two, nr);
                neighbourR = nr
            :: else ->
                know_winner = 1;
                out!winner,nr;
            fi
        :: else ->
            forward(one, nr)
        fi
    :: inp?two(nr) ->
        if
        :: Active ->
            if
            :: neighbourR > nr && neighbourR > maximum ->
                maximum = neighbourR;
                forward(one, neighbourR)
            :: else ->
                Active = 0
            fi
        :: else ->
            forward(two, nr)
        fi
    :: inp?winner,nr ->
        if
        :: nr != mynumber -> printf("LOST\n");
        :: else -> printf("LEADER\n"); nr_leaders++; assert(nr_leaders == 1)
        fi;
        if
        :: know_winner
        :: else -> out!winner,nr
        fi;
        break
    od
}

init {
    byte proc;
    atomic {
        proc = 1;
        do
        :: proc <= N ->
            run node (q[proc-1], q[proc%N], (N+I-proc)%N+1);
            proc++
        :: proc > N ->
            break
        od
    }
}
