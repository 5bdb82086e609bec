"""Settings of inference payloads: where requests and responses hold the fields of events."""

from collections.abc import Mapping
from typing import Self

from pydantic import NonNegativeInt, model_validator

from monitor.config import quantities as q
from monitor.config.fields import Name, Section, SegmentKey, setting


class Tensor(Section):
    """Location of a value within each row of an inference payload, protocol V1 or V2."""

    name: Name | None = setting(
        None, "Name of the tensor (V2), or key within each row (V1). Default: the first tensor."
    )
    index: NonNegativeInt | None = setting(
        None, "Zero-based position within a row that has several values."
    )


class ScoresOfClasses(Section):
    """Location of the scores of all classes within each row of an inference payload."""

    name: Name | None = setting(
        None,
        "Name of the tensor (V2), or key within each row (V1), with a value for each class in the "
        "configured order. Default: the first tensor.",
    )


class PredictedClass(Tensor):
    """Location of the predicted class, and which class is positive."""

    positive: Name | None = setting(
        None, "Name of the positive class, where classes are not 0 and 1."
    )


class InferenceConfig(Section):
    """How to extract predictions from the payloads that inference servers log as CloudEvents."""

    model: Name | None = setting(
        None, "Model of the predictions. Default: the event's inference service."
    )
    score: Tensor | None = setting(None, "Location of the score in the response.")
    scores: ScoresOfClasses | None = setting(
        None, "Location of the scores in the response of a model of more than two classes."
    )
    prediction: PredictedClass | None = setting(
        None,
        "Location of the predicted class in the response; required where the model has no "
        "threshold and no scores of its classes.",
    )
    id: Tensor | None = setting(
        None, "Location of each row's id in the request. Default: the id of the event."
    )
    segments: Mapping[SegmentKey, Tensor] = setting(
        {}, "Location of each segment key's value in the request."
    )

    @model_validator(mode="after")
    def _score_or_prediction(self) -> Self:
        if self.score is None and self.scores is None and self.prediction is None:
            raise q.unfit("must locate score, scores or prediction", "write score: {index: 1}")
        return self

    @property
    def needs_requests(self) -> bool:
        """True where predictions need fields of the request, too."""
        return self.id is not None or bool(self.segments)
