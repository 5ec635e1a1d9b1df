# SPDX-License-Identifier: GPL-3.0-or-later
"""The client against servers that others wrote: two mock LLM servers from npm (tools/peers.sh installs
them), and nginx with TLS and HTTP/2 in front of the simulator. What is not installed is skipped."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(os.environ["ROOKERY_SOURCE"]) / "tests" / "cli"))
from program import Case, Simulator, run  # noqa: E402

PEERS = pathlib.Path(os.environ["ROOKERY_PEERS"]) / "node_modules"
KEY = "sk-canary-of-the-peer-tests-0123456789"
LIMIT = 40
ANSWER = '{"move": "e2e4"}'


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Peer:
    """A server in a process of its own, until the end of the block."""

    def __init__(self, command, port, cwd):
        self.command, self.port, self.cwd = command, port, cwd
        self.url = f"http://127.0.0.1:{port}"

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.cwd, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(300):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{self.command[0]} did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


class Peers(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("node") or not PEERS.exists():
            self.skipTest("the npm peers are not installed")

    def evaluate(self, model, url, name, *args, env=None):
        variable = model.split("/")[0].upper() + "_API_KEY"
        done = run("eval", "--model", model, "--base-url", url, "--limit", LIMIT, "--store",
                   f"{name}.db", "--out", name, *args, cwd=self.dir, env={variable: KEY, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = [json.loads(line) for line in
                (self.dir / name / "predictions.jsonl").read_bytes().splitlines()]
        summary = json.loads((self.dir / name / "summary.json").read_bytes())
        self.assertEqual(len(rows), LIMIT)
        for path in self.dir.iterdir():  # nothing that was left behind has the key
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)
        return rows, summary, done


class Aimock(Peers):
    """@copilotkit/aimock: the formats of OpenAI, Anthropic and Gemini, and faults."""
    FORMATS = (("openai/m", "/v1", "stop"), ("anthropic/m", "", "end_turn"), ("gemini/m", "", "STOP"))

    def peer(self, *args):
        usage = {"prompt_tokens": 120, "completion_tokens": 9, "input_tokens": 120,
                 "output_tokens": 9, "promptTokenCount": 120, "candidatesTokenCount": 9,
                 "total_tokens": 129, "totalTokenCount": 129}
        self.write("fixtures.json", json.dumps({"fixtures": [
            {"match": {}, "response": {"content": ANSWER, "usage": usage}}]}))
        port = free_port()
        tool = PEERS / "@copilotkit" / "aimock" / "dist" / "cli.js"
        return Peer(["node", str(tool), "-p", str(port), "-f", str(self.dir / "fixtures.json"), *args],
                    port, self.dir)

    def test_three_formats_are_spoken_as_others_understand_them(self):
        with self.peer() as peer:
            for i, (model, path, finish) in enumerate(self.FORMATS):
                rows, summary, _ = self.evaluate(model, peer.url + path, f"o{i}")
                for row in rows:
                    self.assertEqual((row["text"], row["finish_reason"]), (ANSWER, finish), model)
                    self.assertEqual((row["prompt_tokens"], row["completion_tokens"]), (120, 9), model)
                usage = summary["evaluation_usage"]
                self.assertEqual(usage["prompt_tokens"], 120 * LIMIT, model)
            with urllib.request.urlopen(peer.url + "/__aimock/journal?limit=1000") as reply:
                journal = json.load(reply)
            self.assertEqual(len(journal), 3 * LIMIT)

    def test_its_faults_cost_time_and_no_answer(self):
        faults = ("--chaos-ratelimit", "0.1", "--chaos-drop", "0.1", "--chaos-disconnect", "0.1",
                  "--chaos-malformed", "0.1")
        with self.peer(*faults) as peer:
            for i, (model, path, _) in enumerate(self.FORMATS):
                rows, _, _ = self.evaluate(model, peer.url + path, f"f{i}", "--retries", 12)
                self.assertEqual({row["text"] for row in rows}, {ANSWER}, model)


class MockLlm(Peers):
    """@dwmkerr/mock-llm: the format of OpenAI, answering by rules."""
    RULES = r"""rules:
  - path: "/v1/chat/completions"
    method: "POST"
    match: "@"
    response:
      status: 200
      content: |
        {"id": "c1", "object": "chat.completion", "model": "{{jmes request body.model}}",
         "choices": [{"index": 0, "message": {"role": "assistant",
                      "content": "{\"move\": \"e2e4\"}"}, "finish_reason": "stop"}]}
  - path: "/v1/chat/completions"
    sequence: 3
    response: {status: 429, content: '{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}'}
  - path: "/v1/chat/completions"
    sequence: 5
    response: {status: 503, content: '{"error": {"message": "overloaded"}}'}
