"""Configuration of a command on recorded events, with the threshold that its option gives."""

from __future__ import annotations

from argparse import Namespace

from monitor.config import Config, ModelConfig, load_config


def given_config(args: Namespace) -> Config:
    """Return the configuration, without one that of any model; `--threshold` replaces thresholds.

    Args:
        args: as parsed.

    Raises:
        MonitorError: the configuration has faults.
    """
    config = load_config(args.config) if args.config else Config.without_file()
    return config if args.threshold is None else with_threshold(config, args.threshold)


def with_threshold(config: Config, threshold: float) -> Config:
    """Return the configuration with another threshold of all models of two classes.

    Args:
        config: the configuration.
        threshold: scores at or above it are positive predictions.
    """

    def decided(model: ModelConfig) -> ModelConfig:
        given = None if model.has_many_classes else threshold
        return model.model_copy(update={"threshold": given})

    models = {name: decided(model) for name, model in config.models.items()}
    return config.model_copy(update={"defaults": decided(config.defaults), "models": models})
