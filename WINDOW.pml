
#ifndef WINDOW
#define WINDOW 2
#endif
#define SEQ (2 * WINDOW)
#define next(x) ((x + 1) % SEQ)
mtype = { data, ack };
typedef Frame { mtype kind; byte seq; bit body }
typedef Station { byte low, high; Frame kept[SEQ]; chan line }
Station sender, receiver;
chan forth = [WINDOW] of { Frame };
chan back = [WINDOW] of { mtype, byte };

inline fill(f, n) {
    d_step { f.kind = data; f.seq = n; select (b : 0 .. 1); f.body = b }
}

active proctype S()
{
    byte b, i, n;
    sender.line = forth;
    for (i : 0 .. SEQ - 1) { sender.kept[i].seq = i }
    do
    :: (sender.high + SEQ - sender.low) % SEQ < WINDOW ->
        fill(sender.kept[sender.high], sender.high);
        sender.line!sender.kept[sender.high];
        sender.high = next(sender.high)
    :: atomic { back?[ack, _] -> back?ack(n) } -> sender.low = next(n)
    :: nempty(back) && timeout -> back??ack, eval(sender.low); sender.low = next(sender.low)
    :: timeout -> sender.high = sender.low
    od
}

active proctype R()
{
    Frame f;
progress:
    do
    :: forth?f ->
        if
        :: f.seq == receiver.low -> receiver.low = next(receiver.low); back!ack(f.seq)
        :: else -> skip
        fi
    :: len(forth) == 0 && full(back) -> goto done
    od;
done: skip
}
