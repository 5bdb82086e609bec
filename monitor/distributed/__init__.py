"""The same join and counts on a distributed engine, for those who outgrow one machine.

    packets.py    decoded events, put together by the bucket of their id
    pages.py      what a bucket remembers, and what events do to it (the rule of one id)
    tallies.py    what counts otherwise now: added up, and written as `counts` events
    delivery.py   where these go: a monitor, a directory, Kafka
    spark.py      the job on Spark Structured Streaming
    kafka.py      topics as a source of Spark's, where its own connector cannot be had

The last two know Spark, and nothing else does.

An id belongs to a bucket, and a bucket's state is one page of bytes, so that the
engine moves a few large rows and not one row an event. A batch's `counts` carry
the job's name and the batch's: one that is computed again replaces itself.
"""
