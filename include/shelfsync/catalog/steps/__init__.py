"""The path, step by step, with its reading and writing: what each Airflow task and the command line call.

A step takes a run and some vendors, reads the pointers that the step before left in the ledger, calls the pure step of `catalog`,
and writes its own pointers. Run twice, it finds its work done. One vendor that fails is noted and never stops the others (I10).
"""
