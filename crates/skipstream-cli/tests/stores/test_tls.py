"""Stores behind TLS. A proxy has a certificate, and passes on what it decrypts."""

import socket
import ssl
import threading

import pytest
import trustme
from conftest import text
from servers import Postgres


class Proxy:
    """Accepts TLS, for PostgreSQL after its request for TLS, and talks to the store in the clear."""

    def __init__(self, store, authority):
        self.store = store
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self.context)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.n_connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
                self.n_connections += 1
                if isinstance(self.store, Postgres):
                    assert connection.recv(8) == bytes([0, 0, 0, 8, 4, 210, 22, 47])
                    connection.sendall(b"S")
                connection = self.context.wrap_socket(connection, server_side=True)
            except ssl.SSLError:
                continue
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.store.port))
            for ends in [(connection, server), (server, connection)]:
                threading.Thread(target=pump, args=ends, daemon=True).start()


def pump(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@pytest.fixture
def proxy(store, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    proxy = Proxy(store, authority)
    yield proxy
    # Closing alone would leave the port with the thread that waits for connections.
    proxy.listener.shutdown(socket.SHUT_RDWR)
    proxy.listener.close()


def test_certificates_are_verified(skipstream, store, proxy):
    skipstream.train("m", text([f"word{number}" for number in range(60)], 100, 1))
    address = store.address("encrypted").replace(str(store.port), str(proxy.port))
    address = address.replace("http://", "https://").replace("/news?", "/news?sslmode=require&")
    refused = skipstream.run("sync", "--model", "m", address)
    assert refused.returncode == 2
    assert "certificate" in refused.err and "trying again" not in refused.err, refused.err
    assert "SSL_CERT_FILE" in refused.err, refused.err
    assert proxy.n_connections == 1
    skipstream.environment["SSL_CERT_FILE"] = "authority.pem"
    assert skipstream("sync", "--model", "m", address).startswith("60 added")
    assert store.n_words("encrypted") == 60
