"""Training on a Ray cluster: the same model, with its rows on several machines.

A model whose rows do not fit into one machine's memory is trained by workers that hold a share of them each. The result
has the same bytes as on one machine: the same text, settings and seed give the same model, whatever the number of
workers and whichever of them fail meanwhile. It needs Ray (the extra `ray` of this package), and a folder that all machines share.

    import skipstream.ray

    skipstream.ray.train("news/*.txt.gz", model="/shared/news", workers=4, address="auto", max_vocabulary=10_000_000)
    skipstream.ray.join("/shared/news", "news.safetensors")

From a shell, the same is `python -m skipstream.ray train --address auto --workers 4 --model /shared/news news/*.txt.gz`.
"""

from skipstream.ray._train import join, train
from skipstream.ray._workers import WorkerLost

__all__ = ["WorkerLost", "join", "train"]
