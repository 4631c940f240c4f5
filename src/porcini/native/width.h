/* All that depends on the width of states. Included by runtime.c once for each width; 0 is for any. */

#if WORDS == 0
#define W (search->words)
#define ROOM MOST_WORDS
#else
#define W WORDS
#define ROOM WORDS
#endif
#if WORDS == 1 || WORDS == 2
#define INLINE (search->spare && !search->numbered)
#define W_INLINE WORDS
#else
#define INLINE 0
#define W_INLINE 1
#endif
#define SLOTS (INLINE ? LINE / W_INLINE : LINE) /* of a line */
/* A table grows by so many twentieths when so many are full. With the state itself, and the number of the one before it, a
   state of one word takes 12 bytes and 8 for a slot, of which at least 17 / 20 / 1.25 have one: 23.8 at the most; a state of
   two words 20 bytes and 16 / (16 / 20 / 1.4): 48. */
#define MOST_FULL (INLINE && W_INLINE == 2 ? 16 : 17)
#define GROWTH (INLINE && W_INLINE == 1 ? 5 : 8)

#include "store.h"

#include "breadth.h"

#include "bitstate.h"

#if WORDS < 3 /* wider ones go by what is for any: each width takes a compiler time */
#include "depth.h"
#endif

#undef GROWTH
#undef MOST_FULL
#undef SLOTS
#undef W_INLINE
#undef INLINE
#undef W
#undef ROOM
#undef WORDS
