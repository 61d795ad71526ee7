"""The words that `deploy.prose.check` rejects, each with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# The first word of a docstring. A style guide asks for the imperative of a standard verb (PEP 257).
BEGINNINGS: Final[Mapping[str, str]] = {
    "Anyone": "name the client, process or caller",
    "Ask": "Request, Query or Send",
    "Be": "the verb of what it does",
    "Begin": "Start",
    "Bring": "Load, Move or Apply",
    "Come": "the verb of what it does",
    "Do": "the verb of what it does",
    "Give": "Return, Yield or Provide",
    "Go": "Continue, Walk or Iterate",
    "Have": "the verb of what it does",
    "Hear": "Receive",
    "Hold": "Store, Keep or Lock",
    "How": "a noun: The number of …, The way …",
    "Judge": "Check or Evaluate",
    "Know": "Return whether or Store",
    "Leave": "Keep, Skip or Ignore",
    "Let": "Allow, Make or the verb of what it does",
    "Learn": "Read or Detect",
    "Look": "Find, Search or Check",
    "Put": "Store, Insert or Place",
    "Say": "Return, Report or Describe",
    "See": "Check or Read",
    "Take": "Accept, Acquire, Remove or Read",
    "Tell": "Report, or Return whether",
    "What": "the noun it means",
    "Which": "the noun it means",
    "Where": "a noun: The position of …, The place of …",
    "Who": "the noun it means",
    "Whoever": "the noun it means",
}

# Anywhere in a docstring, a comment or a message.
PHRASES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\banew\b", "again"),
        (r"\bnobody\b", "no client, no process, no caller: name it"),
        (r"\bsomebody\b", "name the client, process or caller"),
        (r"\bwhoever\b", "name the client, process or caller"),
        (r"\bthe same for the same\b", "deterministic"),
        (r"\bin vain\b", "without a result"),
        (r"\bby now\b", "already, or drop it"),
        (r"\bhas no word for\b", "cannot express"),
        (r"\bno word of\b", "no mention of"),
        (r"\blooked after\b", "maintained"),
        (r"\ba word that\b", "name what it is: a flag, a key, a message"),
        (r"\bso many\b", "a number of, or its name"),
        (r"\blook(?:s|ing)? after\b", "maintain, check or handle"),
        (r"\bgives? way\b", "yields, or pauses"),
        (r"\bcame out (?:as|empty)\b", "evaluates to, is empty"),
        (r"\b(?:may|must) (?:not )?stand (?:in|on|at|beside|there)\b", "is allowed in, must be in"),
        (r"\bstands (?:in|at|beside|behind)\b", "is in, is at"),
        (r"\b(?:is|are) told (?:of|about)\b", "reported"),
        (r"\bas (?:much|many) as (?:there|it) (?:is|are)\b", "all"),
        (r"\bwhat is not begun\b", "what has not started"),
        (r"\bhas its word\b", "is reported"),
    )
)
