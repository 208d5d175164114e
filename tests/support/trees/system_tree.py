"""A root file system of packages that this machine has installed, as debootstrap leaves one.

Usage: system_tree.py TREE DEBS [OWNER]   fills the empty directory TREE.
It holds what Debian calls essential, apt, pip and npm where this machine has them as packages, and what the packages in the
directory DEBS depend on, but not those themselves. OWNER is the number of the user to whom all of it is given.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

DPKG = "/var/lib/dpkg"
# Nothing of it is needed; with it there were twice as many files to copy, and to remove.
LEFT_OUT = re.compile("/usr/(include|lib/node_modules/corepack|share/"
                      "(doc|man|info|locale|lintian|bug|zoneinfo|bash-completion|ca-certificates))/")
# What base-passwd makes the accounts of.
MASTERS = {"passwd": "/usr/share/base-passwd/passwd.master", "group": "/usr/share/base-passwd/group.master"}


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


class Packages:
    """Those that are installed, by name and by what they provide."""

    def __init__(self):
        self.stanzas, self.fields, self.providers = {}, {}, {}
        for stanza in read(DPKG + "/status").split("\n\n"):
            unfolded = re.sub("\n[ \t]", " ", stanza)
            fields = dict(line.split(": ", 1) for line in unfolded.splitlines() if ": " in line)
            if fields.get("Status", "").split()[-1:] != ["installed"]:
                continue
            name = fields["Package"]
            self.stanzas.setdefault(name, []).append(stanza)
            self.fields.setdefault(name, fields)
            for provided in names_of(fields.get("Provides", "")):
                self.providers.setdefault(provided[0], name)

    def essential(self):
        return [name for name, fields in self.fields.items() if fields.get("Essential") == "yes"]

    def with_dependencies(self, wanted, apart_from):
        found, pending = set(), list(wanted)
        while pending:
            name = pending.pop()
            if name in found or name in apart_from:
                continue
            found.add(name)
            fields = self.fields[name]
            for field in ("Pre-Depends", "Depends"):
                pending += self.chosen(fields.get(field, ""))
        return found

    def chosen(self, dependencies):
        """Of each dependency that this machine satisfies, the package that does."""
        for alternatives in names_of(dependencies):
            here = [name if name in self.fields else self.providers.get(name) for name in alternatives]
            here = [name for name in here if name]
            if here:
                yield here[0]


def names_of(dependencies):
    for group in dependencies.split(","):
        names = [re.split("[ (:\\[]", part.strip(), maxsplit=1)[0] for part in group.split("|")]
        if names[0]:
            yield names


def control(deb, field):
    return subprocess.run(["dpkg-deb", "-f", deb, field], check=True, capture_output=True, text=True).stdout.strip()


def info_of(names):
    """The files that dpkg keeps of them."""
    for path in sorted(glob.glob(DPKG + "/info/*")):
        stem = os.path.basename(path).rsplit(".", 1)[0]
        if stem.split(":")[0] in names or path.endswith("/format"):
            yield path


class Tree:
    def __init__(self, top):
        self.top = top

    def path(self, path):
        """Where a path of the machine is in the tree; directories on the way may be links there as here."""
        parent = os.path.realpath(os.path.dirname(path))
        return self.top + os.path.join(parent, os.path.basename(path))

    def copy(self, path):
        target = self.path(path)
        if os.path.lexists(target) or not os.path.lexists(path):
            return
        self.copy_parent(path)
        info = os.lstat(path)
        if os.path.islink(path):
            os.symlink(os.readlink(path), target)
        elif os.path.isdir(path):
            os.mkdir(target)
        else:
            shutil.copyfile(path, target)
        os.lchown(target, info.st_uid, info.st_gid)
        if not os.path.islink(path):
            os.chmod(target, info.st_mode & 0o7777)

    def copy_parent(self, path):
        parent = os.path.realpath(os.path.dirname(path))
        if parent != "/" and not os.path.lexists(self.top + parent):
            self.copy(parent)

    def copy_all(self, directory):
        for here, directories, files in os.walk(directory):
            for name in [""] + directories + files:
                self.copy(os.path.join(here, name).rstrip("/"))

    def write(self, path, text):
        target = self.path(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def give(self, owner):
        """As if that user had unpacked it: no file is anybody else's."""
        for here, directories, files in os.walk(self.top):
            for name in [""] + directories + files:
                path = os.path.join(here, name)
                mode = os.lstat(path).st_mode
                os.lchown(path, owner, owner)
                if not os.path.islink(path):
                    os.chmod(path, mode & 0o7777)


