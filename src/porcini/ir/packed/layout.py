"""The layout of a state, which is one whole number.

From the low bits up: the process that holds the turn (its number plus 1, or 0), whether something has failed, the
number of processes, the shared variables, the shared channels, then one frame for each process: the number of its
template (plus 1; 0 for no process), its point, its variables, its channels. What does not exist is all zeros, so
that equal states are equal numbers.

A channel consists of its length and then its messages, the oldest first. Channels are identified by ids: the
shared ones are 1, 2, 3, ..., and after that each frame has as many ids as the largest number of channels of a
template.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porcini.ir.program import ChannelType, Program, Template, Variable

HOLDER_BITS, FAILED_BITS, POPULATION_BITS = 8, 2, 8
ASSERTION_FAILED, ERROR_FAILED = 1, 2

HOLDER = (1 << HOLDER_BITS) - 1
FAILED_AT = HOLDER_BITS
FAILED = ((1 << FAILED_BITS) - 1) << FAILED_AT
POPULATION_AT = HOLDER_BITS + FAILED_BITS
POPULATION = ((1 << POPULATION_BITS) - 1) << POPULATION_AT
ONE_PROCESS = 1 << POPULATION_AT


class RunError(Exception):
    """Something that a running model may not do."""


class CheckFailed(Exception):
    """An assertion does not hold; the argument is its number among the edge's operations."""


class Channel:
    """One channel: its place in a state, and the operations on it."""

    __slots__ = (
        "_fields",
        "_length",
        "_message",
        "at",
        "bits",
        "capacity",
        "id",
        "mask",
        "name",
        "type",
        "wrapped",
    )

    def __init__(self, type_: ChannelType, number: int, at: int, name: str) -> None:
        self.type, self.id, self.at, self.name, self.capacity = type_, number, at, name, type_.capacity
        self._length = (1 << length_bits(type_)) - 1
        self._message = type_.message_bits
        self.bits = channel_bits(type_)
        self.mask = ((1 << self.bits) - 1) << at
        self._fields: list[tuple[int, int, int]] = []
        shift = 0
        for part in type_.fields:
            self._fields.append((shift, (1 << part.bits) - 1, 1 << (part.bits - 1) if part.signed else 0))
            shift += part.bits
        self.wrapped: Callable[[str], None] = lambda what: None

    @property
    def length_mask(self) -> int:
        """The bits that say how many messages there are."""
        return self._length << self.at

    @property
    def head_mask(self) -> int:
        """These, and the bits of the first message."""
        return (1 << self._length.bit_length() + (self._message if self.capacity else 0)) - 1 << self.at

    def length(self, s: int) -> int:
        return s >> self.at & self._length

    def messages(self, s: int) -> list[tuple[int, ...]]:
        """All messages, the oldest first."""
        bits, mask = self._message, (1 << self._message) - 1
        buffer = s >> self.at + self._length.bit_length()
        return [self._unpack(buffer >> i * bits & mask) for i in range(self.length(s))]

    def fits(self, values: Sequence[int]) -> tuple[int, ...]:
        """The values cut to the channel's fields."""
        if len(values) > len(self._fields):
            raise RunError(
                f"a message of {len(values)} values on channel {self.name}, which takes {len(self._fields)}"
            )
        return self._unpack(self._pack(values))

    def send(self, s: int, values: Sequence[int], ordered: bool) -> int:
        message, count = self._pack(values), self.length(s)
        start = self.at + self._length.bit_length()
        if not ordered:
            return s + (message << start + count * self._message) + (1 << self.at)
        held = self.messages(s)
        sent = (*values, *[0] * (len(self._fields) - len(values)))  # SPIN compares the values before they are cut
        place = next((i for i, other in enumerate(held) if sent < other), count)
        return self._with(s, [*held[:place], self._unpack(message), *held[place:]])

    def find(self, s: int, pattern: Sequence[int | None], anywhere: bool) -> int:
        """The position of the message that a receive would take, or -1."""
        if anywhere:
            return next((i for i, message in enumerate(self.messages(s)) if matches(message, pattern)), -1)
        if not s >> self.at & self._length:
            return -1
        buffer = s >> self.at + self._length.bit_length()
        for (shift, mask, half), wanted in zip(self._fields, pattern, strict=False):
            if wanted is not None and ((buffer >> shift & mask) ^ half) - half != wanted:
                return -1
        return 0

    def take(self, s: int, position: int, keep: bool) -> tuple[int, tuple[int, ...]]:
        """The state without the message at a position, and the message."""
        start, bits = self.at + self._length.bit_length(), self._message
        message = self._unpack(s >> start + position * bits & (1 << bits) - 1)
        if keep:
            return s, message
        if position:
            held = self.messages(s)
            return self._with(s, [*held[:position], *held[position + 1 :]]), message
        mask = (1 << self.capacity * bits) - 1
        buffer = s >> start & mask
        return s - ((buffer - (buffer >> bits)) << start) - (1 << self.at), message

    def _with(self, s: int, messages: Sequence[Sequence[int]]) -> int:
        buffer = 0
        for message in reversed(messages):
            buffer = buffer << self._message | self._pack(message)
        content = buffer << self._length.bit_length() | len(messages)
        return s & ~self.mask | content << self.at

    def _pack(self, values: Sequence[int]) -> int:
        message = 0
        for (shift, mask, half), value in zip(self._fields, values, strict=False):
            if not -half <= value <= mask - half:
                self.wrapped(f"a field of channel {self.name}")
            message |= (value & mask) << shift
        return message

    def _unpack(self, message: int) -> tuple[int, ...]:
        return tuple(((message >> shift & mask) ^ half) - half for shift, mask, half in self._fields)


