"""The join and the counts on a distributed engine, for more than one machine can hold.

    packets.py        decoded events, grouped by the bucket of their id
    pages.py          state of a bucket, and how events change it (the rule of one id)
    tallies.py        changes of counts: summed, and written as `counts` events
    delivery.py       targets of the counts: a monitor, a directory, Kafka
    spark_job.py      the job on Spark Structured Streaming
    spark_tasks.py    what its tasks run
    kafka_records.py  Kafka source for Spark, without Spark's own connector

Only the last three import Spark.

An id belongs to a bucket, and the state of a bucket is one page of bytes, so the
engine moves a few large rows instead of one row per event. The `counts` of a batch
carry the names of job and batch: a batch computed again replaces itself.
"""
