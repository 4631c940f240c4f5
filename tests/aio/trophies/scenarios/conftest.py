"""What is explored by the tests next door, each with a version of a library of its own."""

collect_ignore_glob = ["*.py"]
