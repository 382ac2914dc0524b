"""The redactor: what is hidden, what is left, and that neither takes long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import REDACTED, Redactor, environment_secrets
from blockwire.content.redact import HARMLESS_NAMES
from blockwire.content.shapes import SHAPES

# Made up, in the shapes that providers use.
ALNUM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
KEYS = {
    "OpenAI": f"sk-{ALNUM}",
    "OpenAI project": f"sk-proj-{ALNUM}_{ALNUM}-x",
    "OpenAI, masked in an answer": "sk-proj-ab***********************wxyz",
    "Anthropic": f"sk-ant-api03-{ALNUM}-{ALNUM}",
    "OpenRouter": f"sk-or-v1-{ALNUM}",
    "Stripe": f"sk_live_{ALNUM}",
    "Google": f"AIza{ALNUM}abc",
    "Google OAuth": f"ya29.{ALNUM}",
    "GitHub": f"ghp_{ALNUM}abcd",
    "GitHub, fine-grained": f"github_pat_11AB_{ALNUM}",
    "GitLab": f"glpat-{ALNUM[:20]}",
    "AWS id": "AKIAIOSFODNN7EXAMPLE",
    "AWS temporary id": "ASIAIOSFODNN7EXAMPLE",
    "AWS secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "Slack": "xoxb-123456789012-abcdefABCDEF",
    "Hugging Face": f"hf_{ALNUM}",
    "Groq": f"gsk_{ALNUM}",
    "xAI": f"xai-{ALNUM}",
    "Replicate": f"r8_{ALNUM}",
    "NVIDIA": f"nvapi-{ALNUM}",
    "npm": f"npm_{ALNUM}",
    "PyPI": f"pypi-{ALNUM}",
    "SendGrid": f"SG.{ALNUM[:22]}.{ALNUM}",
    "Telegram": f"123456789:AA{ALNUM}",
    "Telegram, in its URLs": f"bot123456789:AA{ALNUM}",
    "Figma": f"figd_{ALNUM}-abc",
    "Postman": "PMAK-" + "0123456789abcdef" * 3,
    "New Relic": f"NRAK-{ALNUM[:27].upper()}",
    "Sentry": f"sntrys_eyJ{ALNUM}_{ALNUM}",
    "1Password": f"ops_eyJ{ALNUM}{ALNUM}",
    "Facebook": f"EAACEdEose0cBA{ALNUM}{ALNUM}",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "Mistral, without a prefix": ALNUM,
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
@pytest.mark.parametrize(
    "place", ["{}", "with {} it failed.", '{{"error":"{}"}}', "a={},b", "({})"]
)
@pytest.mark.requirement("content:redact:credentials")
def test_a_key_is_hidden_wherever_it_stands(key: str, place: str) -> None:
    redacted = Redactor().redact(place.format(key))

    assert key not in redacted
    assert redacted == place.format(REDACTED)


HIDDEN = [
    # text, what is left
    ("Authorization: Bearer abc", "Authorization: [redacted]"),
    ("authorization: token-without-scheme", "authorization: [redacted]"),
    ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: [redacted]"),
    ('{"Authorization": "Bearer abc", "n": 1}', '{"Authorization": "[redacted]", "n": 1}'),
    (r'"{\"authorization\":\"Bearer abc\"}"', r'"{\"authorization\":\"[redacted]\"}"'),
    ("x-api-key: abcdef", "x-api-key: [redacted]"),
    ("'X-Goog-Api-Key': 'abcdef'", "'X-Goog-Api-Key': '[redacted]'"),
    ("used bearer abcd1234 there", "used bearer [redacted] there"),
    ("Bearer abcdefghijklmnopqrstuvwxyz", "Bearer [redacted]"),
    ("Basic dXNlcjpwYXNz was sent", "Basic [redacted] was sent"),
    ("Cookie: sid=abc; theme=dark\nnext", "Cookie: [redacted]\nnext"),
    ("Set-Cookie: sid=abc; Path=/; HttpOnly", "Set-Cookie: [redacted]"),
    ("https://me:pw@host/x", "https://[redacted]@host/x"),
    ("postgresql://u@db:5432/x", "postgresql://[redacted]@db:5432/x"),
    ("redis://:p%40ss@host", "redis://[redacted]@host"),
    (
        "GET https://h/x?X-Amz-Signature=ab12&X-Amz-Date=1&n=1",
        "GET https://h/x?X-Amz-Signature=[redacted]&X-Amz-Date=[redacted]&n=1",
    ),
    ("https://h/?sig=a&n=1#f", "https://h/?sig=[redacted]&n=1#f"),
    ("https://h/?signature=a%2Fb", "https://h/?signature=[redacted]"),
    ("https://h/?token=abc&key=def", "https://h/?token=[redacted]&key=[redacted]"),
    ("https://h/?access_token=abc", "https://h/?access_token=[redacted]"),
    ("https://h/?api_key=abc.", "https://h/?api_key=[redacted]"),
    ("with sig=abcd1234 in it", "with sig=[redacted] in it"),
    ("OPENAI_API_KEY=abc", "OPENAI_API_KEY=[redacted]"),
    ("password=hunter2", "password=[redacted]"),
    ('{"client_secret": "abc"}', '{"client_secret": "[redacted]"}'),
    ("password: hunter2hunter2", "password: [redacted]"),
    ("aws_secret_access_key = abcd1234", "aws_secret_access_key = [redacted]"),
    ("Incorrect API key provided: abcdefgh.", "Incorrect API key provided: [redacted]"),
    ("curl -u me:pw https://h", "curl -u [redacted] https://h"),
    ("HF_TOKEN=not-a-number run", "HF_TOKEN=[redacted] run"),
    ("tool --api-key abc123def -v", "tool --api-key [redacted] -v"),
    ("<password>hunter2</password>", "<password>[redacted]</password>"),
    ("machine h login me password pw", "machine h login me password [redacted]"),
    (f"key {'Ab1/' * 21}Ab==.", "key [redacted]."),
    ("https://hooks.slack.com/services/T0/B0/abcdef", "https://hooks.slack.com/services/[redacted]"),
    (
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[redacted]\nb",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIE and cut", "[redacted]"),
    ("cannot read /home/me/app/config", "cannot read [redacted]"),
    ("in /root/.ssh/id_rsa.", "in [redacted]."),
    ("(/usr/lib/python3/x.py:12)", "([redacted]:12)"),
    ("open '/var/run/x.sock': no", "open '[redacted]': no"),
    ("at /app/server/main.py line 3", "at [redacted] line 3"),
    (r"C:\Users\Me Too\x.txt, gone", "[redacted], gone"),
    (r"see D:\\data\\x", "see [redacted]"),
    (r"from \\server\share\x now", "from [redacted] now"),
    ("file:///home/me/x", "[redacted]"),
    (
        'A\nTraceback (most recent call last):\n  File "/x/y.py", line 3\n    g()\nValueError: 3\n\nB',
        "A\n[redacted]\n\nB",
    ),
    ('in File "/x/y.py", line 3, in f', "in [redacted]"),
    ("ValueError: it holds abc\nnext", "[redacted]\nnext"),
    ("httpx.ConnectError: [Errno 111]", "[redacted]"),
    ("KeyError('abc')", "[redacted]"),
    ("<httpx.Client object at 0x7f00aa11>", "[redacted]"),
    ("Error\n    at run (main.ts:3:14)\n    at x:1\nend", "Error\n    at [redacted]\n    at [redacted]\nend"),
    ("goroutine 7 [running]:\nmain.main()\n\t/x.go:3\n\nend", "[redacted]\n\nend"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "left"), HIDDEN)
@pytest.mark.requirement("content:redact:credentials")
def test_what_gives_a_secret_away_is_hidden_and_the_rest_is_left(text: str, left: str) -> None:
    assert Redactor().redact(text) == left
    assert Redactor().redact(left) == left


PROSE = [
    "",
    "The provider is unavailable right now; try again in 20 seconds.",
    "missing bearer token in the request",
    "Basic authentication is not supported, and a basic understanding helps.",
    "Authorization is required.",
    "unexpected token: found }, expected ]",
    "The password is wrong. Password: required",
    "the sort key=created_at and the primary key = id",
    "cookie: yes or no",
    "POST /v1/conversations/conv_01JABC/turns returned 429",
    "https://api.example.com/v1/models?limit=3&after=m_2#top",
    "see https://example.com/home/me and http://example.com/usr/x",
    "sk-learn and sk-iing are words; task-based-learning-for-everyone too",
    "request req_011CSHoEeqs5C35K2UUqR7Fy, call_kL0PCQV7M2WMoVX8V8OtYSAL",
    "turn_01J9ZQ3K7X8Y2ABCDEFGHJKMNP failed after 3.5 s at 12:30",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "3/4 of 1/2, and/or, either/or, TCP/IP",
    "An Error occurred: the TypeError of the model",
    "user@example.com wrote to a@b.c",
    "a: b; c:d e=f \\n \\t",
    "Füße, 日本語, \U0001f600 \x1b[1m bold",
    "if a < b and c > d then at 0x10",
]


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.requirement("content:redact:prose")
def test_ordinary_prose_is_left_as_it_is(text: str) -> None:
    assert Redactor().redact(text) == text


def test_every_shape_hides_something_here() -> None:
    texts = [text for text, _left in HIDDEN] + list(KEYS.values())

    idle = [shape.name for shape in SHAPES if not any(shape.pattern.search(it) for it in texts)]

    assert idle == []


ENVIRONMENT = {
    "ACME_LOGIN": "correct horse",
    "ACME_SHORT": "1234567",
    "ACME_NUMBER": "12345678901",
    "PATH": "/usr/bin:/bin",
    "path": "/usr/bin:/bin",
    "HOME": "/home/someone",
    "LANG": "en_GB.UTF-8",
    "LC_ALL": "en_GB.UTF-8",
    "TERM": "xterm-256color",
    "XDG_DATA_HOME": "/home/someone/data",
    "DATABASE_URL": "sqlite:///x.db",
}


def test_values_of_the_environment_are_secrets_unless_their_names_are_harmless() -> None:
    assert environment_secrets(ENVIRONMENT) == ["correct horse", "sqlite:///x.db"]
    assert {"PATH", "HOME", "LANG", "TERM"} <= HARMLESS_NAMES


SECRETS = [
    # secret, text, what is left
    ("correct horse", "the correct horse ran", "the [redacted] ran"),
    ("correct horse", "?q=correct%20horse", "?q=[redacted]"),
    ('quo"ted value', r'{"x":"quo\"ted value"}', '{"x":"[redacted]"}'),
    ("first long line here\nsecond long line here", "the second long line here", "the [redacted]"),
    ("  padded value ", "a padded value", "a [redacted]"),
    ("\u0130stanbul key", "an \u0130STANBUL Key \u0130", "an [redacted] \u0130"),
    ("a.b*c(d)e", "a.b*c(d)e axbxc", "[redacted] axbxc"),
    ("\udcff\udcfe bytes", "x", "x"),
    # What could not be told from the replacement is left out.
    ("redacted", "the redacted part", "the redacted part"),
    ("", "a", "a"),
    ("  ", "a  b", "a  b"),
]


@pytest.mark.parametrize(("secret", "text", "left"), SECRETS)
@pytest.mark.requirement("content:redact:environment")
def test_a_known_value_is_hidden_however_it_is_written(secret: str, text: str, left: str) -> None:
    redactor = Redactor([secret])

    assert redactor.redact(text) == left
    assert redactor.redact(left) == left


def test_the_longest_of_several_secrets_is_hidden_first() -> None:
    assert Redactor(["abcdefgh", "abcdefghijkl"]).redact("abcdefghijkl") == REDACTED


def test_a_secret_that_feeds_on_its_own_replacement_comes_to_an_end() -> None:
    redacted = Redactor(["ed]x"]).redact("ed]" + "x" * 50)

    assert len(redacted) < 100


PIECES = st.sampled_from(
    [*KEYS.values(), *(text for text, _left in HIDDEN), *PROSE, REDACTED, " ", "\n", ":", "=", "/"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=6))
@pytest.mark.requirement("content:redact:idempotent")
def test_redacting_twice_is_redacting_once_and_no_key_survives(pieces: list[str]) -> None:
    redactor = Redactor(["correct horse"])
    text = " ".join(pieces)

    redacted = redactor.redact(text)

    assert redactor.redact(redacted) == redacted
    assert not [key for key in KEYS.values() if key in redacted]


# Each begins many matches and ends none, or holds many short ones.
HOSTILE = [
    "a", "A", "1", " ", "<", "(", "\\\\", "=,", "sk-", "://", "/a", "a_", "x-", "a.", "?a.b-", "<a",
    "-----BEGIN PRIVATE KEY-----", "Traceback (most recent call last):\n", "C:\\a", " at :1\n",
    "eyJaaaaaaaa.", "cookie:", "bearer ", "secret", 'File "', "authorization: ", "goroutine 1 [a]:",
    "x:AA", "basic a", "ValueError(", "a.Error(", "-u a ", "api-key ", "aA1+/", "/a.py", "/home/+",
    "@/a.", "file://", "--password ", "<password>", "login a password ", "A_TOKEN=", "\\\\n", "%41", "%25",
    "x-a-", "\\\\\\'", "authorization,", "dapi0", "1//0", "a://b", "hooks.slack.com/services/", "password=", "xoxb-",
    "EAA", "EAAa", "bot1", "12345678:", "AGE-SECRET-KEY-1", "ops_eyJ", "figd_", "PMAK-",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.requirement("content:redact:linear")
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    """Against the bound of the test: quadratic patterns take minutes at this length."""
    text = piece * (60_000 // len(piece))

    assert len(Redactor(["correct horse"]).redact(text)) <= 2 * len(text)


def test_no_pattern_nests_repetitions_without_bounds() -> None:
    nested = re.compile(r"[+*]\)[+*](?!\+)")

    suspects = [shape.name for shape in SHAPES if nested.search(shape.pattern.pattern)]

    # Lines that each end in a line break, and segments that each end in a slash: unambiguous.
    assert set(suspects) <= {"traceback", "goroutine", "source path"}