def put_files(tree, names):
    for path in info_of(names):
        tree.copy(path)
        if path.endswith(".list"):
            for line in read(path).splitlines():
                if line != "/." and not LEFT_OUT.match(line):
                    tree.copy(line)


def put_database(tree, packages, names):
    stanzas = [stanza for name in sorted(names) for stanza in packages.stanzas[name]]
    tree.write(DPKG + "/status", "\n\n".join(stanza.strip("\n") for stanza in stanzas) + "\n")
    for name in ("available", "diversions"):
        tree.write(f"{DPKG}/{name}", "" if name == "available" else read(f"{DPKG}/{name}"))
    os.makedirs(tree.path(DPKG + "/updates"), exist_ok=True)
    for path in glob.glob(DPKG + "/triggers/*"):
        if os.path.basename(path) in ("Lock", "Unincorp"):  # what waits to be done on this machine
            continue
        kept = [line for line in read(path).splitlines(True)
                if re.split("[/: ]", line.split()[-1])[0] in names]
        if kept:
            tree.write(path, "".join(kept))


def put_alternatives(tree):
    """Of the links that are this machine's choice those whose programs are there."""
    for path in glob.glob(DPKG + "/alternatives/*"):
        lines = read(path).split("\n")
        end = lines.index("", 1)
        links = [(os.path.basename(path), lines[1])] + list(zip(lines[2:end:2], lines[3:end:2]))
        for name, link in links:
            choice = f"/etc/alternatives/{name}"
            if os.path.islink(choice) and os.path.exists(tree.path(os.readlink(choice))):
                tree.copy(choice)
                tree.copy(link)
                tree.copy(path)


def put_accounts(tree):
    for name, master in MASTERS.items():
        tree.write(f"/etc/{name}", read(master).replace(":*:", ":x:", 0 if name == "group" else -1))
    for name, source in (("shadow", "passwd"), ("gshadow", "group")):
        accounts = [line.split(":")[0] for line in read(tree.path(f"/etc/{source}")).splitlines()]
        empty = ":*:19700:0:99999:7:::\n" if name == "shadow" else ":*::\n"
        tree.write(f"/etc/{name}", "".join(account + empty for account in accounts))
        os.chmod(tree.path(f"/etc/{name}"), 0o640)


def clients(packages):
    """The packages of pip and npm, and the directory of an npm that has put a newer one into its package's place."""
    wanted = ["python3-pip"] if "python3-pip" in packages.fields else []
    program = shutil.which("npm", path="/usr/local/bin:/usr/bin:/bin")
    owner = subprocess.run(["dpkg", "-S", program or "/"], capture_output=True, text=True)
    if not program or owner.returncode != 0:
        return wanted, []
    top = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    return wanted + [owner.stdout.split(":")[0]], [top] if os.path.basename(top) == "npm" else []


def main():
    tree, packages = Tree(os.path.realpath(sys.argv[1])), Packages()
    debs = sorted(glob.glob(sys.argv[2] + "/*.deb"))
    own = {control(deb, "Package") for deb in debs}
    wanted, directories = clients(packages)
    wanted += packages.essential() + ["apt", "adduser"]
    for deb in debs:
        wanted += packages.chosen(control(deb, "Depends"))
    names = packages.with_dependencies(wanted, own)
    os.chmod(tree.top, 0o755)
    for name in ("bin", "sbin", "lib", "lib64"):
        tree.copy("/" + name)
    put_files(tree, names)
    for directory in directories:
        tree.copy_all(directory)
    put_database(tree, packages, names)
    put_alternatives(tree)
    put_accounts(tree)
    for name in ("/tmp", "/var/lib/apt/lists/partial", "/var/cache/apt/archives/partial"):
        os.makedirs(tree.path(name), exist_ok=True)
    if len(sys.argv) > 3:
        tree.give(int(sys.argv[3]))


main()
