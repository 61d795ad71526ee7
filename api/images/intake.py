"""Accepting an uploaded image: a worker reads it with the code that renders use (decision 0230)."""

from __future__ import annotations

from api.admission.body import Body
from api.auth.guard import Principal
from api.jobs.inspection import Inspections
from api.ports import Ports
from api.uploads import digest_of
from shared.db import images
from shared.db.images import ImageFacts
from shared.jobs import BodyKind


class Intake:
    """Finds the facts of uploaded images, for one process of the front."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._inspections = Inspections(ports)

    def inspect(self, body: Body, principal: Principal) -> ImageFacts:
        """Return the facts of an upload that renders can draw; its file stands at its start.

        The workspace's own bytes are not inspected a second time.

        Raises:
            ServiceError: 400 in the words of a render, and what `Inspections.inspect` raises.
        """
        sha256 = digest_of(body)
        with self._ports.database.snapshot() as session:
            known = images.find_facts(session, principal.get_workspace(), sha256)
        if known is not None:
            return known
        found = self._inspections.inspect(BodyKind.IMAGE, body, principal)
        return ImageFacts(found["content_type"], body.size, found["width"], found["height"], sha256)
