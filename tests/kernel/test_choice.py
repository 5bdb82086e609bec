import pytest

from monitor.errors import UsageError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.kernel import choice, compiled_module, kernel_in_use

INSTALLED = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
LABEL = b'{"type":"label","id":"a","ts":1,"label":1}\n'


@INSTALLED
def test_the_compiled_kernel_runs_where_it_is_installed():
    assert kernel_in_use({}) == kernel_in_use({"PRECISION_MONITOR_KERNEL": "c"}) == "c"


def test_the_environment_chooses_python():
    assert kernel_in_use({"PRECISION_MONITOR_KERNEL": "python"}) == "python"


@pytest.mark.parametrize("wanted", ["C", "rust", " "])
def test_an_unknown_kernel_is_an_error_that_names_it(wanted):
    with pytest.raises(UsageError, match=f"must be c or python, got {wanted!r}"):
        kernel_in_use({"PRECISION_MONITOR_KERNEL": wanted})


@pytest.fixture
def fresh():
    """The module is looked for anew, and again after the test."""
    compiled_module.cache_clear()
    yield
    compiled_module.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_without_a_compiled_kernel_python_runs_and_c_is_an_error(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(choice, "import_module", missing)
    assert kernel_in_use({}) == "python"
    assert len(Decoder(DecodeSettings()).decode_lines(LABEL, source="t").labels) == 1
    with pytest.raises(UsageError, match="has no compiled kernel, got 'c'; install a C compiler"):
        kernel_in_use({"PRECISION_MONITOR_KERNEL": "c"})


@INSTALLED
@pytest.mark.usefixtures("fresh")
def test_a_kernel_of_another_source_does_not_run(monkeypatch, tmp_path):
    for source in choice._FOLDER.glob("*.[ch]"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    monkeypatch.setattr(choice, "_FOLDER", tmp_path)
    assert kernel_in_use({}) == "c"
    compiled_module.cache_clear()
    with (tmp_path / "json.h").open("a") as header:
        header.write("/* edited since */")
    assert kernel_in_use({}) == "python"
