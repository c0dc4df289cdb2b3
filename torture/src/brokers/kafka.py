"""Start a mock cluster with topics, print its port, and wait to be killed."""

import sys
import threading

from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
for topic in sys.argv[1:]:
    cluster = producer.list_topics(topic, timeout=30)
print(next(iter(cluster.brokers.values())).port, flush=True)
threading.Event().wait()
