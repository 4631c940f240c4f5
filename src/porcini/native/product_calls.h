/* What whoever knows the program tells about a claim, and asks about a product. Those functions that return int return 0
   where memory is full. */

/* From now on this is a search in depth for runs that a claim accepts, which has so many marks; it is told what to look
   at in one list, or in one for each of its states. Where runs must be fair, there are so many processes at most. */
int porcini_add_claim(Search *search, u32 bits, u32 lists, u32 marks, u32 processes, u32 fair, u32 stutters, u32 asks_ends)
{
    Product *p = calloc(1, sizeof(Product));
    if (!(search->product = p))
        return 0;
    u32 words = (marks + (fair ? processes : 0) + 63) / 64;
    p->words = words ? words : 1;
    p->fair = fair != 0;
    p->stutters = stutters != 0;
    p->asks_ends = asks_ends != 0;
    p->claim.bits = bits;
    p->claim.list = calloc(lists, sizeof(List));
    p->claims = calloc(p->words, sizeof(u64));
    p->processes = calloc(p->words, sizeof(u64));
    p->everyone = calloc(p->words, sizeof(u64));
    p->able = calloc(p->words, sizeof(u64));
    p->path.marks = calloc(p->words, sizeof(u64));
    if (!p->claim.list || !p->claims || !p->processes || !p->everyone || !p->able || !p->path.marks)
        return 0;
    p->claim.lists = lists;
    for (u32 i = 0; i < lists; i++)
        p->claim.list[i].version = 1;
    for (u32 i = 0; i < marks; i++)
        include(p->claims, i);
    for (u32 i = marks; fair && i < marks + processes; i++)
        include(p->processes, i);
    u64 mask[2] = {~0ull, (1ull << bits) - 1};
    return make_table(&p->claim.goes, mask, 2);
}

/* One more part of the letter in one of the lists; it depends on these bits. */
int porcini_add_part(Search *search, u32 list, u64 letter, const u64 *mask)
{
    Claim *claim = &search->product->claim;
    List *of = claim->list + list;
    if (!RESERVE(claim, part, claim->parts + 1ull) || !RESERVE(of, member, of->members + 1ull))
        return 0;
    Part *part = claim->part + claim->parts;
    *part = (Part){.letter = letter, .list = list};
    of->member[of->members++] = claim->parts++;
    return make_table(&part->truth, mask, search->words) && look_at_part(claim, part, mask, search->words);
}

/* A part looks at more bits, which have been 0 so far. */
int porcini_key_part_again(Search *search, u32 number, const u64 *mask)
{
    Claim *claim = &search->product->claim;
    Part *part = claim->part + number;
    return key_again(&part->truth, mask, search->words, 1) && look_at_part(claim, part, mask, search->words);
}

int porcini_answer_part(Search *search, u32 number, const u64 *state, u32 holds)
{
    return enter(&search->product->claim.part[number].truth, state, holds + 1);
}

/* Where the claim goes from one of its states on a letter, and the marks of each step. */
int porcini_answer_claim(Search *search, u32 here, u64 letter, const u32 *there, const u64 *marks, u32 count)
{
    Claim *claim = &search->product->claim;
    u64 words = search->product->words, first = claim->theres, read[2] = {letter, here};
    if (!RESERVE(claim, going, claim->goings + 1ull) || !RESERVE(claim, there, first + count + 1) ||
        !RESERVE(claim, marks, (first + count + 1) * words))
        return 0;
    memcpy(claim->there + first, there, count * sizeof(u32));
    memcpy(claim->marks + first * words, marks, count * words * sizeof(u64));
    claim->theres += count;
    claim->going[claim->goings++] = (Going){(u32)first, count};
    return enter(&claim->goes, read, claim->goings);
}

/* One more set of processes that move at once: the mark of the one whose step it is, and those of all of them. */
int porcini_add_crew(Search *search, const u64 *marks)
{
    Product *p = search->product;
    if (!RESERVE(p, crew, (p->crews + 1ull) * 2 * p->words))
        return 0;
    memcpy(p->crew + (u64)p->crews++ * 2 * p->words, marks, 2 * p->words * sizeof(u64));
    return 1;
}

/* The successors of the node that is being expanded, where the tables have none, and who moves to them. */
int porcini_answer_end_of_node(Search *search, const u64 *states, const u32 *crews, u32 count)
{
    Product *p = search->product;
    u64 *end = realloc(p->end, ((u64)count * search->words + 1) * sizeof(u64));
    if (end)
        p->end = end;
    u32 *crew = realloc(p->end_crew, (count + 1ull) * sizeof(u32));
    if (crew)
        p->end_crew = crew;
    if (!end || !crew)
        return 0;
    memcpy(end, states, (u64)count * search->words * sizeof(u64));
    memcpy(crew, crews, count * sizeof(u32));
    p->ends = count;
    p->end_of = p->at + 1ull;
    return 1;
}

u32 porcini_words_of_marks(const Search *search) { return search->product->words; }

/* Looks for a way in the product (`find_path`): ASK_LASSO if there is one, which `porcini_path_last` and
   `porcini_path_end` tell; `porcini_parent` leads back from there. */
u32 porcini_find_path(Search *search, u32 from, u32 kind, u32 to, const u64 *wanted, u64 most)
{
    return find_path_0(search, from, kind, to, wanted, most);
}

u32 porcini_path_last(const Search *search) { return search->product->path.last; }
u32 porcini_path_end(const Search *search) { return search->product->path.end; }
const u64 *porcini_path_marks(const Search *search) { return search->product->path.marks; }
const u64 *porcini_everyone(const Search *search) { return search->product->everyone; }
int porcini_in_component(const Search *search, u32 node) { return in_component(search->product, node); }
