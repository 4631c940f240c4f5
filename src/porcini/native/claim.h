/* Where a claim goes: what it looks at are letters, a few bits that tell which of its propositions hold.

   Each part of a letter depends on few bits of a state, and is asked for once for each value of these. Where the claim goes is asked for once for each of its states and
   each letter. The state of the claim is in the lowest bits of a state; the one in which it begins is 0. */

typedef struct { /* Does it hold? 1: no; 2: yes. Then this bit is in the letter. */
    Table truth;
    u64 *mask, letter;
    u32 list;
} Part;

typedef struct { /* Parts that are looked up together, or one by itself, without a cache. */
    u32 first, parts;
    Table cache;
} Letters;

typedef struct { /* What the claim looks at: in all of its states, if there is only one list, or in one of them. */
    u32 *member;
    u64 member_room;
    u32 members;
    Letters *group;
    u32 groups, version, grouped;
} List;

typedef struct { /* Where it can go on a letter; of each step the marks, some words each. */
    u32 first, count;
} Going;

typedef struct {
    u32 bits, lists, parts, goings, letters;
    List *list;
    Part *part;
    u64 part_room;
    u64 *letter; /* what groups of parts say */
    u64 letter_room;
    Table goes; /* from a letter and a state of the claim */
    Going *going;
    u64 going_room;
    u32 *there, theres;
    u64 there_room;
    u64 *marks;
    u64 marks_room;
} Claim;

static void free_list(List *list)
{
    for (u32 i = 0; i < list->groups; i++)
        free_table(&list->group[i].cache);
    free(list->group);
    list->group = 0;
    list->groups = 0;
}

static void free_claim(Claim *claim)
{
    for (u32 i = 0; i < claim->lists; i++) {
        free_list(claim->list + i);
        free(claim->list[i].member);
    }
    for (u32 i = 0; i < claim->parts; i++) {
        free_table(&claim->part[i].truth);
        free(claim->part[i].mask);
    }
    free_table(&claim->goes);
    free(claim->list);
    free(claim->part);
    free(claim->letter);
    free(claim->going);
    free(claim->there);
    free(claim->marks);
}

/* A part looks at these bits from now on; letters that were looked up together are looked up again. */
static int look_at_part(Claim *claim, Part *part, const u64 *mask, u32 words)
{
    u64 *moved = realloc(part->mask, words * sizeof(u64));
    if (!moved)
        return 0;
    part->mask = moved;
    memcpy(moved, mask, words * sizeof(u64));
    claim->list[part->list].version++;
    return 1;
}

/* All masks are those of wider states. */
static int widen_claim(Claim *claim, u32 before, u32 words)
{
    for (u32 i = 0; i < claim->parts; i++) {
        u64 mask[MOST_WORDS] = {0};
        memcpy(mask, claim->part[i].mask, before * sizeof(u64));
        if (!look_at_part(claim, claim->part + i, mask, words))
            return 0;
    }
    return 1;
}

#define LETTER_BITS 12 /* parts are looked up together if they depend on at most so many bits */

/* The bits of two masks together, if they are few. */
static int join_masks(u64 *mask, const u64 *more, u32 words)
{
    u32 together = 0;
    for (u32 w = 0; w < words; w++)
        together += ones(mask[w] | more[w]);
    if (together > LETTER_BITS)
        return 0;
    for (u32 w = 0; w < words; w++)
        mask[w] |= more[w];
    return 1;
}

/* Neighbouring parts are put together as long as they depend on few bits. */
static int group_parts(Claim *claim, List *list, u32 words)
{
    u64 mask[MOST_WORDS];
    free_list(list);
    list->grouped = list->version;
    list->group = calloc(list->members + 1, sizeof(Letters));
    if (!list->group)
        return 0;
    for (u32 i = 0; i < list->members;) {
        Letters *group = list->group + list->groups++;
        group->first = i;
        memset(mask, 0, sizeof mask);
        for (; i < list->members; i++) {
            const u64 *more = claim->part[list->member[i]].mask;
            if (!join_masks(mask, more, words))
                break;
            group->parts++;
        }
        if (!group->parts) { /* too many bits: it is looked up by itself */
            group->parts = 1;
            i++;
        } else if (!make_table(&group->cache, mask, words))
            return 0;
    }
    return 1;
}

/* What the parts of one group say of a state. */
static i64 spell(Claim *claim, Moves *moves, List *list, Letters *group, const u64 *state, u64 *letter)
{
    u64 found = 0;
    for (u32 i = 0; i < group->parts; i++) {
        u32 number = list->member[group->first + i];
        u32 truth = look_up(&claim->part[number].truth, state);
        if (!truth)
            return ask(moves, ASK_LETTER, number, 0, 0);
        if (truth == 2)
            found |= claim->part[number].letter;
    }
    *letter |= found;
    if (!is_made(&group->cache))
        return 0;
    if (!RESERVE(claim, letter, claim->letters + 1ull))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    claim->letter[claim->letters++] = found;
    return enter(&group->cache, state, claim->letters) ? 0 : ask(moves, ASK_MEMORY, 0, 0, 0);
}

/* Where the claim can go from where it stands when it reads a state; -1: see the question. */
static inline i64 goings_of(Claim *claim, Moves *moves, const u64 *state, const Going **going)
{
    u64 read[2] = {0, state[0] & ((1ull << claim->bits) - 1)};
    List *list = claim->list + (claim->lists == 1 ? 0 : read[1]);
    if (list->grouped != list->version && !group_parts(claim, list, moves->rules->words))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    for (u32 i = 0; i < list->groups; i++) {
        Letters *group = list->group + i;
        u32 at = is_made(&group->cache) ? look_up(&group->cache, state) : 0;
        if (at)
            read[0] |= claim->letter[at - 1];
        else if (spell(claim, moves, list, group, state, read) < 0)
            return -1;
    }
    u32 at = look_up(&claim->goes, read);
    if (!at)
        return ask(moves, ASK_CLAIM, (u32)read[1], (u32)read[0], (u32)(read[0] >> 32));
    *going = claim->going + (at - 1);
    return 0;
}
