#!/usr/bin/env python3
"""An image is a stranger's: links in its root file system lead out of it wherever the node makes, mounts or writes something."""

import os
import sys
import unittest

from attack_case import AttackCase

import up_test
from pod_case import with_container
from up_test import PODS, make_root, pod

SECRET = "of-the-machine"
# Where the node puts something into a container, and where the pod below asks for a volume.
PLACES = ("data", "dev", "etc", "etc/hosts", "etc/hostname", "etc/resolv.conf", "proc", "sys", "tmp", "var", "var/run", "run", "home", "root", "dev/termination-log", "dev/shm",
          "var/run/secrets")
SCRIPT = """
cat /data/secret /etc/secret /etc/hosts /etc/hostname /dev/secret /proc/secret /tmp/secret /var/secret /var/run/secret /run/secret /out/secret /up/secret 2>/dev/null
for place in /data /dev /etc /proc /sys /tmp /var /var/run /run /home /root /dev/shm /out /up /var/run/secrets; do
  echo written > $place/written-by-pod 2>/dev/null
done
for file in /etc/hosts /etc/hostname /etc/resolv.conf /dev/termination-log; do
  echo written >> $file 2>/dev/null
done
true
"""


class Images(AttackCase):
    def check(self):
        self.phases = []
        for number, place in enumerate(PLACES):
            for how in ("absolute", "relative"):
                with self.subTest(f"{place}, {how}"):
                    self.try_link(f"p-{number}-{how}", place, how)
        # Most of them run; otherwise nothing was tried.
        self.assertGreater(self.phases.count("Succeeded"), len(self.phases) / 2, self.phases)

    def try_link(self, name, place, how):
        victim = self.scratch / ("victim-" + name)
        victim.mkdir()
        victim.chmod(0o777)
        (victim / "secret").write_text(SECRET)
        (victim / "secret").chmod(0o666)
        target = victim / "secret" if place in ("etc/hosts", "etc/hostname", "etc/resolv.conf", "dev/termination-log") else victim
        root = self.scratch / name
        make_root(root, "/bin/sh", "/bin/cat")
        link = root / place
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.is_dir():
            link.rmdir()
        link.symlink_to(target if how == "absolute" else os.path.join("../" * 30, str(target).lstrip("/")))
        (root / "out").symlink_to(victim)
        (root / "up").symlink_to(os.path.join("../" * 30, str(victim).lstrip("/")))
        self.add_image(name + ":1", "--rootfs", str(root))
        body = pod(name, SCRIPT, restartPolicy="Never", volumes=[{"name": "v", "emptyDir": {}}])
        mounts = [{"name": "v", "mountPath": path} for path in ("/data", "/out/made", "/up/made/deep")]
        self.cluster.post(PODS, with_container(body, image=name + ":1", volumeMounts=mounts))
        # A container may also fail: no harm is what counts.
        found = self.cluster.wait_for(PODS + "/" + name, lambda one: one["status"].get("phase") in ("Succeeded", "Failed") or self.is_refused(one))
        self.phases.append(found["status"]["phase"])
        if found["status"]["phase"] == "Succeeded":
            self.assertNotIn(SECRET, self.cluster.open(f"{PODS}/{name}/log"))
        self.delete(f"{PODS}/{name}", gracePeriodSeconds=0)
        self.assertEqual([one.name for one in victim.iterdir()], ["secret"])
        self.assertEqual((victim / "secret").read_text(), SECRET)

    @staticmethod
    def is_refused(found):
        reasons = [one["state"].get("waiting", {}).get("reason") for one in found["status"].get("containerStatuses", [])]
        return any(reason in ("CreateContainerError", "CreateContainerConfigError", "RunContainerError", "CrashLoopBackOff") for reason in reasons)

    def test_links_of_an_image_do_not_lead_out_of_it(self):
        self.start()
        if any("not isolated" in line for line in self.cluster.lines):
            self.skipTest("namespaces are forbidden here: " + "".join(self.cluster.lines))
        self.check()


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
