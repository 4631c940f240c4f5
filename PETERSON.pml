
/* Peterson's solution to the mutual exclusion problem */
#define want(i)  (flag[i] == true)
bool turn, flag[2];
byte ncrit;

active [2] proctype user()
{
    assert(_pid == 0 || _pid == 1);
again:
    flag[_pid] = 1;
    turn = _pid;
    (!want(1 - _pid) || turn == 1 - _pid);
    ncrit++;
cs: assert(ncrit == 1);    /* critical section */
    ncrit--;
    flag[_pid] = 0;
    goto again
}

ltl safe { [] !(user[0]@cs && user[1]@cs) }
