"""Map the source folders to the one package that users import."""

from setuptools import find_packages, setup

FOLDERS = {"paramid": "harness", "paramid.methods": "methods", "paramid.tasks": "tasks"}

setup(
    package_dir=FOLDERS,
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{sub}" for sub in find_packages(folder)))
    ],
    package_data={"paramid": ["py.typed", "suites/*.toml", "templates/*.py", "board/*.css", "board/*.js"]},
)
