"""Finds the places of Swift sources that a mutant can change, and writes the sources with drawn mutants.

It reads tokens, matches brackets and splits blocks into statements; the compiler judges what it cannot know. Only the
bodies of functions and accessors are read. Left out are `#if`, patterns, types, attributes and default arguments.
"""
import bisect
import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import pathlib
import re
import sys


def script(name):
    """Another script of the folder, as a module."""
    path = pathlib.Path(__file__).resolve().parent.parent / name
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(path))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


STRINGS = script("check-imports")
WORD = re.compile(r"`[^`\n]+`|[$]?\w+")
NUMBER = re.compile(r"0[xob][0-9a-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?")
OPERATOR = re.compile(r"[-/=+!*%<>&|^~?.]+")
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
ORDERS, EQUALITIES, CONNECTIVES = {"<", "<=", ">", ">="}, {"==", "!="}, {"&&", "||"}
COMPARISONS = ORDERS | EQUALITIES | {"===", "!==", "~="}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "&+=", "&-=", "&*="}
ARITHMETIC = {"+", "-", "*", "/", "%", "&+", "&-", "&*", "<<", ">>", "..<", "...", "+=", "-="} | COMPARISONS
CONTROLS = {"if", "guard", "for", "while", "repeat", "do", "switch", "defer"}
TYPES = {"struct", "class", "enum", "extension", "protocol", "actor"}
FUNCTIONS = {"func", "init", "deinit", "subscript"}
OTHER_DECLARATIONS = {"import", "typealias", "associatedtype", "operator", "precedencegroup", "macro"}
MODIFIERS = set(
    "public package internal fileprivate private open static final override mutating nonmutating lazy weak unowned "
    "indirect convenience required dynamic nonisolated isolated consuming borrowing optional prefix postfix infix "
    "distributed async".split())
LEAVING = {"return", "throw", "break", "continue", "fallthrough"}
# A statement goes on in the next line after these, and before those.
OPEN_ENDED = {
    "if", "guard", "while", "for", "in", "let", "var", "try", "await", "return", "throw", "case", "is", "as", "where",
    "else", "catch", "func", "switch", ","}
CONTINUING = {"else", "catch", "where", "as", "is", "in", "throws", "async", "rethrows", "{", "?", ":", "->", ","}
# What an operand of a comparison ends at.
ENDS = {",", ";", "?", ":", "->", "return", "throw", "try", "await", "in", "where", "case", "let", "var", "else",
        "if", "switch", "guard", "while"} | ASSIGNMENTS | COMPARISONS
