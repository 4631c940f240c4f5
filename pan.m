#define rand	pan_rand
#define pthread_equal(a,b)	((a)==(b))
#if defined(HAS_CODE) && defined(VERBOSE)
	#ifdef BFS_PAR
		bfs_printf("Pr: %d Tr: %d\n", II, t->forw);
	#else
		cpu_printf("Pr: %d Tr: %d\n", II, t->forw);
	#endif
#endif
	switch (t->forw) {
	default: Uerror("bad forward move");
	case 0:	/* if without executable clauses */
		continue;
	case 1: /* generic 'goto' or 'skip' */
		IfNotBlocked
		_m = 3; goto P999;
	case 2: /* generic 'else' */
		IfNotBlocked
		if (trpt->o_pm&1) continue;
		_m = 3; goto P999;

		 /* PROC R */
	case 3: // STATE 1 - WINDOW.pml:39 - [forth?f.kind,f.seq,f.body] (0:0:3 - 1)
		reached[1][1] = 1;
		if (q_len(now.forth) == 0) continue;

		XX=1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((P1 *)_this)->f.kind;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->f.seq);
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->f.body);
		;
		((P1 *)_this)->f.kind = qrecv(now.forth, XX-1, 0, 0);
#ifdef VAR_RANGES
		logval("R:f.kind", ((P1 *)_this)->f.kind);
#endif
		;
		((P1 *)_this)->f.seq = qrecv(now.forth, XX-1, 1, 0);
#ifdef VAR_RANGES
		logval("R:f.seq", ((int)((P1 *)_this)->f.seq));
#endif
		;
		((P1 *)_this)->f.body = qrecv(now.forth, XX-1, 2, 1);
#ifdef VAR_RANGES
		logval("R:f.body", ((int)((P1 *)_this)->f.body));
#endif
		;
		
#ifdef HAS_CODE
		if (readtrail && gui) {
			char simtmp[32];
			sprintf(simvals, "%d?", now.forth);
		sprintf(simtmp, "%d", ((P1 *)_this)->f.kind); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)((P1 *)_this)->f.seq)); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)((P1 *)_this)->f.body)); strcat(simvals, simtmp);		}
#endif
		;
		_m = 4; goto P999; /* 0 */
	case 4: // STATE 2 - WINDOW.pml:41 - [((f.seq==receiver.low))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][2] = 1;
		if (!((((int)((P1 *)_this)->f.seq)==((int)now.receiver.low))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 5: // STATE 3 - WINDOW.pml:41 - [receiver.low = ((receiver.low+1)%(2*2))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][3] = 1;
		(trpt+1)->bup.oval = ((int)now.receiver.low);
		now.receiver.low = ((((int)now.receiver.low)+1)%(2*2));
#ifdef VAR_RANGES
		logval("receiver.low", ((int)now.receiver.low));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 6: // STATE 4 - WINDOW.pml:41 - [back!ack,f.seq] (0:0:0 - 1)
		IfNotBlocked
		reached[1][4] = 1;
		if (q_full(now.back))
			continue;
#ifdef HAS_CODE
		if (readtrail && gui) {
			char simtmp[64];
			sprintf(simvals, "%d!", now.back);
		sprintf(simtmp, "%d", 1); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)((P1 *)_this)->f.seq)); strcat(simvals, simtmp);		}