"""

    def test_answers_by_rules_are_read(self):
        port = free_port()
        self.write("mock-llm.yaml", self.RULES)
        tool = PEERS / "@dwmkerr" / "mock-llm" / "dist" / "main.js"
        command = ["env", f"PORT={port}", "HOST=127.0.0.1", "node", str(tool), "--config",
                   str(self.dir / "mock-llm.yaml")]
        with Peer(command, port, self.dir) as peer:
            rows, _, _ = self.evaluate("openai/some-model", peer.url + "/v1", "o")
            self.assertEqual({row["text"] for row in rows}, {ANSWER})
            self.assertEqual({row["served_model"] for row in rows}, {"some-model"})
            self.assertFalse(rows[0]["usage_reported"])  # it tells no usage: estimated, and said so


class Tls(Case):
    """nginx with a throw-away certificate: TLS, HTTP/2, and a certificate nobody knows."""
    CONFIG = """daemon off; pid {dir}/pid; error_log {dir}/error.log; worker_processes 1;
events {{ worker_connections 512; }}
http {{
  log_format proto '$server_protocol $status $connection'; access_log {dir}/access.log proto;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/f;
  uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{
    listen 127.0.0.1:{port} ssl http2; ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;
    location / {{ proxy_pass {upstream}; proxy_http_version 1.1; }}
  }}
}}
"""

    def setUp(self):
        super().setUp()
        self.nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not self.nginx or not shutil.which("openssl"):
            self.skipTest("nginx or openssl is not here")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        str(self.dir / "key.pem"), "-out", str(self.dir / "cert.pem")],
                       check=True, capture_output=True)

    def test_calls_share_connections_of_http_2(self):
        with Simulator("--latency", 20) as simulator:
            port = free_port()
            upstream = simulator.url.removesuffix("/v1")
            self.write("nginx.conf", self.CONFIG.format(dir=self.dir, port=port, upstream=upstream))
            command = [self.nginx, "-p", str(self.dir), "-c", str(self.dir / "nginx.conf")]
            ask = ("eval", "--model", "openai/sim-responsive", "--base-url",
                   f"https://127.0.0.1:{port}/v1", "--limit", 200, "--deterministic")
            with Peer(command, port, self.dir):
                refused = run(*ask, "--store", "r.db", "--retries", 0, cwd=self.dir,
                              env={"OPENAI_API_KEY": KEY})
                self.assertEqual(refused.returncode, 4, refused.stderr.decode())
                self.assertIn("certificate", refused.stderr.decode())
                done = run(*ask, "--out", "tls", cwd=self.dir,
                           env={"OPENAI_API_KEY": KEY, "SSL_CERT_FILE": str(self.dir / "cert.pem")})
                self.assertEqual(done.returncode, 0, done.stderr.decode())
            run("eval", "--model", "sim/responsive", "--limit", 200, "--deterministic", "--store", "d.db",
                "--out", "direct", cwd=self.dir)
        self.assertEqual((self.dir / "tls/results.json").read_bytes(),
                         (self.dir / "direct/results.json").read_bytes())
        seen = [line.split() for line in (self.dir / "access.log").read_text().splitlines()]
        self.assertEqual({tuple(line[:2]) for line in seen}, {("HTTP/2.0", "200")})
        self.assertEqual(len(seen), 200)
        self.assertLessEqual(len({line[2] for line in seen}), 2)  # connections


if __name__ == "__main__":
    unittest.main()
