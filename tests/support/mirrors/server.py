"""A mirror of every package manager in one small HTTP server, with one package each: `cove-demo`.

Usage: server.py LOG [DEBS]   writes its port on a line, and each request's path to LOG; ends with its stdin.
DEBS is a directory of Debian packages to be served too.
"""

import base64
import hashlib
import http.server
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

NAME, VERSION = "cove-demo", "1.2.3"
MODULE = "example.test/demo"
PUBLISHED = "2024-01-01T00:00:00.000Z"


def tar_gz(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return out.getvalue()


def npm(base):
    manifest = {"name": NAME, "version": VERSION, "main": "index.js"}
    tarball = tar_gz({"package/package.json": json.dumps(manifest).encode(),
                      "package/index.js": b"module.exports = 'npm';\n"})
    digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    file = f"/npm/{NAME}/-/{NAME}-{VERSION}.tgz"
    described = dict(manifest, dist={"tarball": base + file, "integrity": "sha512-" + digest,
                                     "shasum": hashlib.sha1(tarball).hexdigest()})
    # Clients that keep away from what was published a short time ago need to know when that was.
    document = {"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: described},
                "time": {"created": PUBLISHED, "modified": PUBLISHED, VERSION: PUBLISHED}}
    return {f"/npm/{NAME}": json.dumps(document).encode(), file: tarball}


def pypi(base):
    wheel = f"cove_demo-{VERSION}-py3-none-any.whl"
    info = f"cove_demo-{VERSION}.dist-info"
    content = zipped({
        "cove_demo.py": "SAYS = 'pypi'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    })
    page = f'<!DOCTYPE html><html><body><a href="../../files/{wheel}">{wheel}</a></body></html>'
    return {f"/simple/{NAME}/": page.encode(), f"/files/{wheel}": content}


def go(base):
    prefix = f"{MODULE}@v1.0.0/"
    module = f"module {MODULE}\n"
    return {
        f"/go/{MODULE}/@v/list": b"v1.0.0\n",
        f"/go/{MODULE}/@v/v1.0.0.info": b'{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}',
        f"/go/{MODULE}/@v/v1.0.0.mod": module.encode(),
        f"/go/{MODULE}/@v/v1.0.0.zip": zipped({prefix + "go.mod": module,
                                               prefix + "demo.go": "package demo\n"}),
    }


def cargo(base):
    crate = tar_gz({
        f"{NAME}-{VERSION}/Cargo.toml": f'[package]\nname = "{NAME}"\nversion = "{VERSION}"\n'.encode(),
        f"{NAME}-{VERSION}/src/lib.rs": b"",
    })
    entry = {"name": NAME, "vers": VERSION, "deps": [], "features": {}, "yanked": False,
             "cksum": hashlib.sha256(crate).hexdigest()}
    return {"/crates/config.json": json.dumps({"dl": base + "/dl/{crate}-{version}.crate"}).encode(),
            f"/crates/co/ve/{NAME}": (json.dumps(entry) + "\n").encode(),
            f"/dl/{NAME}-{VERSION}.crate": crate}


# The forms that are Ruby's own (Marshal) are written by Ruby, into the directory that it is started in.
GEM_SOURCE = """
require "rubygems/package"
require "zlib"
spec = Gem::Specification.new do |gem|
  gem.name, gem.version = ARGV
  gem.summary = gem.description = "test"
  gem.authors = ["test"]
  gem.license = "MIT"
  gem.homepage = "http://example.test"
  gem.files = ["lib/cove_demo.rb"]
end
Dir.mkdir("lib")
File.write("lib/cove_demo.rb", "COVE_DEMO = 'rubygems'")
Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec) }
line = [[spec.name, spec.version, "ruby"]]
File.binwrite("specs", Gem::Util.gzip(Marshal.dump(line)))
File.binwrite("none", Gem::Util.gzip(Marshal.dump([])))
File.binwrite("spec", Gem.deflate(Marshal.dump(spec)))
"""


def rubygems(base):
    """A source as RubyGems and Bundler ask for it, old index and new; nothing where Ruby is missing."""
    with tempfile.TemporaryDirectory() as top:
        try:
            subprocess.run(["ruby", "-e", GEM_SOURCE, NAME, VERSION], cwd=top, check=True,
                           stdout=subprocess.DEVNULL)
        except OSError:
            return {}
        made = {}
        for name in ("specs", "none", "spec", f"{NAME}-{VERSION}.gem"):
            with open(f"{top}/{name}", "rb") as file:
                made[name] = file.read()
    gem = made[f"{NAME}-{VERSION}.gem"]
    info = f"---\n{VERSION} |checksum:{hashlib.sha256(gem).hexdigest()}\n".encode()
    versions = f"created_at: {PUBLISHED}\n---\n{NAME} {VERSION} {hashlib.md5(info).hexdigest()}\n"
    return {"/gems/versions": versions.encode(),
            f"/gems/info/{NAME}": info,
            "/gems/names": f"---\n{NAME}\n".encode(),
            "/gems/specs.4.8.gz": made["specs"],
            "/gems/latest_specs.4.8.gz": made["specs"],
            "/gems/prerelease_specs.4.8.gz": made["none"],
            f"/gems/quick/Marshal.4.8/{NAME}-{VERSION}.gemspec.rz": made["spec"],
            f"/gems/gems/{NAME}-{VERSION}.gem": gem}


def built_package(name, postinst):
    """A .deb of nothing but a script; None where dpkg-deb is missing."""
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(top + "/p/DEBIAN")
        with open(top + "/p/DEBIAN/control", "w") as control:
            control.write(f"Package: {name}\nVersion: {VERSION}\nArchitecture: all\n"
                          "Maintainer: test <test@example.test>\nDescription: test\n")
        if postinst:
            with open(top + "/p/DEBIAN/postinst", "w") as script:
                script.write(postinst)
            os.chmod(top + "/p/DEBIAN/postinst", 0o755)
        try:
            subprocess.run(["dpkg-deb", "--root-owner-group", "-b", top + "/p", top + "/p.deb"],
                           check=True, stdout=subprocess.DEVNULL)
        except OSError:
            return None
        with open(top + "/p.deb", "rb") as package:
            return package.read()


# As Debian's own packages make the user that their service runs as.
SERVICE = """#!/bin/sh
set -e
useradd --system --home-dir /var/lib/cove-service --shell /usr/sbin/nologin cove-service
install -d -o cove-service -m 0750 /var/lib/cove-service
"""


def debs():
    """File name -> bytes: packages made here, and those in the directory that the caller names."""
    found = {NAME + ".deb": built_package(NAME, ""),
             "cove-service.deb": built_package("cove-service", SERVICE)}
    if len(sys.argv) > 2 and os.path.isdir(sys.argv[2]):
        for name in sorted(os.listdir(sys.argv[2])):
            if name.endswith(".deb"):
                with open(os.path.join(sys.argv[2], name), "rb") as package:
                    found[re.sub("[^A-Za-z0-9._-]", "_", name)] = package.read()
    return {name: deb for name, deb in found.items() if deb}


def control_of(deb):
    with tempfile.NamedTemporaryFile(suffix=".deb") as file:
        file.write(deb)
        file.flush()
        return subprocess.run(["dpkg-deb", "-f", file.name], check=True, capture_output=True,
                              text=True).stdout.strip()


def apt(base):
    packages = debs()
    index = "".join(f"{control_of(deb)}\nFilename: pool/{name}\nSize: {len(deb)}\n"
                    f"SHA256: {hashlib.sha256(deb).hexdigest()}\n\n"
                    for name, deb in packages.items()).encode()
    found = {}
    for archive, suite in (("debian", "bookworm"), ("debian", "bookworm-updates"),
                           ("debian-security", "bookworm-security")):
        lines = [f"Suite: {suite}", f"Codename: {suite}", "Architectures: all amd64",
                 "Components: main", "SHA256:"]
        for arch in ("all", "amd64"):
            lines.append(f" {hashlib.sha256(index).hexdigest()} {len(index)} main/binary-{arch}/Packages")
            found[f"/{archive}/dists/{suite}/main/binary-{arch}/Packages"] = index
        found[f"/{archive}/dists/{suite}/Release"] = ("\n".join(lines) + "\n").encode()
        for name, deb in packages.items():
            found[f"/{archive}/pool/{name}"] = deb
    return found


def main():
    log = open(sys.argv[1], "w", buffering=1)
    files = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            log.write(self.path + "\n")
            path = self.path.split("?")[0]
            body = files.get(path, files.get(path.rstrip("/") + "/", b""))
            self.send_response(200 if body else 404)
            if path.startswith("/simple/"):
                self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    base = f"http://127.0.0.1:{server.server_port}"
    for mirror in (npm, pypi, go, cargo, rubygems, apt):
        files.update(mirror(base))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


main()