NEVER = {"fatalError", "preconditionFailure", "exit", "abort", "_exit", "precondition", "assert", "assertionFailure"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str  # word, number, string, operator, mark (brackets, commas …) or directive
    text: str
    start: int
    end: int
    # The first on its line; with space before and after, as an operator between two operands.
    fresh: bool
    spaced: bool


@dataclasses.dataclass(frozen=True)
class Point:
    """A change of one place: text[start:end] becomes the mutated text; with the number of the mutant, its schema."""
    file: str
    line: int
    last: int
    kind: str
    start: int
    end: int
    original: str
    mutated: str
    # The text in its place, where # is the number.
    schema: str

    def key(self, seed):
        """The place of the point in the order that the seed gives."""
        place = f"{seed} {self.file} {self.start} {self.kind} {self.original}"
        return hashlib.sha256(place.encode()).hexdigest()


def tokens_of(text):
    """The tokens, without comments."""
    found, i, fresh = [], 0, True

    def add(kind, end):
        spaced = text[i - 1 : i].isspace() and text[end : end + 1].isspace()
        found.append(Token(kind, text[i:end], i, end, fresh, spaced))

    while i < len(text):
        character = text[i]
        if character.isspace():
            fresh, i = fresh or character == "\n", i + 1
            continue
        if text.startswith("//", i):
            i = text.find("\n", i) % (len(text) + 1)
            continue
        if text.startswith("/*", i):
            depth, i = 1, i + 2
            while i < len(text) and depth:
                step = {"/*": 1, "*/": -1}.get(text[i : i + 2], 0)
                depth, i = depth + step, i + (2 if step else 1)
            continue
        if match := STRINGS.QUOTE.match(text, i):
            end = STRINGS.skip_string(text, match.end(), match[2], match[1])
            add("string", end)
        elif character == "#" and re.match(r"#(if|elseif|else|endif|sourceLocation)\b", text[i:]) and fresh:
            end = text.find("\n", i) % (len(text) + 1)
            add("directive", end)
        elif character.isdigit():
            end = NUMBER.match(text, i).end()
            add("number", end)
        elif match := WORD.match(text, i):
            end = match.end()
            add("word", end)
        elif match := OPERATOR.match(text, i):
            end = match.end()
            add("operator", end)
        else:
            end = i + 1
            add("mark", end)
        fresh, i = False, end
    return found


class Source:
    """The points of one file."""

    def __init__(self, file, text):
        self.file, self.text, self.tokens = file, text, tokens_of(text)
        self.lines = [0] + [match.end() for match in re.finditer("\n", text)]
        self.points, self.partner, opened = [], {}, []
        for index, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in "([{":
                opened.append(index)
            elif token.kind == "mark" and token.text in ")]}" and opened:
                self.partner[index] = opened.pop()
                self.partner[self.partner[index]] = index
        # Constants that get their value later: a statement that sets one cannot be left out.
        self.unset = set(re.findall(r"^\s*(?:let|var) (\w+)(?:: [^={\n]+)?$", text, re.M))
        if not opened:
            self.members(0, len(self.tokens))
        unique = {(point.start, point.kind, point.mutated): point for point in self.points}
        self.points = sorted(unique.values(), key=lambda point: (point.start, point.end, point.kind))

    # Tokens

    def word(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def is_binary(self, index):
        """Whether a token is an operator between two operands. Ranges have no space around them."""
        token = self.tokens[index]
        return token.kind == "operator" and (token.spaced or token.text in ("..<", "..."))

    def level(self, start, end):
        """The positions of one level: what is in brackets is skipped, its brackets are not."""
        i = start
        while i < end:
            yield i
            if self.word(i) in "([{" and i in self.partner:
                i = self.partner[i]
                yield i
            i += 1

    def first(self, start, end, *words):
        """The position of the first of these words on this level, or the end."""
        return next((i for i in self.level(start, end) if self.word(i) in words and not self.is_member(i)), end)

    def is_member(self, index):
        """Whether a word is the name of a member or of an argument, not a keyword."""
        return self.word(index - 1) == "." or (self.word(index + 1) == ":" and self.word(index) not in ("default",))

    def statements(self, start, end):
        """The statements of a block, as ranges of tokens; those within #if are left out."""
        first, depth, previous = start, 0, None
        for i in self.level(start, end):
            token = self.tokens[i]
            if token.kind == "directive":
                if first < i and not depth:
                    yield first, i
                depth += {"#if": 1, "#endif": -1}.get(token.text.split()[0].split("(")[0], 0)
                first, previous = i + 1, None
                continue
            is_end = token.text == ";" or (
                token.fresh and previous is not None and not self.goes_on(first, previous, i))
            if is_end and first < i:
                if not depth:
                    yield first, i
                first = i
            if token.text == ";":
                first = i + 1
            previous = i
        if first < end and not depth:
            yield first, end

    def goes_on(self, first, previous, index):
        """Whether a new line continues the statement before."""
        before, token = self.tokens[previous], self.tokens[index]
        if token.text in ")]}" or before.text in "([{":
            return True
        if before.text in OPEN_ENDED and not self.is_member(previous) or before.text in (":", "->"):
            return True
        if before.kind == "operator" and before.spaced or token.kind == "operator" and token.spaced:
            return True
        if before.text.startswith("@") or token.text in CONTINUING or token.text.startswith("."):
            return True
        if before.kind == "operator" and before.text in ASSIGNMENTS | {"&&", "||", "+"}:
            return True
        # An attribute has a line of its own.
        start = first
        while self.word(start) == "@":
            start += 2
            if self.word(start) == "(":
                start = self.partner[start] + 1
        return start == index or (self.word(first) == "repeat" and token.text == "while")

    # Declarations

    def members(self, start, end):
        """The bodies of the functions of a type or of a file."""
        for first, last in self.statements(start, end):
            self.declaration(*self.declared(first, last))

    def declared(self, first, last):
        """A statement without its attributes and modifiers."""
        while first < last:
            if self.word(first) == "@":
                first += 2
            elif self.word(first) not in MODIFIERS or self.word(first + 1) in (".", "=", "(") and not (
                    self.word(first + 1) == "(" and self.word(first + 2) in ("set", "unsafe")):
                break
            else:
                first += 1
            if self.word(first) == "(":
                first = self.partner[first] + 1
        return first, last

    def declaration(self, first, last):
        word = self.word(first)
        if word == "class" and self.word(first + 1) in FUNCTIONS | {"var", "let"}:
            first, word = first + 1, self.word(first + 1)
        if word in TYPES:
            body = self.first(first, last, "{")
            if body < last:
                self.members(body + 1, self.partner[body])
        elif word in FUNCTIONS:
            body = self.first(first, last, "{")
            if body < last:
                gives = word == "subscript" or self.first(first, body, "->") < body
                self.accessors(body, gives) if word == "subscript" else self.block(body, gives, word == "init")
        elif word in ("var", "let"):
            body = self.first(first, last, "{", "=")
            if body < last and self.word(body) == "{" and word == "var":
                self.accessors(body, True)
            elif body < last:
                # A stored property: what observes it is code, its value is not.
                body = self.first(body, last, "{")
                if body < last and self.word(body + 1) in ("didSet", "willSet"):
                    self.accessors(body, False)

    def accessors(self, body, gives):
        inner = list(self.statements(body + 1, self.partner[body]))
        if not inner or self.word(inner[0][0]) not in ("get", "set", "didSet", "willSet", "_read", "_modify"):
            return self.block(body, gives)
        for first, last in inner:
            own = self.first(first, last, "{")
            if own < last and not self.word(first).startswith("_"):
                self.block(own, self.word(first) == "get")

    # Statements

    def block(self, body, gives=False, sets=False):
        """A block of code. It gives a value if its only statement is one; an initialiser sets its own properties."""
        statements = list(self.statements(body + 1, self.partner[body]))
        for first, last in statements:
            self.statement(first, last, gives and len(statements) == 1, sets)

    def cases(self, body, gives, sets):
        """The cases of a switch: what is before the colon is a pattern."""
        start, end = body + 1, self.partner[body]
        heads = [
            i for i in self.level(start, end)
            if self.word(i) in ("case", "default") and (self.tokens[i].fresh or i == start)]
        for head, following in zip(heads, heads[1:] + [end]):
            colon = next((i for i in self.level(head, following) if self.word(i) == ":"), following)
            statements = list(self.statements(colon + 1, following))
            for first, last in statements:
                self.statement(first, last, gives and len(statements) == 1, sets)

    def statement(self, first, last, gives, sets):
        word = self.word(first)
        if word in CONTROLS and self.word(first + 1) != ".":
            return self.control(first, last, gives, sets)
        bare, _ = self.declared(first, last)
        word = self.word(bare)
        if word in ("let", "var") or bare > first and self.word(bare) not in FUNCTIONS | TYPES:
            value = self.first(bare, last, "=", "{")
            if value < last and self.word(value) == "{":
                return self.accessors(value, True)
            return self.expression(value + 1, last)
        if word in FUNCTIONS | TYPES and self.word(bare + 1) not in (".", "("):
            return self.declaration(bare, last)
        if word in OTHER_DECLARATIONS and self.tokens[bare + 1 : bare + 2] and self.tokens[bare + 1].kind == "word":
            return None
        if word in LEAVING:
            return self.expression(first + 1, last)
        if not gives:
            self.removal(first, last, sets)
        elif self.text[self.tokens[first].start] == "!":
            self.turn(first, last)
        return self.expression(first, last)

    def control(self, first, last, gives, sets):
        """A statement with blocks of its own: its conditions are turned, its blocks read."""
        i = first
        while i < last:
            word = self.word(i)
            if word == "guard":
                body = self.first(i, last, "else")
                self.conditions(i + 1, body)
            elif word in ("if", "while"):
                body = self.first(i, last, "{")
                self.conditions(i + 1, body)
            elif word == "for":
                body = self.first(i, last, "{")
                inside, where = self.first(i, body, "in"), self.first(i, body, "where")
                self.expression(inside + 1, where)
                self.conditions(where + 1, body)
            elif word == "switch":
                body = self.first(i, last, "{")
                self.expression(i + 1, body)
                if body < last:
                    self.cases(body, gives, sets)
                    i = self.partner[body] + 1
                    continue
            elif word == "{":
                self.block(i, gives, sets)
                i = self.partner[i] + 1
                continue
            else:
                body = i + 1
                if word == "catch":
                    body = self.first(i, last, "{")
            i = max(body, i + 1)

    def conditions(self, start, end):
        """The clauses of a condition; what a binding or a pattern names is left as it is."""
        if start >= end:
            return
        commas = [i for i in self.level(start, end) if self.word(i) == ","]
        for first, last in zip([start] + [comma + 1 for comma in commas], commas + [end]):
            if first >= last or self.word(first) == "#":
                continue
            if self.word(first) in ("let", "var", "case"):
                self.expression(self.first(first, last, "=") + 1, last)
                continue
            if self.first(first, last, *CONNECTIVES) == last:
                self.turn(first, last)
            self.expression(first, last)

    # Expressions

    def expression(self, start, end):
        """The operators and literals of an expression, and the closures in it."""
        i = start
        while i < end:
            word, token = self.word(i), self.tokens[i]
            if word in ("if", "switch") and token.kind == "word" and not self.is_member(i):
                close = self.first(i, end, "{")
                while close < end and self.word(self.partner[close] + 1) == "else":
                    close = self.first(self.partner[close] + 1, end, "{")
                if close < end:
                    last = self.partner[close] + 1
                    self.control(i, last, True, False)
                    i = last
                    continue
            if word == "{" and i in self.partner:
                self.closure(i)
                i = self.partner[i]
            elif word in ("(", "[") and i in self.partner:
                # Members, arguments, elements: each is an expression.
                self.expression(i + 1, self.partner[i])
                i = self.partner[i]
            elif token.kind == "number":
                self.bound(i, start, end)
            elif self.is_binary(i) and word in ORDERS | EQUALITIES | CONNECTIVES | {"?"}:
                self.operator(i, start, end)
            i += 1

    def closure(self, body):
        """A closure: its parameters are no code, its only statement is its value."""
        end = self.partner[body]
        parameters = next(
            (i for i in self.level(body + 1, end)
             if self.word(i) in ("in", "=", "for", "let", "var", "if", "guard", "return")), end)
        first = parameters + 1 if self.word(parameters) == "in" and self.word(parameters - 1) != "." else body + 1
        if first > end:
            first = body + 1
        statements = list(self.statements(first, end))
        for start, last in statements:
            self.statement(start, last, len(statements) == 1, False)

    def operand(self, index, start, end, over=frozenset()):
        """The range around an operator: to those beside it that do not bind tighter, apart from a set."""
        level = list(self.level(start, end))
        here = bisect.bisect_left(level, index)

        def ends(i):
            word, token = self.word(i), self.tokens[i]
            if token.kind == "operator":
                return token.spaced and (word in ENDS or word in CONNECTIVES) and word not in over
            return word in ENDS and not self.is_member(i)

        first = next((i + 1 for i in reversed(level[:here]) if ends(i)), start)
        return first, next((i for i in level[here + 1 :] if ends(i)), end)

    def operator(self, index, start, end):
        """The operands of && and ||, comparisons and what a ternary operator asks are conditions."""
        word = self.word(index)
        if word == "?":
            first, _ = self.operand(index, start, end, COMPARISONS)
            if first == self.operand(index, start, end, COMPARISONS | CONNECTIVES)[0]:
                self.turn(first, index)
        elif word in CONNECTIVES:
            first, last = self.operand(index, start, end, COMPARISONS)
            self.turn(first, index)
            self.turn(index + 1, last)
            self.swap(index, *self.operand(index, start, end, COMPARISONS | CONNECTIVES), "connective")
        else:
            first, last = self.operand(index, start, end)
            # Operators of comparison are not associative: what has two of them is something else.
            if any(self.word(i) in COMPARISONS and self.is_binary(i) for i in (first - 1, last) if start <= i < end):
                return
            if word in ORDERS:
                self.swap(index, first, last, "comparison")
            else:
                self.turn(first, last)

    # Points

    def add(self, kind, first, last, mutated, schema):
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        line, final = (bisect.bisect_right(self.lines, place) for place in (start, end - 1))
        original = self.text[start:end]
        self.points.append(Point(self.file, line, final, kind, start, end, original, mutated, schema))

    def code(self, first, last):
        return self.text[self.tokens[first].start : self.tokens[last - 1].end] if first < last else ""

    def turn(self, first, last):
        """A condition that is turned. A try or await before it covers what is to its right, and stays there."""
        while first < last and self.word(first) in ("try", "await"):
            first += 1
        if first >= last or self.tokens[first].text in ("?", "!") and self.word(first - 1) == "try":
            return
        code = self.code(first, last)
        self.add("condition turned", first, last, f"!({code})", f"Mutant.turns(#, {code})")

    def swap(self, index, first, last, kind):
        """An operator that becomes its neighbour: both expressions are written, so they have one line."""
        if first >= index or last <= index + 1:
            return
        token = self.tokens[index]
        before = self.text[self.tokens[first].start : token.start]
        after = self.text[token.end : self.tokens[last - 1].end]
        if "\n" in before + after:
            return
        mutated = before + OTHER[token.text] + after
        code = before + token.text + after
        self.add(f"{kind} changed", first, last, mutated, f"(Mutant.on(#) ? {mutated} : {code})")

    def bound(self, index, start, end):
        """A whole number beside an operator of arithmetic, a comparison or a range."""
        token = self.tokens[index]
        if not re.fullmatch(r"[\d_]+", token.text) or self.word(index - 1) == "." or self.word(index + 1) == ".":
            return
        beside = [i for i in (index - 1, index + 1) if start <= i < end]
        if not any(self.is_binary(i) and self.word(i) in ARITHMETIC for i in beside):
            return
        if self.tokens[index - 1].kind == "operator" and not self.is_binary(index - 1):
            return
        value = str(int(token.text.replace("_", "")) + 1)
        self.add("bound moved", index, index + 1, value, f"Mutant.moved(#, {token.text})")

    def removal(self, first, last, sets):
        """A call or an assignment that is left out."""
        begin = first
        while begin < last and self.word(begin) in ("try", "await"):
            begin += 1
        level = list(self.level(begin, last))
        if not level or self.tokens[begin].kind not in ("word", "mark") or self.word(begin) in ("#", "@", "{", "["):
            return
        if self.word(begin) in NEVER or self.word(begin) in ("super", "case", "default", "if", "switch"):
            return
        if [self.word(i) for i in range(begin, begin + 3)] == ["self", ".", "init"]:
            return
        sign = next((i for i in level if self.tokens[i].text in ASSIGNMENTS and self.tokens[i].spaced), None)
        if sign is not None:
            target = self.code(begin, sign)
            is_own = target.startswith("(") or "." not in target.removeprefix("self.")
            if self.word(sign) == "=" and (sets and is_own or target.removeprefix("self.") in self.unset):
                return
        elif self.word(last - 1) not in (")", "}") or any(
                self.is_binary(i) and self.word(i) not in ("..<", "...") for i in level):
            return
        code = self.code(first, last)
        self.add("statement left out", first, last, "", f"if !Mutant.on(#) {{ {code} }}")


def import_of(text):
    """The source with an import of the module that has the mutants, on the line of another import."""
    if re.search(r"^import MoultBasics$", text, re.M):
        return text
    first = re.search(r"^(?:@\w+ )*import ", text, re.M)
    place = first.start() if first else 0
    return f"{text[:place]}import MoultBasics; {text[place:]}"


def mutated(text, mutants):
    """The source with mutants, numbers with their points, none of which overlap."""
    for number, point in sorted(mutants, key=lambda mutant: -mutant[1].start):
        schema = point.schema.replace("#", str(number), 1)
        text = text[: point.start] + schema + text[point.end :]
    return import_of(text) if mutants else text
