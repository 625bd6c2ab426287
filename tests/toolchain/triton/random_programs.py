"""Random kernels without barriers, each as CUDA and as the Python that one thread of it runs."""

from random import Random

VARIABLES = ("a", "b", "c")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Program:
    """Writes one kernel `name(const int* x, int* y, int n)`; `cuda` and `python` are its two texts."""

    def __init__(self, name: str, seed: int) -> None:
        self._random = Random(seed)
        self._cuda: list[str] = []
        self._python: list[str] = []
        self._loops: list[str] = []
        self._fresh = 0
        self._readable = ["t", "n", *VARIABLES]
        self._helper(name)
        self._kernel(name)
        self.cuda = "\n".join(self._cuda)
        self.python = "\n".join(self._python)

    def _helper(self, name: str) -> None:
        self._cuda.append(f"__device__ int {name}_of(int p, int& q) {{")
        self._python.append(f"def {name}_of(p, q):")
        self._readable = ["p", "q"]
        self._returns = ("return {};", "return wrap({}), q")
        for _ in range(2):
            self._branch(1, ("q",))
        self._leave(1)
        self._cuda.append("}")

    def _kernel(self, name: str) -> None:
        self._readable = ["t", "n", *VARIABLES]
        self._returns = ("y[t] = {}; return;", "return wrap({})")
        self._helper_name = f"{name}_of"
        self._cuda += [
            f"__global__ void {name}(const int* x, int* y, int n) {{",
            "int t = threadIdx.x;",
            "int a = x[t], b = t % 7, c = n;",
        ]
        self._python += [f"def {name}(x, t, n):", " a, b, c = x[t], t % 7, n"]
        for _ in range(self._random.randint(3, 6)):
            self._statement(1, VARIABLES)
        self._leave(1)
        self._cuda.append("}")

    def _emit(self, depth: int, cuda: str, python: str) -> None:
        if cuda:
            self._cuda.append(cuda)
        self._python.append(" " * depth + python)

    def _expression(self, depth: int = 2) -> tuple[str, str]:
        """An int in both languages; the Python text is wrapped by whoever assigns it."""
        kind = self._random.randrange(8) if depth else self._random.randrange(2)
        if kind == 0:
            name = self._random.choice(self._readable)
            return name, name
        if kind == 1:
            value = str(self._random.randint(-9, 99))
            return f"({value})", f"({value})"
        left, right = self._expression(depth - 1), self._expression(depth - 1)
        if kind == 2:
            condition = self._condition()
            return f"({condition[0]} ? {left[0]} : {right[0]})", f"({left[1]} if {condition[1]} else {right[1]})"
        if kind == 3:
            operator = self._random.choice("/%")
            return f"({left[0]} {operator} ({right[0]} % 5 + 6))", f"div('{operator}', {left[1]}, {right[1]})"
        if kind == 4:
            amount = self._random.randint(0, 4)
            return f"({left[0]} >> {amount})", f"(wrap({left[1]}) >> {amount})"
        operator = self._random.choice("+-*&|^")
        return f"({left[0]} {operator} {right[0]})", f"wrap({left[1]} {operator} {right[1]})"

    def _condition(self) -> tuple[str, str]:
        operator = self._random.choice(COMPARISONS)
        left, right = self._expression(1), self._expression(1)
        plain = f"{left[0]} {operator} {right[0]}", f"wrap({left[1]}) {operator} wrap({right[1]})"
        if self._random.random() < 0.3 and "t" in self._readable:
            joint, word = self._random.choice((("&&", "and"), ("||", "or")))
            index = f"{self._random.choice(self._readable)}"
            return (
                f"({plain[0]} {joint} x[{index} & 31] > 3)",
                f"({plain[1]} {word} x[{index} & 31] > 3)",
            )
        return f"({plain[0]})", f"({plain[1]})"

    def _statement(self, depth: int, targets: tuple[str, ...]) -> None:
        kind = self._random.randrange(10)
        if depth > 4 or kind < 3:
            self._assign(depth, targets)
        elif kind < 6:
            self._branch(depth, targets)
        elif kind == 6:
            self._for(depth, targets)
        elif kind == 7:
            self._while(depth, targets)
        elif kind == 8:
            self._call(depth, targets)
        else:
            self._switch(depth, targets)

    def _assign(self, depth: int, targets: tuple[str, ...]) -> None:
        target = self._random.choice(targets)
        value = self._expression()
        if self._random.random() < 0.4:
            self._emit(depth, f"{target} += {value[0]};", f"{target} = wrap({target} + {value[1]})")
        else:
            self._emit(depth, f"{target} = {value[0]};", f"{target} = wrap({value[1]})")

    def _body(self, depth: int, targets: tuple[str, ...], leaving: bool) -> None:
        for _ in range(self._random.randint(1, 2)):
            self._statement(depth, targets) if len(self._readable) > 2 else self._assign(depth, targets)
        if leaving and self._random.random() < 0.5:
            if self._loops and self._random.random() < 0.7:
                word = self._random.choice(("break", "continue"))
                self._emit(depth, f"{word};", word)
            else:
                self._leave(depth)

    def _leave(self, depth: int) -> None:
        value = self._expression()
        self._emit(depth, self._returns[0].format(value[0]), self._returns[1].format(value[1]))

    def _branch(self, depth: int, targets: tuple[str, ...]) -> None:
        condition = self._condition()
        self._emit(depth, f"if {condition[0]} {{", f"if {condition[1]}:")
        self._body(depth + 1, targets, leaving=True)
        if self._random.random() < 0.5:
            self._emit(depth, "} else {", "else:")
            self._body(depth + 1, targets, leaving=True)
        self._cuda.append("}")

    def _for(self, depth: int, targets: tuple[str, ...]) -> None:
        self._fresh += 1
        name = f"i{self._fresh}"
        start = self._random.choice(("0", "1", "t", "b & 3"))
        bound = self._random.choice(("4", "n", "(a & 7)", "t + 3"))
        step = self._random.choice(("1", "2", "n"))
        self._cuda.append(f"for (int {name} = {start}; {name} < {bound}; {name} += {step}) {{")
        self._emit(depth, "", f"for {name} in counting({start}, lambda: {bound}, lambda: {step}):")
        self._loops.append(name)
        self._readable.append(name)
        steady = tuple(v for v in targets if v not in bound and v not in step)
        self._body(depth + 1, steady or ("c",), leaving=True)
        self._readable.remove(name)
        self._loops.pop()
        self._cuda.append("}")

    def _while(self, depth: int, targets: tuple[str, ...]) -> None:
        self._fresh += 1
        name = f"w{self._fresh}"
        condition = self._condition()
        most = self._random.randint(1, 5)
        self._cuda.append(f"int {name} = 0; while ({name}++ < {most} && {condition[0]}) {{")
        self._emit(depth, "", f"{name} = 0")
        self._emit(depth, "", "while True:")
        self._emit(depth + 1, "", f"{name} += 1")
        self._emit(depth + 1, "", f"if not ({name} <= {most} and {condition[1]}): break")
        self._loops.append(name)
        self._body(depth + 1, targets, leaving=True)
        self._loops.pop()
        self._cuda.append("}")

    def _call(self, depth: int, targets: tuple[str, ...]) -> None:
        target, changed = self._random.sample(VARIABLES, 2)
        if target not in targets or changed not in targets:
            self._assign(depth, targets)
            return
        value = self._expression(1)
        self._emit(
            depth,
            f"{target} = {self._helper_name}({value[0]}, {changed});",
            f"{target}, {changed} = {self._helper_name}(wrap({value[1]}), {changed})",
        )

    def _switch(self, depth: int, targets: tuple[str, ...]) -> None:
        value = self._expression(1)
        self._emit(depth, f"switch (({value[0]}) & 3) {{", f"selected = wrap({value[1]}) & 3")
        for case in range(3):
            self._emit(depth, f"case {case}:", f"{'el' if case else ''}if selected == {case}:")
            self._assign(depth + 1, targets)
            self._cuda.append("break;")
        self._emit(depth, "default:", "else:")
        self._assign(depth + 1, targets)
        self._cuda.append("}")


def wrap(value: int) -> int:
    """`value` as a 32-bit int."""
    return (value + 2**31) % 2**32 - 2**31


def div(operator: str, left: int, right: int) -> int:
    """`left / (right % 5 + 6)` or the remainder, as C has them."""
    left, right = wrap(left), wrap(right)
    by = (abs(right) % 5 * (1 if right >= 0 else -1)) + 6
    quotient = abs(left) // by * (1 if left >= 0 else -1)
    return quotient if operator == "/" else left - quotient * by


def counting(start, bound, step):
    """The values of a loop's counter; bound and step are asked every time round."""
    value = start
    while value < bound():
        yield value
        value += step()


def run(program: Program, name: str, x: list[int], n: int) -> list[int]:
    """Returns what the threads of the kernel leave in y."""
    scope = {"wrap": wrap, "div": div, "counting": counting}
    exec(program.python, scope)
    return [scope[name](x, t, n) for t in range(len(x))]
