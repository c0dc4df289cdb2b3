"""A stand-in for a Qdrant server, because no package has a real one.

It checks every request against the models of qdrant-client, which are generated from the OpenAPI document of the real
server and refuse unknown fields, and answers with the client's local mode, which keeps the points in memory.
"""

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

from pydantic import TypeAdapter, ValidationError
from qdrant_client import models
from qdrant_client.local.qdrant_local import QdrantLocal


class Refusal(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Collections:
    """The operations, by method and path. Each checks its request and returns what the server would as `result`."""

    def __init__(self):
        self.local = QdrantLocal(":memory:")
        self.lock = threading.Lock()

    def answer(self, method, path, body):
        match [method, *path.strip("/").split("/")]:
            case ["GET"]:
                return {"title": "qdrant - stand-in", "version": "1.16.0"}
            case ["GET", "collections", name, "exists"]:
                return {"exists": self.local.collection_exists(name)}
            case [verb, "collections", name, *rest]:
                if [verb, *rest] != ["PUT"] and not self.local.collection_exists(name):
                    raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
                return self.of_collection([verb, *rest], name, body)
        raise Refusal(404, "no such path")

    def of_collection(self, operation, name, body):
        def checked(model):
            return TypeAdapter(model).validate_python(body)

        match operation:
            case ["GET"]:
                return self.local.get_collection(name)
            case ["PUT"]:
                request = checked(models.CreateCollection)
                return self.local.create_collection(
                    name, vectors_config=request.vectors
                )
            case ["DELETE"]:
                return self.local.delete_collection(name)
            case ["PUT", "index"]:
                checked(models.CreateFieldIndex)
                return {"operation_id": 0, "status": "completed"}
            case ["PUT", "points"]:
                points = checked(models.PointsList).points
                size = self.local.get_collection(name).config.params.vectors.size
                if any(len(point.vector) != size for point in points):
                    raise Refusal(400, "Wrong input: Vector dimension error")
                return self.local.upsert(name, points)
            case ["POST", "points", "delete"]:
                return self.local.delete(name, checked(models.PointIdsList))
            case ["POST", "points", "scroll"]:
                request = checked(models.ScrollRequest)
                points, offset = self.local.scroll(
                    name,
                    scroll_filter=request.filter,
                    limit=request.limit or 10,
                    offset=request.offset,
                    with_payload=request.with_payload,
                    with_vectors=bool(request.with_vector),
                )
                return {"points": points, "next_page_offset": offset}
            case ["POST", "points", "query"]:
                request = checked(models.QueryRequest)
                query = request.query
                if not isinstance(query, models.NearestQuery):
                    query = models.NearestQuery(nearest=query)
                return self.local.query_points(
                    name,
                    query=query,
                    query_filter=request.filter,
                    limit=request.limit or 10,
                    with_payload=request.with_payload,
                )
        raise Refusal(404, "no such operation")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.split("?")[0]
        try:
            body = json.loads(body) if body else None
            if self.headers.get("api-key") != self.server.key:
                raise Refusal(401, "Must provide an API key or an Authorization bearer token")
            if self.server.failures:
                raise Refusal(self.server.failures.pop(0), "for the test")
            with self.server.collections.lock:
                result = self.server.collections.answer(self.command, path, body)
        except Refusal as refusal:
            return self.send_error_body(refusal.status, str(refusal))
        except (ValidationError, ValueError) as error:
            return self.send_error_body(400, str(error))
        result = TypeAdapter(type(result)).dump_python(result, mode="json")
        answer = (
            result
            if path == "/"
            else {"result": result, "status": "ok", "time": 0.0}
        )
        return self.send(200, answer)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request

    def send_error_body(self, status, message):
        self.send(status, {"status": {"error": message}, "time": 0.0})

    def send(self, status, answer):
        text = json.dumps(answer, default=lambda model: model.model_dump(mode="json"))
        text = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class QdrantStandIn(ThreadingTCPServer):
    """A server that wants an API key, and fails next with the statuses in `failures`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port, key, collections):
        super().__init__(("127.0.0.1", port), Handler)
        self.key = key
        self.collections = collections
        self.failures = []
        self.connections = []
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def stop(self):
        """Refuses connections, and breaks those that are open."""
        self.shutdown()
        self.socket.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_):
        """A connection that broke is no news."""
