"""Which words are secrets, which are not, and that no text makes the search slow."""

from __future__ import annotations

import time

import pytest

from alveus.importers.secrets import find, mask, mask_json

B = "aB3dE6gH9k"
SECRETS = {
    "openai_key": ["sk-proj-" + B * 5, "sk-" + B * 4 + "T3BlbkFJ", "sk-or-v1-" + "0a1b2c3d" * 8],
    "anthropic_key": ["sk-ant-api03-" + "aB3-e_" * 15],
    "github_token": [
        "ghp_" + B * 3 + "aB3dE6",
        "gho_" + B * 4,
        "ghu_" + B * 4,
        "ghs_" + B * 4,
        "ghr_" + B * 4,
        "github_pat_" + B * 8,
    ],
    "gitlab_token": ["glpat-" + B * 2],
    "aws_key_id": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "google_key": ["AIzaSy" + B * 3 + "abc"],
    "google_token": ["ya29." + B * 3, "GOCSPX-" + B * 3],
    "slack_token": ["xoxb-123456789012-123456789012-" + B * 2, "xapp-1-A0123-123-" + B],
    "slack_webhook": ["https://hooks.slack.com/services/T00000000/B00000000/" + B * 2],
    "stripe_key": ["sk_live_" + B * 2, "sk_test_" + B * 2, "rk_live_" + B * 2, "whsec_" + B * 3],
    "npm_token": ["npm_" + B * 3 + "aB3dE6"],
    "pypi_token": ["pypi-AgEIcHlwaS5vcmc" + B * 4],
    "huggingface_token": ["hf_" + B * 3 + "aBcD"],
    "sendgrid_key": ["SG." + B * 2 + "." + B * 4],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"],
    "telegram_token": ["123456789:AA" + B * 3 + "abc"],
    "private_key": [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAA\\n-----END OPENSSH PRIVATE KEY-----",
    ],
}
ALL = [(kind, secret) for kind, secrets in SECRETS.items() for secret in secrets]


@pytest.mark.parametrize(("kind", "secret"), ALL)
@pytest.mark.parametrize(
    "around", ["{}", "ключ{}", "密钥{}です", "it is {}, then", '"{}"', "a\\n{}", "\\u043a{}\\n", "x={}"]
)
def test_token_is_found_wherever_it_stands(kind, secret, around):
    """A token is masked whole, alone, quoted, escaped, and glued to Cyrillic or CJK letters."""
    text = around.format(secret)
    masked, counts = mask(text)
    assert f"[secret:{kind}]" in masked
    assert counts == {kind: 1}
    assert secret[8:] not in masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", "password: [secret:password]"),
        ("The password is hunter2.", "The password is [secret:password]"),
        ('password = "swordfish"', 'password = "[secret:password]"'),
        ("DB_PASSWORD=p4ss!w0rd#x", "DB_PASSWORD=[secret:password]"),
        ("mysql --password hunter22 db", "mysql --password [secret:password] db"),
        ("пароль: qwerty123", "пароль: [secret:password]"),
        ("Пароль от базы — Qwerty123!", "Пароль от базы — [secret:password]"),
        ("пароль: 123456", "пароль: [secret:password]"),
        ("密码：abc12345", "密码：[secret:password]"),
        ('"api_key": "abcd1234efgh5678"', '"api_key": "[secret:assigned]"'),
        ('{\\"token\\": \\"abcd1234efgh\\"}', '{\\"token\\": \\"[secret:assigned]\\"}'),
        ("ключ доступа: a8f5f167f44f4964e6c998dee827110c", "ключ доступа: [secret:assigned]"),
        ("токен=abcd1234efgh", "токен=[secret:assigned]"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "aws_secret_access_key = [secret:assigned]",
        ),
        ("SECRET_KEY='django-insecure-x1!'", "SECRET_KEY='[secret:assigned]'"),
        ("token: password: hunter22", "token: password: [secret:password]"),
        ("Authorization: Bearer abcDEF1234567890abcdef", "Authorization: Bearer [secret:authorization]"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [secret:authorization]"),
        ("postgres://bob:s3cr3t@db:5432/x", "postgres://bob:[secret:url_password]@db:5432/x"),
        ("token=ghp_" + B * 4, "token=[secret:github_token]"),
        ("token=" + "a1" * 400 + " next", "token=[secret:assigned] next"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nMIIEvQIBADANBgkq", "[secret:private_key]"),
    ],
)
def test_secret_is_known_by_where_it_stands(text, masked):
    """After a name, in a header, in an address or in a key block, a value is a secret; the rest stays readable."""
    assert mask(text)[0] == masked


