"""PostgreSQL servers to be crashed, copied and promoted. Each is a `tools/throwaway-postgres` of its own."""

import os
import pathlib
import shutil
import subprocess

from harness.scene import SOURCE, Scene

BIN = pathlib.Path(os.environ.get("LEASEHOLD_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"))
SCRIPT = SOURCE / "tools" / "throwaway-postgres"


def as_server(*command: object) -> list[str]:
    """PostgreSQL refuses to run as root."""
    prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] if os.getuid() == 0 else []
    return prefix + [str(word) for word in command]


class PostgresServer:
    """Runs until the end of the scene. `prefix` starts it elsewhere, such as in a network namespace."""

    def __init__(self, scene: Scene, name: str, *settings: str, prefix: tuple[str, ...] = (),
                 folder: pathlib.Path | None = None):
        self.scene = scene
        self.folder = folder or scene.make_folder(name)
        self.prefix = prefix
        self.settings = settings
        scene.at_end(self._script, "stop")
        self.url = self._script("start", *settings)

    @property
    def data(self) -> pathlib.Path:
        return self.folder / "data"

    @property
    def port(self) -> int:
        return int((self.folder / "port").read_text(encoding="ascii"))

    @property
    def socket_url(self) -> str:
        """By a socket file, which is reachable from every network namespace."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def kill9(self) -> None:
        """All its processes at once."""
        self._script("kill9")

    def restart(self) -> None:
        self._script("restart")

    def stop(self) -> None:
        self._script("stop")

    def stop_immediately(self) -> None:
        """Like a crash, by command: it stops at once, and recovers at its next start."""
        self.control("stop", "-m", "immediate", "-w", "-t", "60")

    def promote(self) -> None:
        self.control("promote", "-w", "-t", "60")

    def control(self, *words: str) -> None:
        run(as_server(BIN / "pg_ctl", "-D", self.data, "-s", *words), self.folder)

    def psql(self, statement: str) -> str:
        return run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement, self.socket_url], self.folder)

    def copy_to(self, folder: pathlib.Path, *options: str) -> None:
        """Makes a copy with pg_basebackup that can be started in that folder."""
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        run(as_server(BIN / "pg_basebackup", "-D", folder / "data", "-d", self.socket_url, "-c", "fast", *options),
            folder)
        with open(folder / "data" / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(f"unix_socket_directories = '{folder}'\n")

    def standby(self, name: str) -> "PostgresServer":
        """Streams from this one."""
        folder = self.scene.make_folder(name)
        self.copy_to(folder, "-R")
        return PostgresServer(self.scene, name, prefix=self.prefix, folder=folder)

    def _script(self, command: str, *words: str) -> str:
        return run([*self.prefix, str(SCRIPT), command, str(self.folder), *words], self.folder)


def run(command: list[str], folder: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()