#endif
		
		qsend(now.back, 0, 1, ((int)((P1 *)_this)->f.seq), 0, 2);
		_m = 2; goto P999; /* 0 */
	case 7: // STATE 9 - WINDOW.pml:44 - [(((len(forth)==0)&&full(back)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][9] = 1;
		if (!(((q_len(now.forth)==0)&&q_full(now.back))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 8: // STATE 15 - WINDOW.pml:47 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[1][15] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC S */
	case 9: // STATE 1 - WINDOW.pml:21 - [sender.line = forth] (0:0:1 - 1)
		IfNotBlocked
		reached[0][1] = 1;
		(trpt+1)->bup.oval = now.sender.line;
		now.sender.line = now.forth;
#ifdef VAR_RANGES
		logval("sender.line", now.sender.line);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 10: // STATE 2 - WINDOW.pml:22 - [i = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][2] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("S:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 11: // STATE 3 - WINDOW.pml:22 - [((i<=((2*2)-1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][3] = 1;
		if (!((((int)((P0 *)_this)->i)<=((2*2)-1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 12: // STATE 4 - WINDOW.pml:22 - [sender.kept[i].seq = i] (0:0:1 - 1)
		IfNotBlocked
		reached[0][4] = 1;
		(trpt+1)->bup.oval = ((int)now.sender.kept[ Index(((int)((P0 *)_this)->i), 4) ].seq);
		now.sender.kept[ Index(((P0 *)_this)->i, 4) ].seq = ((int)((P0 *)_this)->i);
#ifdef VAR_RANGES
		logval("sender.kept[S:i].seq", ((int)now.sender.kept[ Index(((int)((P0 *)_this)->i), 4) ].seq));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 13: // STATE 5 - WINDOW.pml:22 - [i = (i+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][5] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = (((int)((P0 *)_this)->i)+1);
#ifdef VAR_RANGES
		logval("S:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 14: // STATE 11 - WINDOW.pml:24 - [(((((sender.high+(2*2))-sender.low)%(2*2))<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][11] = 1;
		if (!(((((((int)now.sender.high)+(2*2))-((int)now.sender.low))%(2*2))<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 15: // STATE 22 - WINDOW.pml:15 - [D_STEP15]
		IfNotBlocked

		reached[0][22] = 1;
		reached[0][t->st] = 1;
		reached[0][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_011_0: /* 2 */
		now.sender.kept[ Index(now.sender.high, 4) ].kind = 2;
#ifdef VAR_RANGES
		logval("sender.kept[sender.high].kind", now.sender.kept[ Index(((int)now.sender.high), 4) ].kind);
#endif
		;
S_012_0: /* 2 */
		now.sender.kept[ Index(now.sender.high, 4) ].seq = ((int)now.sender.high);
#ifdef VAR_RANGES
		logval("sender.kept[sender.high].seq", ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].seq));
#endif
		;
S_013_0: /* 2 */
		((P0 *)_this)->b = 0;
#ifdef VAR_RANGES
		logval("S:b", ((int)((P0 *)_this)->b));
#endif
		;
S_018_0: /* 2 */
S_017_0: /* 2 */
S_016_0: /* 2 */
		goto S_019_0;	/* 'goto' */
S_017_1: /* 3 */
S_014_0: /* 2 */
		if (!((((int)((P0 *)_this)->b)<1)))
			goto S_017_2;
S_015_0: /* 2 */
		((P0 *)_this)->b = (((int)((P0 *)_this)->b)+1);
#ifdef VAR_RANGES
		logval("S:b", ((int)((P0 *)_this)->b));
#endif
		;
		goto S_018_0; /* ';' */
S_017_2: /* 3 */
		Uerror("blocking sel in d_step (nr.0, near line 15)");
S_019_0: /* 2 */
		goto S_020_0;	/* 'break' */
S_020_0: /* 2 */
		now.sender.kept[ Index(now.sender.high, 4) ].body = ((int)((P0 *)_this)->b);
#ifdef VAR_RANGES
		logval("sender.kept[sender.high].body", ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].body));
#endif
		;
		goto S_023_0;
S_023_0: /* 1 */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 16: // STATE 24 - WINDOW.pml:26 - [sender.line!sender.kept[sender.high].kind,sender.kept[sender.high].seq,sender.kept[sender.high].body] (0:0:0 - 1)
		IfNotBlocked
		reached[0][24] = 1;
		if (q_full(now.sender.line))
			continue;
#ifdef HAS_CODE
		if (readtrail && gui) {
			char simtmp[64];
			sprintf(simvals, "%d!", now.sender.line);
		sprintf(simtmp, "%d", now.sender.kept[ Index(((int)now.sender.high), 4) ].kind); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].seq)); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].body)); strcat(simvals, simtmp);		}
#endif
		
		qsend(now.sender.line, 0, now.sender.kept[ Index(((int)now.sender.high), 4) ].kind, ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].seq), ((int)now.sender.kept[ Index(((int)now.sender.high), 4) ].body), 3);
		_m = 2; goto P999; /* 0 */
	case 17: // STATE 25 - WINDOW.pml:27 - [sender.high = ((sender.high+1)%(2*2))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][25] = 1;
		(trpt+1)->bup.oval = ((int)now.sender.high);
		now.sender.high = ((((int)now.sender.high)+1)%(2*2));
