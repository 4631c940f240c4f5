/* Lines: the hash table of states is made of them, since a processor fetches one at a time. All of its words are
   compared at once; a state is in its home line or, if that is full, in the lines after it. So where most successors are
   old, which is what most of them are, one access to memory is enough, and it can be made in advance.

   What is compared is said three times: for two kinds of vectors, and for processors that have neither. */

#define LINE 8 /* words */

#if defined(__AVX512F__) && !defined(PORCINI_NO_VECTORS)
#include <immintrin.h>
/* Which words of a line are equal to this one: a bit for each. */
static inline u32 equal_words(const u64 *line, u64 word)
{
    return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(line), _mm512_set1_epi64((i64)word));
}

/* Which words of a line agree with this one in their upper halves. */
static inline u32 equal_halves(const u64 *line, u64 word)
{
    __m512i upper = _mm512_srli_epi64(_mm512_loadu_si512(line), 32);
    return _mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64((i64)(word >> 32)));
}
#elif defined(__AVX2__) && !defined(PORCINI_NO_VECTORS)
#include <immintrin.h>
static inline u32 signs(__m256i low, __m256i high)
{
    return (u32)_mm256_movemask_pd(_mm256_castsi256_pd(low)) |
           (u32)_mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
}

static inline u32 equal_words(const u64 *line, u64 word)
{
    __m256i wanted = _mm256_set1_epi64x((i64)word);
    return signs(_mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)line), wanted),
                 _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(line + 4)), wanted));
}

static inline u32 equal_halves(const u64 *line, u64 word)
{
    __m256i wanted = _mm256_set1_epi64x((i64)(word >> 32));
    return signs(_mm256_cmpeq_epi64(_mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)line), 32), wanted),
                 _mm256_cmpeq_epi64(_mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)(line + 4)), 32), wanted));
}
#else
static inline u32 equal_words(const u64 *line, u64 word)
{
    u32 found = 0;
    for (u32 i = 0; i < LINE; i++)
        found |= (u32)(line[i] == word) << i;
    return found;
}

static inline u32 equal_halves(const u64 *line, u64 word)
{
    u32 found = 0;
    for (u32 i = 0; i < LINE; i++)
        found |= (u32)(line[i] >> 32 == word >> 32) << i;
    return found;
}
#endif
