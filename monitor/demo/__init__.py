"""The demo: ten months of real flights in a minute.

    flights.py    the bundled sample and its settings
    playback.py   the recorded events again, as fast as asked
    months.py     what each month came to, once its labels are in
    table.py      the rows that a person reads
    story.py      what to see in them
    faults/       the other demo: two faults in turn, and who is told

The sample (CC0): 57,286 flights from New York between March and December 2013,
each with the prediction of a model whether it would be 15 minutes late, and, if
it landed, whether it was.
"""