@pytest.mark.parametrize(
    "text",
    [
        "id 550e8400-e29b-41d4-a716-446655440000",
        "commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"usage": {"input_tokens": 10, "max_tokens": 128000, "token": 128000}',
        "token = get_token2(user)",
        "token = self.tokens[0]",
        "password: str | None = None",
        'password = os.environ["DB_PASSWORD1"]',
        "api_key=settings.API_KEY2",
        "access_key=${ACCESS_KEY1} token=$GITHUB_TOKEN1",
        '"password": "string", "token": "required"',
        'password = "********" or password=xxxxxxxx',
        'FORCE_CHANGE_PASSWORD = "FORCE_CHANGE_PASSWORD"',
        "the secret is base64-encoded; the token is expired",
        "Password must have 8 characters. Enter password:\nUser123 logged in",
        "sk-fading-circle-container-wrap2 task-list-12345678901234567890",
        "ключ: значение. Токен: строка. Ключ кэша: user:42",
        "primary key: id INTEGER1; the key: value pairs",
        "https://example.org:8080/a@b and git@github.com:a/b.git",
        "tokenizer: gpt2-medium-1234, secretary: Anna2000",
        "const token = await fetchToken1()",
        "-----BEGIN PRIVATE KEY----- is how such a file begins",
        "AKIA is a prefix; eyJ too; xoxb- as well; ghp_short",
    ],
)
def test_ordinary_text_is_left_alone(text):
    """Ids, hashes, code and prose about secrets are not secrets."""
    assert mask(text) == (text, {})


def test_mask_of_a_mask_is_the_same():
    """What was masked once is not masked again."""
    for _, secret in ALL:
        masked = mask(f"token: {secret} password={secret} http://u:{secret}@h Bearer {secret}")[0]
        assert mask(masked) == (masked, {})


def test_json_is_masked_inside():
    """Every string of a value is looked at, and a member's name counts as what stands before it."""
    masked, counts = mask_json({"password": "hunter2", "list": ["ghp_" + B * 4, 5, None], "token": "abcd1234efgh"})
    assert masked == {
        "password": "[secret:password]",
        "list": ["[secret:github_token]", 5, None],
        "token": "[secret:assigned]",
    }
    assert counts == {"password": 1, "github_token": 1, "assigned": 1}


def test_places_are_right_beside_letters_that_grow():
    """A letter that becomes two in lower case does not shift what is masked."""
    assert mask("İİİ password: hunter2 İ")[0] == "İİİ password: [secret:password] İ"


@pytest.mark.parametrize(
    "unit",
    [
        *("eyJ", "eyJ-", "eyJaaaaaaaa.", "sk-", "SG.", "ghp_", ":AA", "12345678:AA ", "token:", "password=", "api_key"),
        *("-", "--pass ", "--a", "://a:", "bearer ", "пароль аа аа ", "ключ ", "token=aaaaaaaa1(", "token\\", "1"),
        *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----" + "A" * 5000, "password" + " " * 9),
    ],
)
def test_no_text_is_slow(unit):
    """Time grows with the length of the text and no faster, whatever it repeats."""
    spent = []
    for size in (50_000, 200_000):
        text = unit * (size // len(unit))
        start = time.process_time()
        find(text)
        spent.append(time.process_time() - start)
    # Four times the text: a quadratic search would take sixteen times as long.
    assert spent[1] < 9 * spent[0] + 0.1


@pytest.mark.parametrize("value", [{"token": {1, 2}}, {(1, 2): "x"}, {"deep": [{"a": float("nan")}]}, {"s": "\ud800"}])
def test_what_is_no_json_is_left_to_the_journal(value):
    """Masking refuses nothing: what the journal does not take comes back as it was."""
    masked, counts = mask_json(value)
    assert (repr(masked), counts) == (repr(value), {})


def test_a_secret_is_found_at_any_depth_among_what_is_none():
    """The one look at the whole says no more than where to look."""
    masked, counts = mask_json({"cwd": "/home/a", "list": [{"name": "x", "inner": {"password": "hunter2-hunter2"}}]})
    assert masked["list"][0]["inner"]["password"] == "[secret:password]"
    assert (masked["cwd"], sum(counts.values())) == ("/home/a", 1)
