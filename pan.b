	switch (t->back) {
	default: Uerror("bad return move");
	case  0: goto R999; /* nothing to undo */

		 /* PROC R */

	case 3: // STATE 1
		;
		XX = 1;
		unrecv(now.forth, XX-1, 0, ((P1 *)_this)->f.kind, 1);
		unrecv(now.forth, XX-1, 1, ((int)((P1 *)_this)->f.seq), 0);
		unrecv(now.forth, XX-1, 2, ((int)((P1 *)_this)->f.body), 0);
		((P1 *)_this)->f.kind = trpt->bup.ovals[0];
		((P1 *)_this)->f.seq = trpt->bup.ovals[1];
		((P1 *)_this)->f.body = trpt->bup.ovals[2];
		;
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;
;
		;
		
	case 5: // STATE 3
		;
		now.receiver.low = trpt->bup.oval;
		;
		goto R999;

	case 6: // STATE 4
		;
		_m = unsend(now.back);
		;
		goto R999;
;
		;
		
	case 8: // STATE 15
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC S */

	case 9: // STATE 1
		;
		now.sender.line = trpt->bup.oval;
		;
		goto R999;

	case 10: // STATE 2
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 12: // STATE 4
		;
		now.sender.kept[ Index(((P0 *)_this)->i, 4) ].seq = trpt->bup.oval;
		;
		goto R999;

	case 13: // STATE 5
		;
		((P0 *)_this)->i = trpt->bup.oval;
		;
		goto R999;
;
		;
			case 15: // STATE 22
		sv_restor();
		goto R999;

	case 16: // STATE 24
		;
		_m = unsend(now.sender.line);
		;
		goto R999;

	case 17: // STATE 25
		;
		now.sender.high = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 19: // STATE 27
		;
		XX = 1;
		unrecv(now.back, XX-1, 0, 1, 1);
		unrecv(now.back, XX-1, 1, ((int)((P0 *)_this)->n), 0);
		((P0 *)_this)->n = trpt->bup.oval;
		;
		;
		goto R999;

	case 20: // STATE 29
		;
		now.sender.low = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 22: // STATE 31
		;
		XX = trpt->bup.oval;
		unrecv(now.back, XX-1, 0, 1, 1);
		unrecv(now.back, XX-1, 1, ((int)now.sender.low), 0);
		;
		;
		goto R999;

	case 23: // STATE 32
		;
		now.sender.low = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 25: // STATE 34
		;
		now.sender.high = trpt->bup.oval;
		;
		goto R999;

	case 26: // STATE 38
		;
		p_restor(II);
		;
		;
		goto R999;
	}

