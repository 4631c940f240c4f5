"""From programs to programs with fewer states, for searches that keep states.

    constants    variables to which nothing assigns; for every language whose states are packed
    forgetting   values that are not read any more; for every language
    merging      steps that nobody can observe; for languages in which a statement is a step (Promela)

A guarded command, and a task from one point to the next, are steps that users and papers count: they are not
merged.
"""