#ifdef VAR_RANGES
		logval("sender.high", ((int)now.sender.high));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 18: // STATE 26 - WINDOW.pml:28 - [(back?[ack,_])] (0:0:0 - 1)
		IfNotBlocked
		reached[0][26] = 1;
		if (!((q_len(now.back) > 0 \
		&& qrecv(now.back, 0, 0, 0) == 1)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 19: // STATE 27 - WINDOW.pml:28 - [back?ack,n] (0:0:1 - 1)
		reached[0][27] = 1;
		if (q_len(now.back) == 0) continue;

		XX=1;
		if (1 != qrecv(now.back, 0, 0, 0)) continue;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->n);
		;
		((P0 *)_this)->n = qrecv(now.back, XX-1, 1, 1);
#ifdef VAR_RANGES
		logval("S:n", ((int)((P0 *)_this)->n));
#endif
		;
		
#ifdef HAS_CODE
		if (readtrail && gui) {
			char simtmp[32];
			sprintf(simvals, "%d?", now.back);
		sprintf(simtmp, "%d", 1); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)((P0 *)_this)->n)); strcat(simvals, simtmp);		}
#endif
		;
		_m = 4; goto P999; /* 0 */
	case 20: // STATE 29 - WINDOW.pml:28 - [sender.low = ((n+1)%(2*2))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][29] = 1;
		(trpt+1)->bup.oval = ((int)now.sender.low);
		now.sender.low = ((((int)((P0 *)_this)->n)+1)%(2*2));
#ifdef VAR_RANGES
		logval("sender.low", ((int)now.sender.low));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 21: // STATE 30 - WINDOW.pml:29 - [((nempty(back)&&timeout))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][30] = 1;
		if (!(((q_len(now.back)>0)&&((trpt->tau)&1))))
			continue;
		_m = 1; goto P999; /* 0 */
	case 22: // STATE 31 - WINDOW.pml:29 - [back??ack,eval(sender.low)] (0:0:1 - 1)
		reached[0][31] = 1;
		if (q_len(now.back) == 0) continue;

		XX=1;
		if (!(XX = Q_has(now.back, 1, 1, 1, ((int)now.sender.low), 0, 0))) continue;
		(trpt+1)->bup.oval = XX;
		;
		qrecv(now.back, XX-1, 1, 1);
		
#ifdef HAS_CODE
		if (readtrail && gui) {
			char simtmp[32];
			sprintf(simvals, "%d?", now.back);
		sprintf(simtmp, "%d", 1); strcat(simvals, simtmp);		strcat(simvals, ",");
		sprintf(simtmp, "%d", ((int)now.sender.low)); strcat(simvals, simtmp);		}
#endif
		;
		_m = 4; goto P999; /* 0 */
	case 23: // STATE 32 - WINDOW.pml:29 - [sender.low = ((sender.low+1)%(2*2))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][32] = 1;
		(trpt+1)->bup.oval = ((int)now.sender.low);
		now.sender.low = ((((int)now.sender.low)+1)%(2*2));
#ifdef VAR_RANGES
		logval("sender.low", ((int)now.sender.low));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 24: // STATE 33 - WINDOW.pml:30 - [(timeout)] (0:0:0 - 1)
		IfNotBlocked
		reached[0][33] = 1;
		if (!(((trpt->tau)&1)))
			continue;
		_m = 1; goto P999; /* 0 */
	case 25: // STATE 34 - WINDOW.pml:30 - [sender.high = sender.low] (0:0:1 - 1)
		IfNotBlocked
		reached[0][34] = 1;
		(trpt+1)->bup.oval = ((int)now.sender.high);
		now.sender.high = ((int)now.sender.low);
#ifdef VAR_RANGES
		logval("sender.high", ((int)now.sender.high));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 26: // STATE 38 - WINDOW.pml:32 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[0][38] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */
	case  _T5:	/* np_ */
		if (!((!(trpt->o_pm&4) && !(trpt->tau&128))))
			continue;
		/* else fall through */
	case  _T2:	/* true */
		_m = 3; goto P999;
#undef rand
	}

