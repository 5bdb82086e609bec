"""An executor without a thread."""

from concurrent.futures import Future


class AtOnce:
    """Does at once what a thread would do."""

    def submit(self, work, *args):
        done = Future()
        try:
            done.set_result(work(*args))
        except Exception as error:  # noqa: BLE001  # as an executor does
            done.set_exception(error)
        return done

    def shutdown(self, **_):
        pass
