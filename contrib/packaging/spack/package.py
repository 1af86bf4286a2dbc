# SPDX-License-Identifier: BSD-2-Clause
#
# evenstep for Spack, from a source tree:
#
#   mkdir -p REPO/packages/evenstep && cp package.py REPO/packages/evenstep/
#   echo 'repo: {namespace: evenstep}' >REPO/repo.yaml && spack repo add REPO
#   spack dev-build --source-path SOURCES evenstep@VERSION
#
# With +plugin also the SPANK plugin, for the one release of Slurm that it is built
# with: PREFIX/lib/slurm/evenstep.so, to be named in plugstack.conf.

from spack.package import *


class Evenstep(MakefilePackage):
    """Job-step launcher that lets the unequal nodes of a Slurm job finish together."""

    license("BSD-2-Clause")

    version("0.2.0")

    variant("plugin", default=False, description="Build the SPANK plugin of Slurm")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("graphviz")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("libconfuse")
    depends_on("libevent")
    depends_on("libsodium")
    depends_on("ncurses")
    depends_on("openssl@1.1:")
    depends_on("pmix@4:")
    depends_on("xxhash")
    depends_on("lz4")
    depends_on("zstd")
    depends_on("slurm@22-05:", when="+plugin")

    conflicts("platform=darwin", msg="evenstep needs Linux")
    conflicts("platform=windows", msg="evenstep needs Linux")

    @property
    def places(self):
        return [
            f"PREFIX={self.prefix}",
            f"sysconfdir={self.prefix.etc}",
            f"plugindir={self.prefix.lib.slurm}",
        ]

    def build(self, spec, prefix):
        """All is built by make install, which must know the same places."""

    def install(self, spec, prefix):
        target = "install" if spec.satisfies("+plugin") else "install-user"
        make(*self.places, target)
