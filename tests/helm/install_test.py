#!/usr/bin/env python3
"""install_test.py CODEFLARE: the life of a release of codeflare-platform on `codeflare up`, whose own controllers lead, by Helm (CODEFLARE_HELM), with the
image that tools/image.py makes."""

import contextlib
import pathlib
import sys
import time
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, VERSION, Commands, Up  # noqa: E402
from release_case import DEFINITION, FIELD, FIELD_PATH, HELM, NAMESPACE, RELEASE, ReleaseCase  # noqa: E402


@contextlib.contextmanager
def up_cluster(program, folder, archive):
    up = Up(program, folder, archive)
    try:
        yield up.kubeconfig
    finally:
        up.stop()


class Install(ReleaseCase):
    @classmethod
    def setUpClass(cls):
        bin_dir = charts.tools(HELM, "kubectl")
        program = charts.static_program()
        folder = charts.fresh_folder()
        cls.addClassCleanup(folder.cleanup)
        at = pathlib.Path(folder.name)
        archive = charts.image_archive(program, at)
        kubeconfig = cls.enterClassContext(up_cluster(program, at, archive))
        cls.commands = Commands(kubeconfig, bin_dir, program, at)

    def test_a_release_from_install_to_uninstall(self):
        run = self.commands
        self.say_version()
        began = time.monotonic()
        self.install()
        print(f"install --wait took {time.monotonic() - began:.1f} s", file=sys.stderr)
        self.assertEqual(run.get("deployment", RELEASE, "-n", NAMESPACE)["status"].get("readyReplicas"), 1)
        self.check_leader()
        self.check_test()
        # `codeflare up` has brought the definitions itself; this makes one of an earlier version.
        path = "/".join(map(str, ("", *FIELD_PATH, FIELD)))
        run.kubectl("patch", "crd", DEFINITION, "--type=json", "-p", f'[{{"op":"remove","path":"{path}"}}]')
        self.assertFalse(self.definition_has_field())
        self.helm("upgrade", RELEASE, ROOT / "platform", "--wait", "--set", "core.podLabels.round=two")
        self.assertTrue(self.definition_has_field(), "the hook has changed it")
        self.check_field_is_stored(True)
        self.check_authority()
        self.helm("rollback", RELEASE, "1", "--wait")
        self.check_uninstall_waits_for_work()
        self.uninstall()

    def check_leader(self):
        holder = self.commands.get("lease", "codeflare-controller", "-n", NAMESPACE)["spec"]["holderIdentity"]
        pod = self.commands.get("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=controller")["items"][0]
        self.assertTrue(all(one["image"].endswith(f"codeflare:{VERSION}") for one in pod["spec"]["containers"]))
        self.assertTrue(holder.startswith("codeflare-up_"), holder)
        log = self.commands.kubectl("logs", "-n", NAMESPACE, pod["metadata"]["name"])
        self.assertIn("standing by: another controller leads", log)
        self.assertNotIn('"level":"error"', log)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
