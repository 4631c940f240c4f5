"""What a library user calls. Each function takes a model, or the path of one, and answers with a `Report`.

    exploring    `run`, `replay`, `explore`, `compare`: executions, one or all of them
    permuting    `permute`, `permute_trace`: the permutations of one run
    checks       `check`, `verify_reduction`, `transform`: states and formulas
    inputs       `symbolic`: all inputs at once

`porcini` itself has the most common of them; each is loaded when it is first asked for.
"""
