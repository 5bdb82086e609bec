"""The compiled kernel: the hot path in C, where it is installed.

    choice       which kernel runs: "c" or "python"
    compiled     the extension module, from the C files here; its stub says what it gives

It is plain C; `compiled.c` lists its files. Cython was the other candidate: without Python
objects its code is C in another spelling, its readers also have to know what it generates, and a
checkout would not build without it. A scanner of bytes needs comparisons and little else, and
sanitizers run on C directly.

The kernel only makes things faster. The Python code stays whole, is what runs without a C
compiler, and is what tests compare the kernel with, bit for bit.
"""

from monitor.kernel.choice import Kernel, compiled_module, kernel_in_use

__all__ = ["Kernel", "compiled_module", "kernel_in_use"]
