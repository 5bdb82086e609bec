"""Settings of inference payloads: where in a request or response a number or text is found."""

from collections.abc import Mapping
from typing import Self

from pydantic import NonNegativeInt, model_validator

from monitor.config import quantities as q
from monitor.config.fields import Name, Section, SegmentKey, setting


class Tensor(Section):
    """A place in the payload of an inference server, V1 or V2, the same for each row."""

    name: Name | None = setting(
        None, "Name of the tensor (V2), or key of each row (V1); the first tensor if left out."
    )
    index: NonNegativeInt | None = setting(
        None, "Position within a row that holds several values, from 0 on."
    )


class PredictedClass(Tensor):
    """Where the predicted class is found, and which one is positive."""

    positive: Name | None = setting(
        None, "The class that is the positive one, where classes are not 0 and 1."
    )


class InferenceConfig(Section):
    """What is taken out of the payloads that inference servers log as CloudEvents."""

    model: Name | None = setting(
        None, "Model of the predictions; the inference service of the event if left out."
    )
    score: Tensor | None = setting(None, "Where a response holds the score.")
    prediction: PredictedClass | None = setting(
        None, "Where a response holds the predicted class; needed where the model has no threshold."
    )
    id: Tensor | None = setting(
        None, "Where a request holds the id of each row; the id of the event if left out."
    )
    segments: Mapping[SegmentKey, Tensor] = setting(
        {}, "Where a request holds the value of each segment key."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.score is None and self.prediction is None:
            raise q.unfit("must say where score or prediction are found", "write score: {index: 1}")
        return self

    @property
    def needs_requests(self) -> bool:
        """Whether a response alone is not enough."""
        return self.id is not None or bool(self.segments)
