"""A corpus of credentials: made up, in the shapes that providers give out, in the places they turn up.

``SECRETS`` are values that give themselves away wherever they stand. ``PLACES`` are places that give
a value away that looks like nothing: a header, a member, a parameter. ``FRAMES`` are what is around
them when somebody logs them. ``HARMLESS`` are texts that no redactor may touch.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Final

__all__ = ["ENVIRONMENTS", "FRAMES", "HARMLESS", "PLACES", "SECRETS", "VALUES"]


def _random(name: str, length: int, alphabet: str = "url") -> str:
    """Return text that looks random and is always the same."""
    data = b"".join(hashlib.sha512(f"{name}{n}".encode()).digest() for n in range(8))
    if alphabet == "hex":
        return data.hex()[:length]
    text = base64.b64encode(data).decode()
    if alphabet == "base64":
        return text[:length]
    text = text.replace("+", "").replace("/", "")
    if alphabet == "upper":
        return "".join(c for c in text if not c.islower())[:length].upper()
    if alphabet == "url":
        text = text[:7] + "_" + text[7:13] + "-" + text[13:]
    # A letter of each case and a digit, as any real one has.
    return ("aZ9" + text)[:length]


def _jwt(*claims: str) -> str:
    parts = [base64.urlsafe_b64encode(claim.encode()).decode().rstrip("=") for claim in claims]
    return ".".join([*parts, _random("jwt", 43)])


_PEM_BODY: Final = [_random(f"pem{n}", 64, "base64") for n in range(6)]


def _pem(kind: str, separator: str = "\n") -> str:
    return separator.join([f"-----BEGIN {kind}-----", *_PEM_BODY, f"-----END {kind}-----"])


SECRETS: Final[Mapping[str, str]] = {
    "blockwire token": "bw_" + _random("bw", 49),
    "blockwire share": "bws_" + _random("bws", 49),
    "blockwire login": "bwl_" + _random("bwl", 49),
    "blockwire ticket": "bwt_" + _random("bwt", 49),
    "OpenAI": "sk-" + _random("oa", 48, "alnum"),
    "OpenAI project": "sk-proj-" + _random("oap", 124),
    "OpenAI service account": "sk-svcacct-" + _random("oas", 58),
    "OpenAI admin": "sk-admin-" + _random("oaa", 40),
    "OpenAI masked": "sk-proj-********************************aB3d",
    "Anthropic": "sk-ant-api03-" + _random("an", 93) + "AA",
    "Anthropic OAuth": "sk-ant-oat01-" + _random("ano", 86),
    "Anthropic admin": "sk-ant-admin01-" + _random("ana", 86),
    "OpenRouter": "sk-or-v1-" + _random("or", 64, "hex"),
    "DeepSeek": "sk-" + _random("ds", 32, "hex"),
    "Google API": "AIzaSy" + _random("go", 33),
    "Google OAuth client": "GOCSPX-" + _random("goc", 28),
    "Google OAuth": "ya29.a0" + _random("goo", 120),
    "Google refresh": "1//0" + _random("gor", 60),
    "GitHub": "ghp_" + _random("gh", 36, "alnum"),
    "GitHub OAuth": "gho_" + _random("gho", 36, "alnum"),
    "GitHub server": "ghs_" + _random("ghs", 36, "alnum"),
    "GitHub refresh": "ghr_" + _random("ghr", 76, "alnum"),
    "GitHub fine-grained": "github_pat_"
    + _random("ghf", 22, "alnum")
    + "_"
    + _random("ghg", 59, "alnum"),
    "GitLab": "glpat-" + _random("gl", 20),
    "AWS id": "AKIA" + _random("aws", 16, "upper"),
    "AWS temporary id": "ASIA" + _random("awt", 16, "upper"),
    "AWS secret": _random("awk", 40, "base64"),
    "AWS Bedrock": "ABSK" + _random("awb", 128, "base64"),
    "Slack bot": "xoxb-123456789012-1234567890123-" + _random("sl", 24, "alnum"),
    "Slack user": "xoxp-123456789012-123456789012-123456789012-" + _random("slu", 32, "hex"),
    "Slack app": "xapp-1-A0123456789-1234567890123-" + _random("sla", 64, "hex"),
    "Slack hook": "https://hooks.slack.com/services/T01234567/B01234567/"
    + _random("slh", 24, "alnum"),
    "Discord hook": "https://discord.com/api/webhooks/123456789012345678/" + _random("dis", 68),
    "Stripe": "sk_live_" + _random("st", 24, "alnum"),
    "Stripe restricted": "rk_live_" + _random("str", 99, "alnum"),
    "Stripe test": "sk_test_" + _random("stt", 24, "alnum"),
    "Stripe hook": "whsec_" + _random("stw", 32, "alnum"),
    "Hugging Face": "hf_" + _random("hf", 34, "alnum"),
    "Azure storage": _random("az", 86, "base64") + "==",
    "Azure AD secret": _random("azs", 3, "alnum") + "8Q~" + _random("azt", 34),
    "Mistral": _random("mi", 32, "alnum"),
    "Cohere": _random("co", 40, "alnum"),
    "Groq": "gsk_" + _random("gr", 52, "alnum"),
    "xAI": "xai-" + _random("xa", 80, "alnum"),
    "Perplexity": "pplx-" + _random("pp", 48, "alnum"),
    "Replicate": "r8_" + _random("re", 37, "alnum"),
    "NVIDIA": "nvapi-" + _random("nv", 64),
    "Fireworks": "fw_" + _random("fw", 24, "alnum"),
    "Tavily": "tvly-" + _random("tv", 32, "alnum"),
    "LangSmith": "lsv2_pt_" + _random("ls", 32, "hex") + "_" + _random("lt", 10, "hex"),
    "Linear": "lin_api_" + _random("li", 40, "alnum"),
    "Notion": "ntn_" + _random("nt", 46, "alnum"),
    "npm": "npm_" + _random("np", 36, "alnum"),
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + _random("py", 120),
    "SendGrid": "SG." + _random("sg", 22) + "." + _random("sh", 43),
    "Twilio": "SK" + _random("tw", 32, "hex"),
    "Mailgun": "key-" + _random("mg", 32, "hex"),
    "Telegram": "123456789:AA" + _random("te", 33),
    "DigitalOcean": "dop_v1_" + _random("do", 64, "hex"),
    "Databricks": "dapi" + _random("da", 32, "hex"),
    "Vault": "hvs." + _random("va", 90),
    "Atlassian": "ATATT3xFfGF0" + _random("at", 180),
    "Shopify": "shpat_" + _random("sp", 32, "hex"),
    "Cloudflare": "v1.0-" + _random("cf", 24, "hex") + "-" + _random("cg", 146, "hex"),
    "JWT": _jwt('{"alg":"HS256","typ":"JWT"}', '{"sub":"1234567890","admin":true}'),
    "JWT without claims of ours": _jwt('{"alg":"RS256"}', '{"iss":"x"}'),
    "RSA key": _pem("RSA PRIVATE KEY"),
    "PKCS8 key": _pem("PRIVATE KEY"),
    "encrypted key": _pem("ENCRYPTED PRIVATE KEY"),
    "EC key": _pem("EC PRIVATE KEY"),
    "OpenSSH key": _pem("OPENSSH PRIVATE KEY"),
    "PGP key": _pem("PGP PRIVATE KEY BLOCK"),
    "key on Windows": _pem("PRIVATE KEY", "\r\n"),
    "key on one line": _pem("PRIVATE KEY", " "),
    "key without breaks": _pem("PRIVATE KEY", ""),
    "key escaped as in JSON": _pem("PRIVATE KEY", "\\n"),
    "key escaped twice": _pem("PRIVATE KEY", "\\\\n"),
    "key escaped on Windows": _pem("PRIVATE KEY", "\\r\\n"),
    "key that was cut": _pem("PRIVATE KEY").rpartition("\n")[0],
}
"""Values that are recognised wherever they stand."""

VALUES: Final[Mapping[str, str]] = {
    "word": "hunter2-is-no-word",
    "hexadecimal": _random("v1", 40, "hex"),
    "letters": "correcthorsebatterystaple",
    "base64": _random("v2", 44, "base64"),
    "short": "s3cr3t!x",
}
"""Values that nobody could recognise by themselves."""

PLACES: Final[Mapping[str, str]] = {
    "bearer header": "Authorization: Bearer {}",
    "bearer header in Python": "{{'Authorization': 'Bearer {}', 'Accept': '*/*'}}",
    "bearer header in JSON": '{{"authorization": "Bearer {}"}}',
    "header pair": "(b'authorization', b'Bearer {}')",
    "token header": "Authorization: token {}",
    "bare header": "authorization: {}",
    "proxy header": "Proxy-Authorization: Bearer {}",
    "folded header": "Authorization: Bearer\r\n {}",
    "curl": "curl -H 'Authorization: Bearer {}' https://api.example",
    "key header": "x-api-key: {}",
    "key header of Azure": "api-key: {}",
    "key header of Google": "X-Goog-Api-Key: {}",
    "key header in JSON": '{{"x-api-key":"{}"}}',
    "header pair of a key": "('x-api-key', '{}')",
    "gateway header": "cf-aig-authorization: Bearer {}",
    "subscription header": "Ocp-Apim-Subscription-Key: {}",
    "csrf header": "X-CSRF-Token: {}",
    "auth header": "X-Auth-Token: {}",
    "AWS security header": "X-Amz-Security-Token: {}",
    "cookie": "Cookie: session={}; theme=dark",
    "set-cookie": "Set-Cookie: sid={}; Path=/; HttpOnly",
    "cookie in JSON": '{{"cookie": "sid={}"}}',
    "user information": "https://user:{}@host.example/path",
    "user information without name": "redis://:{}@host:6379/0",
    "database": "postgresql://app:{}@db.internal:5432/app",
    "git": "https://x-access-token:{}@github.com/o/r.git",
    "api key parameter": "https://h.example/v1?api_key={}&n=1",
    "key parameter": "https://h.example/v1?key={}",
    "token parameter": "wss://h.example/?token={}",
    "access token in a fragment": "https://h.example/cb#access_token={}&state=1",
    "signature": "https://b.s3.amazonaws.com/o?X-Amz-Signature={}",
    "security token": "https://b.s3.amazonaws.com/o?X-Amz-Security-Token={}&X-Amz-Date=20260101T000000Z",
    "sig": "https://a.blob.core.windows.net/c/b?sp=r&sig={}",
    "SAS": "?sv=2022-11-02&ss=b&sp=rl&se=2026-01-01T00:00:00Z&sig={}%3D",
    "Google signature": "https://storage.googleapis.com/b/o?X-Goog-Signature={}",
    "CloudFront": "https://d.cloudfront.net/o?Expires=1&Signature={}&Key-Pair-Id=K",
    "form": "grant_type=password&password={}&scope=x",
    "client secret in a form": "client_id=x&client_secret={}",
    "refresh token in JSON": '{{"refresh_token":"{}","expires_in":3600}}',
    "id token in JSON": '{{"id_token": "{}"}}',
    "environment": "OPENAI_API_KEY={}",
    "environment in quotes": 'export ANTHROPIC_API_KEY="{}"',
    "environment on a command line": "env HF_TOKEN={} python x.py",
    "environment in Python": "environ({{'AWS_SECRET_ACCESS_KEY': '{}'}})",
    "AWS file": "aws_secret_access_key = {}",
    "connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
    "service bus": "Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey={}",
    "ODBC": "Driver={{x}};Server=y;Uid=z;Pwd={};",
    "password in JSON": '{{"password": "{}"}}',
    "password in YAML": "password: '{}'",
    "secret in Python": "Client(client_secret='{}')",
    "api key in Python": "OpenAI(api_key='{}', timeout=3)",
    "camel case": '{{"apiKey": "{}"}}',
    "camel case token": '{{"accessToken": "{}"}}',
    "camel case secret": '{{"clientSecret":"{}"}}',
    "camel case private key": '{{"privateKey":"{}"}}',
    "member on the next line": '{{\n  "api_key":\n    "{}"\n}}',
    "XML": "<password>{}</password>",
    "XML key": "<ApiKey>{}</ApiKey>",
    "said by a provider": "Incorrect API key provided: {}. You can find your key at https://x.",
    "said by a proxy": "Invalid proxy server token passed. Received API Key = {}, not found",
    "command line": "psql --password={} -h db",
    "command line with a space": "tool --api-key {} --verbose",
    "curl user": "curl -u me:{} https://h.example",
    "netrc": "machine h.example login me password {}",
}
"""Where a value stands that only its place gives away."""

FRAMES: Final[Mapping[str, str]] = {
    "alone": "{}",
    "in a sentence": "It failed with {} in it, twice.",
    "behind a status": "HTTP 401: {}",
    "on a line": "line one\n{}\nline three",
    "in brackets": "[{}]",
}
"""What is around them. JSON and percent-encoding are applied by the test."""

ENVIRONMENTS: Final[Mapping[str, tuple[str, bool]]] = {
    # variable: value, whether it is a secret
    "OPENAI_API_KEY": ("any value at all", True),
    "DATABASE_URL": ("postgresql://u:p@h/d", True),
    "MY_APP_PASSPHRASE": ("correct horse battery", True),
    "GITHUB_TOKEN": ("0123456789abcdef", True),
    "LICENSE": ("ABCD-EFGH-IJKL", True),
    "PIN_CODE": ("12345678", False),
    "SHORT_KEY": ("abc1234", False),
    "PATH": ("/usr/local/bin:/usr/bin", False),
    "LANG": ("en_US.UTF-8", False),
    "PYTHONPATH": ("/srv/app/src", False),
}

HARMLESS: Final[tuple[str, ...]] = (
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "digest sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "md5 d41d8cd98f00b204e9800998ecf8427e",
    'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "id 123e4567-e89b-12d3-a456-426614174000 not found",
    "conversation conv_01J9ZQ3K7X8Y2ABCDEFGHJKMNP, turn_01J9ZQ3K7X8Y2ABCDEFGHJKMNP, block_01J9ZQ3K7X8Y2ABCDEFGHJKMNP",
    "request req_011CSHoEeqs5C35K2UUqR7Fy (request-id) took 3 s",
    "chatcmpl-9xYzAbCdEfGhIjKlMnOpQrStUvWxY ended",
    "resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b is over",
    "msg_01XFDUDYJgAACzvnptvVoYEL has no content; toolu_01A09q90qw90lq917835lq9 was called",
    "call_kL0PCQV7M2WMoVX8V8OtYSAL returned nothing",
    "trace 4bf92f3577b34da6a3ce929d0e0e4736, span 00f067aa0ba902b7",
    "image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 pulled",
    "def get_api_key(name: str) -> str: return settings[name].api_key",
    "if token is None: raise ValueError",
    "for key, value in headers.items(): print(key)",
    "the api_key argument is required; set OPENAI_API_KEY in the environment",
    "password: required",
    "secret: string (optional)",
    "Authorization header is missing",
    "set the authorization header to Bearer and your token",
    "use `Authorization: Bearer <token>` to authenticate",
    "use Authorization: Bearer $TOKEN, or x-api-key: $KEY",
    "api_key = os.environ['API_KEY']",
    "SELECT * FROM keys WHERE key = ?",
    "the primary key=id, the sort key=created_at",
    "a cookie banner; cookies: none",
    "sk-learn, sk-image and sk-net are packages; a task-based sk-iing trip",
    "max_tokens: 4096, total_tokens=128, prompt_tokens = 12",
    "tokens: 12 input, 34 output",
    "unexpected token < in JSON at position 0",
    "the token limit of 200000 was reached; token count: 200001",
    "model claude-3-5-sonnet-20241022, gpt-4o-2024-08-06, gemini-2.5-pro-preview-05-06",
    "see https://platform.example.com/docs/guides/error-codes/api-errors",
    "GET https://api.example.com/v1/models?limit=20&after=model_abc&order=desc",
    "https://example.com/search?q=api+key&lang=en#results",
    "https://example.com/path;v=1?page=2",
    "mailto:me@example.com and git@github.com:owner/repo.git",
    '2026-01-01T12:00:00.000Z level=error msg="deadline exceeded"',
    "-----BEGIN CERTIFICATE----- is what a certificate begins with",
    "-----BEGIN PUBLIC KEY----- is no secret",
    "Basic usage: basic example, basic authentication failed",
    "bearer of bad news; the bearer token was rejected",
    "rate limit: 60 requests per minute, retry after 20s",
    "a private key is needed; the secret key must be kept",
    "version 1.2.3-rc.1+build.20260101 of python-3.11.7-linux-x86_64",
    "0x7ffee3b0c442 and 0xDEADBEEF",
    "AKIA is how AWS ids begin, ghp_ how those of GitHub do, bw_ how ours do",
    "eyJ is how a JSON web token begins",
    "Grüße aus Köln: Schlüssel fehlt, 鍵がありません, ключ не найден",
    "and/or, either/or, 1/2, a/b/c, input/output, client/server/protocol",
    "x = a.b.c(d)[e]; y = {f: g}; z = h ? i : j",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ and abcdefghijklmnopqrstuvwxyz",
    "0123456789012345678901234567890123456789",
)
"""Texts that stay as they are, whatever is looked for."""
