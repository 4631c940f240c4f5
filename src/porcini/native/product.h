/* The product of states with a claim: what a search in depth for a run that the claim accepts keeps (`depth.h`).

   Its states are nodes, pairs of a state and a state of the claim. Marks are bits, `words` of 64 each: first those of
   the claim; then, where runs must be fair, one for each process. */

#define DONE 0x7FFFFFFFu
#define ON_THE_WAY 0x80000000u
#define MOST_NODES (DONE - 2)
#define MARK_WORDS 64

enum { TO_COMPONENT, BY_MARKS, TO_NODE }; /* what a path is looked for */

typedef struct { /* A node of which successors are left: from `begin` to where those of the next frame begin. */
    u32 node;
    u64 begin;
} Frame;

typedef struct { /* The shortest way to something, through nodes that were entered; `parent` of the store leads back. */
    u32 *queue, last, end;
    u64 head, tail, *marks; /* of its last step */
    int going_on;
} Path;

typedef struct {
    Claim claim;
    int fair, stutters, asks_ends;
    u32 words;
    u64 *claims, *processes; /* all marks of either kind */
    u64 *everyone, *able;    /* the marks of all processes that could move somewhere, and of those that can move here */
    u64 *crew;               /* by number: the mark of whose step it is, and those of all who move in it */
    u64 crew_room;
    u32 crews;
    u32 *order; /* of each node: 0 if it has not been entered yet; else its number, plus 1, or DONE; and ON_THE_WAY */
    u64 order_room, entered;
    u32 *live; /* the nodes of components that are not finished, in the order in which they were entered */
    u64 live_room, lives;
    Frame *frame;
    u64 frame_room, frames;
    u32 *next; /* successors that are left, the next one last, with the marks of the steps to them */
    u64 next_room, nexts;
    u64 *next_marks, next_marks_room;
    u32 *root; /* of components that are not finished, by their order */
    u64 root_room, roots;
    u64 *root_marks, root_marks_room; /* for each root: those within its component, those of the step that entered it */
    u64 *block_marks, block_marks_room; /* of the steps in the block of the worker */
    int unexpanded;                     /* are the successors of the last frame still to be found? */
    u32 at;                             /* the node that is being expanded */
    u64 end_of, *end;                   /* a node, plus 1, for which the tables have no successors, and those it has */
    u32 *end_crew, ends;
    Path path;
} Product;

static void free_product(Product *p)
{
    if (!p)
        return;
    free_claim(&p->claim);
    free(p->claims);
    free(p->processes);
    free(p->everyone);
    free(p->able);
    free(p->crew);
    free(p->order);
    free(p->live);
    free(p->frame);
    free(p->next);
    free(p->next_marks);
    free(p->root);
    free(p->root_marks);
    free(p->block_marks);
    free(p->end);
    free(p->end_crew);
    free(p->path.queue);
    free(p->path.marks);
    free(p);
}

static u64 bytes_of_product(const Product *p)
{
    if (!p)
        return 0;
    u64 numbers = p->order_room + p->live_room + p->next_room + p->root_room;
    return 4 * numbers + 8 * (p->next_marks_room + p->root_marks_room) + sizeof(Frame) * p->frame_room;
}

/* Are these marks enough for a component? */
static inline int accepts(const Product *p, const u64 *marks)
{
    for (u32 w = 0; w < p->words; w++)
        if ((p->claims[w] | (p->fair ? p->everyone[w] : 0)) & ~marks[w])
            return 0;
    return 1;
}

static inline void add_marks(const Product *p, u64 *marks, const u64 *more)
{
    for (u32 w = 0; w < p->words; w++)
        marks[w] |= more[w];
}

/* The marks of a step, of which the claim has those given; `crew` moves in it, unless the run has ended. */
static inline void mark_step(const Product *p, u64 *marks, const u64 *given, const u64 *crew)
{
    for (u32 w = 0; w < p->words; w++) {
        marks[w] = given[w];
        if (p->fair)
            marks[w] |= crew ? p->processes[w] & ~(p->able[w] & ~crew[p->words + w]) : p->processes[w];
    }
}

/* A node is entered by a step with these marks: for now it is a component by itself. */
static int enter_node(Product *p, u32 node, const u64 *marks)
{
    u64 words = p->words, roots = p->roots;
    if (!RESERVE(p, root, roots + 1) || !RESERVE(p, root_marks, 2 * words * (roots + 1)) ||
        !RESERVE(p, live, p->lives + 1) || !RESERVE(p, frame, p->frames + 1))
        return 0;
    p->order[node] = (u32)++p->entered | ON_THE_WAY;
    p->root[p->roots++] = (u32)p->entered;
    memset(p->root_marks + 2 * words * roots, 0, words * sizeof(u64));
    memcpy(p->root_marks + 2 * words * roots + words, marks, words * sizeof(u64));
    p->live[p->lives++] = node;
    p->frame[p->frames++] = (Frame){node, p->nexts};
    p->unexpanded = 1;
    return 1;
}

/* All successors of the last frame have been seen: if it is the root of a component, that is done. */
static void leave_node(Product *p)
{
    u32 node = p->frame[--p->frames].node, gone;
    p->order[node] &= ~ON_THE_WAY;
    if (p->root[p->roots - 1] != p->order[node])
        return;
    p->roots--;
    do {
        gone = p->live[--p->lives];
        p->order[gone] = DONE;
    } while (gone != node);
}

/* A step with these marks leads back to a node that is live: all components after that of the node are one with it. Has
   that one all marks now? */
static int merge_components(Product *p, u32 order, const u64 *marks)
{
    u64 words = p->words, *inside = p->root_marks + 2 * words * (p->roots - 1);
    add_marks(p, inside, marks);
    while (p->root[p->roots - 1] > order) {
        u64 *merged = inside - 2 * words;
        add_marks(p, merged, inside);
        add_marks(p, merged, inside + words);
        inside = merged;
        p->roots--;
    }
    return accepts(p, inside);
}

/* Is a node in the component that was found? */
static inline int in_component(const Product *p, u32 node)
{
    u32 order = p->order[node] & ~ON_THE_WAY;
    return order != DONE && order >= p->root[p->roots - 1];
}

/* The states that are kept here have another width. */
static int widen_product(Product *p, u32 before, u32 words)
{
    if (!p)
        return 1;
    p->end_of = 0; /* it is asked again */
    return widen_claim(&p->claim, before, words);
}
