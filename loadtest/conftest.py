"""Imports locust before the tests do, without its patches of modules that pytest uses already."""

import os

os.environ["LOCUST_SKIP_MONKEY_PATCH"] = "1"
__import__("locust")
del os.environ["LOCUST_SKIP_MONKEY_PATCH"]  # the runs that tests start need them
