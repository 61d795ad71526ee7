"""The worker's Celery application: `celery -A workers.farm.app worker` starts one, and
`celery -A workers.farm.app inspect` queries running ones.
"""

from __future__ import annotations

from workers.engine.pipeline import prepare_template, render, validate
from workers.farm.worker import create_worker_app
from workers.render.run import Engine
from workers.render.warm_up import warm_up

app = create_worker_app(Engine(prepare_template, render, validate), warm_up=warm_up)
