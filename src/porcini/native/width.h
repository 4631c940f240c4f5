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

#include "store.h"

#include "breadth.h"

#if WORDS < 3 /* wider ones go by what is for any: each width takes a compiler time */
#include "depth.h"
#endif

#undef SLOTS
#undef W_INLINE
#undef INLINE
#undef W
#undef ROOM
#undef WORDS
