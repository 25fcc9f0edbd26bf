"""A node of the S3 cluster that is killed during uploads, and comes back, loses nothing."""

import time

import photos
from checking import Log, check
from checks.killed_server import compare, leaves_nothing, sync_until_complete
from checks.rclone_tool import Rclone
from garage import Garage
from service import FOLDER, Service
from stores import bucket_server

PHOTOS = 300
FIRST_PHOTO = 70_000
PADDING = 20_000
#: Spreads the transfer over about ten seconds.
BANDWIDTH = "750k"
#: Time that uploads run before a node is killed, and then without the node, in seconds.
PAUSE = 2


@check
def killed_node_loses_nothing(log: Log):
    """Kills each node that the service does not use itself, one after the other, while rclone uploads."""
    garage = bucket_server()
    assert isinstance(garage, Garage)
    service = Service("killed_node")
    service.start()
    try:
        account = service.account("killed-node")
        source = FOLDER / "killed-node"
        photos.write_tree(source, PHOTOS, FIRST_PHOTO, PADDING)
        rclone = Rclone(account, "nextcloud")
        running = rclone.start(log, "sync", source, "--bwlimit", BANDWIDTH)
        for node in garage.nodes[:-1]:
            time.sleep(PAUSE)
            assert running.poll() is None, "the uploads ended before the kill"
            node.kill()
            log.write(f"killed a node with {len(account.files.files())} files uploaded")
            time.sleep(PAUSE)
            node.start()
            log.write(f"started it with {len(account.files.files())} files uploaded")
        running.wait()
        sync_until_complete(log, rclone, source)
        compare(account, source)
        leaves_nothing(log, service)
    finally:
        service.stop()