def matches(message: Sequence[int], pattern: Sequence[int | None]) -> bool:
    return all(want is None or want == value for want, value in zip(pattern, message, strict=False))


def length_bits(type_: ChannelType) -> int:
    return type_.capacity.bit_length()


def channel_bits(type_: ChannelType) -> int:
    return length_bits(type_) + type_.capacity * type_.message_bits


class Layout:
    """Offsets in a state: absolute for what is shared, relative to the base of the frame for what is private."""

    def __init__(self, program: Program) -> None:
        self.program = program
        at = POPULATION_AT + POPULATION_BITS
        self.declared = program.declared
        self.of_var: dict[Variable, int] = {}
        for var in program.variables:
            self.of_var[var] = at
            at += var.bounded.bits * var.size
        self.shared_channels: list[Channel] = []
        for number, type_ in enumerate(program.channels, 1):
            self.shared_channels.append(Channel(type_, number, at, type_.name))
            at += channel_bits(type_)
        self.template_bits = len(program.templates).bit_length()
        self.point_bits = [(len(template.points) + 1).bit_length() for template in program.templates]
        self._channels_at = [self._frame(template, number) for number, template in enumerate(program.templates)]
        sizes = [offsets[-1] for offsets in self._channels_at]
        started = {number for template in program.templates for number in template.starts}
        self._later = max((sizes[number] for number in started), default=0)
        self._bases: list[int] = []
        for number in program.initial:
            self._bases.append(at)
            at += max(sizes[number], self._later)
        self._bases.append(at)
        self.channels_each = max((len(template.channels) for template in program.templates), default=0)

    def _frame(self, template: Template, number: int) -> list[int]:
        """The offsets of the template's own channels in its frame, and the size of the frame."""
        at = self.template_bits + self.point_bits[number]
        for var in template.variables:
            self.of_var[var] = at
            at += var.bounded.bits * var.size
        found = []
        for type_ in template.channels:
            found.append(at)
            at += channel_bits(type_)
        return [*found, at]

    def base(self, slot: int) -> int:
        """Where the frame of the process with this number begins."""
        known = len(self._bases) - 1
        return self._bases[slot] if slot <= known else self._bases[-1] + (slot - known) * self._later

    def frame_mask(self, slot: int, template: int) -> int:
        return ((1 << self._channels_at[template][-1]) - 1) << self.base(slot)

    def template_of(self, s: int, slot: int) -> int:
        """The template of the process in a slot; -1 if there is none."""
        return (s >> self.base(slot) & (1 << self.template_bits) - 1) - 1

    def point_at(self, slot: int) -> int:
        return self.base(slot) + self.template_bits

    def point_of(self, s: int, slot: int, template: int) -> int:
        return s >> self.point_at(slot) & (1 << self.point_bits[template]) - 1

    def own_channel(self, slot: int, template: int, index: int) -> Channel:
        type_ = self.program.templates[template].channels[index]
        at = self.base(slot) + self._channels_at[template][index]
        return Channel(type_, self.own_id(slot, index), at, f"{slot}.{type_.name}")

    def own_id(self, slot: int, index: int) -> int:
        return len(self.shared_channels) + slot * self.channels_each + index + 1
