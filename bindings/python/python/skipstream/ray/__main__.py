"""The command line: python -m skipstream.ray."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from skipstream import _engine
from skipstream.ray import join, train


def _value(text: str) -> Any:
    """A setting as it is written in Python, without quotes around text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m skipstream.ray", description="Train on a Ray cluster.")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "train",
        help="learn files on the workers of a Ray cluster",
        epilog="The settings are those of `skipstream train`, such as --dimensions 300 --max-vocabulary 10000000. Running the "
        "same command again goes on from the last checkpoint. Ctrl-C saves first.",
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="file, folder or pattern to learn")
    command.add_argument(
        "--model", required=True, metavar="DIR", help="folder of the model, which all machines share"
    )
    command.add_argument("--workers", type=int, default=4, metavar="N", help="number of workers (default: 4)")
    command.add_argument("--address", help='address of the cluster, or "auto" (default: a local cluster)')
    command.add_argument("--start-from", metavar="FILE", help="model file of one machine to start from")
    command.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of each worker (default: 1)"
    )
    command.add_argument(
        "--checkpoint-every",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time between checkpoints (default: 60)",
    )
    command.add_argument(
        "--patience",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="time to wait for a worker (default: 600)",
    )
    command.add_argument(
        "--publish", metavar="FILE", help="vectors file to write at intervals and at the end"
    )
    command.add_argument(
        "--publish-every",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="time between these (default: 3600)",
    )
    command.add_argument(
        "--publish-top", type=int, metavar="N", help="number of the most frequent words to publish"
    )
    command.add_argument(
        "--format", choices=["text", "jsonl", "csv", "tsv", "parquet"], help="format of the files"
    )
    command.add_argument("--field", help="field with the text of records")
    command.add_argument(
        "--again", action="store_true", help="learn files that were learned before as new text"
    )
    command.add_argument(
        "--finish", action="store_true", help="train the text that waits for its replay at the end"
    )
    command.add_argument("--quiet", action="store_true", help="no progress")
    for name in _engine.Settings.names():
        if name not in ("threads", "init"):
            command.add_argument(
                f"--{name.replace('_', '-')}", type=_value, help=argparse.SUPPRESS, dest=name
            )
    command = commands.add_parser("join", help="write the model of a folder as one file")
    command.add_argument("model", metavar="DIR", help="folder of the model")
    command.add_argument("path", metavar="FILE", help="model file to write")
    return parser


def _show(now: Any) -> None:
    share = "" if now.fraction is None else f"{now.fraction:4.0%}  "
    loss = "" if now.loss is None else f"  loss {now.loss:.4f}"
    print(
        f"{share}{now.words:,} words  {now.words_per_second:,.0f} words/s  {now.vocabulary:,} in the vocabulary{loss}",
        file=sys.stderr,
        flush=True,
    )


def main() -> int:
    """Runs a command, and returns the exit code."""
    arguments = vars(_parser().parse_args())
    try:
        if arguments.pop("command") == "join":
            join(**arguments)
            return 0
        quiet, files = arguments.pop("quiet"), arguments.pop("files")
        given = {name: value for name, value in arguments.items() if value is not None}
        summary = train(files, callback=None if quiet else _show, **given)
        print(repr(summary).strip("<>"), file=sys.stderr)
        return 0
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except (OSError, ValueError, MemoryError, RuntimeError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
