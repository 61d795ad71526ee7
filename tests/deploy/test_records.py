"""The records of the client and of the Studio are those of the API's description."""

from __future__ import annotations

from api.app import describe_api
from deploy.tools.records import CLIENT, STUDIO, write_client, write_studio


def test_the_written_records_are_current():
    schemas = describe_api()["components"]["schemas"]
    assert CLIENT.read_text() == write_client(schemas), "make records"
    assert STUDIO.read_text() == write_studio(schemas), "make records"
