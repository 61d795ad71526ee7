"""The worker's Celery application: `celery -A workers.farm.app worker` starts one, and
`celery -A workers.farm.app inspect` asks those that run.
"""

from __future__ import annotations

from workers.engine.pipeline import prepare_template, render, validate
from workers.farm.rehearsal import rehearse
from workers.farm.run import Engine
from workers.farm.worker import create_worker_app

app = create_worker_app(Engine(prepare_template, render, validate), rehearse=rehearse)
