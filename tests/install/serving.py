"""The library is served through Caddy and nginx as `docs/proxies.md` configures them, to browsers, apps and a phone."""

import os
import re
import shlex
from urllib.parse import urlsplit

import niquests

import manual
import photos
from checking import Log, check, wait_until
from client import Client, Person
from documented import EXAMPLE_URL
from guest import ROUTER
from phone import upload_from_phone
from steps import doctor, images, journal, library_size, load_renditions
from world import FOLDER, guest, installed, owner

HOST = urlsplit(EXAMPLE_URL).hostname
CONFIGURATION, VARIABLES = "/etc/photo-library/config.toml", "/etc/photo-library/environment"
#: Bytes of an upload that nginx refuses with its default settings, and that no proxy should store.
LARGE = 60_000_000
#: An address that a client claims to have.
FORGED = "203.0.113.9"
CADDY_ROOT = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
#: Makes an authority and a certificate for $1 in the folder $2, which it signs.
MAKE_CERTIFICATE = """
mkdir -p "$2" && cd "$2"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=Test authority" \\
    -keyout authority.key -out authority.pem -addext keyUsage=critical,keyCertSign
printf 'subjectAltName=DNS:%s\\nbasicConstraints=CA:FALSE\\n' "$1" > extensions
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout privkey.pem -out request.pem
openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial -days 30 -extfile extensions \\
    -out own.pem
cat own.pem authority.pem > fullchain.pem
"""


@check
def the_settings_for_a_proxy_are_in_the_configuration_file(log: Log):
    expressions = [f"s|^#({name} = .*)|\\1|" for name in ("base-url", "trusted-proxy")]
    guest().run(log, f"sed -i -E '{'; '.join(expressions)}' {CONFIGURATION}")
    changed = guest().run(log, f"grep -v '^#' {CONFIGURATION}")
    assert f'base-url = "{EXAMPLE_URL}"' in changed and 'trusted-proxy = ["127.0.0.1"]' in changed, changed
    # The log then has a line for each request.
    guest().run(log, f"umask 077 && echo RUST_LOG=info,web=debug > {VARIABLES}")
    guest().run(log, f"echo 127.0.0.1 {HOST} >> /etc/hosts")
    guest().run(log, "systemctl restart photo-library")
    installed().move_to_documented_url()


@check
def caddy_serves_the_library(log: Log):
    install(log, "caddy")
    recipe = manual.block("proxies.md", "Caddy", "caddyfile")
    [line] = re.findall(r"add the line `(.*?)`", manual.section("proxies.md", "Caddy"))
    guest().write(log, "/etc/caddy/Caddyfile", recipe.replace("{\n", f"{{\n\t{line}\n", 1))
    guest().run(log, "systemctl restart caddy")
    guest().run(log, f"until test -s {CADDY_ROOT}; do sleep 0.2; done")
    trust(log, "caddy", CADDY_ROOT)
    use_through_proxy(log, "caddy", 1)
    guest().run(log, "systemctl disable --now caddy")


@check
def nginx_serves_the_library(log: Log):
    install(log, "nginx")
    recipe = manual.block("proxies.md", "nginx", "nginx")
    [folder] = set(re.findall(rf"(/etc/letsencrypt/\S+)/\w+\.pem;", recipe))
    guest().run(log, f"sh -ec {shlex.quote(MAKE_CERTIFICATE)} sh {HOST} {folder}")
    guest().write(log, "/etc/nginx/conf.d/photos.conf", recipe)
    guest().run(log, "nginx -t && systemctl restart nginx")
    trust(log, "nginx", f"{folder}/authority.pem")
    use_through_proxy(log, "nginx", 2)


@check
def a_phone_uploads_through_the_proxy(log: Log):
    before = library_size()
    upload_from_phone(log, owner(), [photos.photo(10), photos.photo(11, padding=12_000_000)])
    wait_until(lambda: len(images()) == before + 2, "the phone's photos are not in the library")


def install(log: Log, proxy: str):
    guest().run(log, f"DEBIAN_FRONTEND=noninteractive apt-get install --yes {proxy}")


def trust(log: Log, name: str, certificate: str):
    """Lets the machine and the clients trust an authority."""
    guest().run(log, f"cp {certificate} /usr/local/share/ca-certificates/{name}.crt && update-ca-certificates")
    # A file of its own, because libraries keep what they have read from a path.
    file = FOLDER / f"{name}.pem"
    file.write_text(guest().run(log, f"cat {certificate}"))
    # The HTTP libraries of the clients read these variables.
    os.environ |= {"REQUESTS_CA_BUNDLE": str(file), "SSL_CERT_FILE": str(file)}


def use_through_proxy(log: Log, proxy: str, number: int):
    """A person, an app, a script and a client that forges its address use the library."""
    to_https = niquests.get(f"http://{HOST}/", allow_redirects=False)
    assert to_https.status_code in (301, 308) and to_https.headers["location"] == f"{EXAMPLE_URL}/", to_https.headers
    doctor(log)
    assert owner().sign_in(Client(installed())).status_code == 303
    load_renditions(images()[0]["id"])

    variables = {"MCP_URL": f"{EXAMPLE_URL}/api/mcp/v1", "EMAIL": owner().email, "PASSWORD": owner().password}
    client = manual.DOCS.parent / "tests/python/clients/mcp_2.py"
    log.run(os.environ["CLIENTS_PYTHON"], "-B", client, **variables)

    # In another account, because the app expects the samples.
    person = Person(installed(), f"uploads-{proxy}")
    answer = person.upload("large.jpg", photos.photo(number, padding=LARGE))
    assert answer.status_code == 201, answer.text

    headers = owner().bearer | {"X-Forwarded-For": FORGED, "Forwarded": f"for={FORGED}"}
    assert owner().browser.request("GET", "/api/ext/v2/library", headers=headers).status_code == 200
    written = journal(log)
    assert ROUTER in written and FORGED not in written, "the log has not the address of the client"
