"""Stands in for the build backend of the one package that the demo downloads for its data."""

import os


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "mingru_pytorch-0.2.1.dist-info"
    folder = os.path.join(metadata_directory, name)
    os.makedirs(folder)
    with open(os.path.join(folder, "METADATA"), "w") as metadata:
        metadata.write("Metadata-Version: 2.1\nName: mingru-pytorch\nVersion: 0.2.1\n")
    return name
