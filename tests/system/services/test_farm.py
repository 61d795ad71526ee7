"""The farm on PostgreSQL and S3 does what it does on a file and a folder."""

HELLO = "<document><flow><p>Hello</p></flow></document>"


def test_a_template_with_a_stored_image_renders(account, documents):
    account.store_logo()
    template = account.store_template((documents / "invoice.xml").read_bytes())
    body = (documents / "invoice.json").read_bytes()
    answer = account.render(body, "application/json", f"?template={template}")
    assert (answer.status, answer.pages) == (200, 1), answer.body


def test_a_body_too_large_for_the_queue_crosses_the_object_store(account):
    comment = "<!--" + "x" * (5 * 1024 * 1024) + "-->"
    answer = account.render(HELLO.replace("<flow>", f"{comment}<flow>"))
    assert (answer.status, answer.pages) == (200, 1), answer.body[:500]


def test_nothing_of_the_farm_lies_in_the_folder_beside_redis_and_logs(farm):
    assert not farm.folder.database.exists()
    assert list(farm.folder.blobs.iterdir()) == []
