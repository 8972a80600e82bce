"""Requests that no browser sends."""
import concurrent.futures
import http.client
import socket
import time
import unittest

from page import Page


class Wire(unittest.TestCase):
    """What the server makes of hostile bytes. After each attempt it must still serve its own browser."""

    @classmethod
    def setUpClass(cls):
        cls.page = Page(cls.bin)
        connection = http.client.HTTPConnection("127.0.0.1", cls.page.port, timeout=20)
        connection.request("GET", "/?" + cls.page.address.split("?")[1])
        response = connection.getresponse()
        cls.cookie = response.getheader("Set-Cookie").split(";")[0]
        assert response.status == 303

    @classmethod
    def tearDownClass(cls):
        assert cls.page.end() == 0

    def send(self, data, end=False):
        """The first bytes of the answer; empty if the connection is closed without one."""
        with socket.create_connection(("127.0.0.1", self.page.port), timeout=20) as connection:
            try:
                connection.sendall(data)
                if end:
                    connection.shutdown(socket.SHUT_WR)
                return connection.recv(1 << 16)
            except (ConnectionError, BrokenPipeError):
                return b""

    def status(self, data):
        answer = self.send(data)
        return int(answer.split()[1]) if answer.startswith(b"HTTP/1.") else None

    def head(self, first="GET / HTTP/1.1", host=None, cookie=True, *more):
        lines = [first, f"Host: {host or f'127.0.0.1:{self.page.port}'}"]
        lines += [f"Cookie: {self.cookie}"] if cookie else []
        return ("\r\n".join([*lines, *more]) + "\r\n\r\n").encode()

    def tearDown(self):
        self.assertEqual(self.status(self.head()), 200, "the page is not served any more")

    def test_who(self):
        self.assertEqual(self.status(self.head(cookie=False)), 403)
        self.assertEqual(self.status(self.head(host="evil.example")), 403)
        self.assertEqual(self.status(self.head(host=f"localhost.evil.example:{self.page.port}")), 403)
        self.assertEqual(self.status(self.head("GET /?token=" + "0" * 64 + " HTTP/1.1", cookie=False)), 403)
        old = "GET /?" + self.page.address.split("?")[1] + " HTTP/1.1"
        self.assertEqual(self.status(self.head(old, cookie=False)), 403, "the address opens the page twice")
        self.assertIn(self.status(b"GET / HTTP/1.0\r\n\r\n"), (400, 403))

    def test_only_this_computer(self):
        listening = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[3] == "0A"]
        own = [address for address in listening if address.endswith(f":{self.page.port:04X}")]
        self.assertEqual(own, [f"0100007F:{self.page.port:04X}"])

    def test_origin(self):
        body = b"do=rehearse&form=x"
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{self.page.port}"):
            head = self.head("POST /do HTTP/1.1", None, True, f"Origin: {origin}",
                             "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}")
            self.assertEqual(self.status(head + body), 403)

    def test_too_large(self):
        long = self.head("POST /do HTTP/1.1", None, True, "Content-Length: 100000000")
        self.assertEqual(self.status(long + b"x" * 1000), 413)
        self.assertIn(self.status(self.head("GET /" + "a" * 100_000 + " HTTP/1.1")), (400, 413, 414, 431, None))
        self.assertIn(self.status(self.head("GET / HTTP/1.1", None, True, "X: " + "a" * 100_000)), (400, 413, 431, None))
        chunks = b"".join(b"8000\r\n" + b"x" * 0x8000 + b"\r\n" for _ in range(8)) + b"0\r\n\r\n"
        chunked = self.head("POST /do HTTP/1.1", None, True, "Transfer-Encoding: chunked") + chunks
        self.assertIn(self.status(chunked), (400, 403, 413, None))

    def test_nonsense(self):
        for data in (
            b"\0" * 4000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 4000, b"\x16\x03\x01\x02\x00\x01",
            b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            self.head("GET /%00%ff HTTP/1.1"), self.head("TRACE / HTTP/1.1"), self.head("CONNECT a:1 HTTP/1.1"),
            self.head("GET / HTTP/1.1", None, True, "Content-Length: -1"),
            self.head("POST /do HTTP/1.1", None, True, "Content-Length: 5", "Content-Length: 6"),
            self.head("POST /do HTTP/1.1", None, True, "Content-Length: 5", "Transfer-Encoding: chunked") + b"zzz\r\n",
        ):
            answer = self.send(data, end=True)
            self.assertFalse(answer.startswith(b"HTTP/1.1 200"), data[:60])
            self.assertNotIn(b"forum.sqlite", answer, data[:60])

    def test_pipelined(self):
        """Several at once are answered in their order, and none with the rights of another."""
        good, foreign = self.head("GET /job.json HTTP/1.1"), self.head("GET /job.json HTTP/1.1", "evil.example")
        with socket.create_connection(("127.0.0.1", self.page.port), timeout=20) as connection:
            connection.sendall(good + foreign + good + b"nonsense\r\n\r\n")
            data = b""
            while piece := connection.recv(1 << 16):
                data += piece
        codes = [int(part.split()[0]) for part in data.split(b"HTTP/1.1 ")[1:]]
        self.assertEqual(codes[:3], [200, 403, 200])
        self.assertNotIn(200, codes[3:])

    def test_slow(self):
        """Many connections that say nothing do not keep the browser out for long; they are closed."""
        start = time.monotonic()
        idle = [socket.create_connection(("127.0.0.1", self.page.port), timeout=30) for _ in range(80)]
        for connection in idle[::2]:
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            except OSError:
                pass
        for connection in idle:
            try:
                while connection.recv(4096):
                    pass
            except ConnectionError:
                pass
            connection.close()
        self.assertLess(time.monotonic() - start, 40)

    def test_goes_away(self):
        """Browsers that leave before or in the middle of the answer."""
        def leave(number):
            with socket.create_connection(("127.0.0.1", self.page.port), timeout=20) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.sendall(self.head("GET /model HTTP/1.1")[: 200 if number % 3 else 20])
                if number % 2:
                    connection.recv(10)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(leave, range(40)))
