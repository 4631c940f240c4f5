"""The commands: a request in, a report out; for models and for real code, whoever asks.

    requests     `Request`: which program, what is asked, how far to go; made of what users give by name
    programs     the program that it is about: a model, a file, or a coroutine function (`coroutines.code`)
    needs        what each command needs of a program
    running      `run` and `replay`: one execution
    exploring    `explore` and `compare`: every class of executions
    checking     `check`, `verify_reduction` and `transform`: states and formulas (`formulas`)
    permuting    `permute`: the permutations of one execution
    symbolic     `symbolic`: all inputs at once (`all_inputs`), and the test cases that it writes (`cases`)
    reporting    how what was counted becomes a report

The command line, the Python API and the pytest plugin all come through here.
"""
