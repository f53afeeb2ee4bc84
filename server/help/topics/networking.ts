import type { HelpArticle } from '../topic.ts'

export const networkingTopics: HelpArticle[] = [
  {
    id: 'ports',
    title: 'A port is in use',
    summary: 'Homeport uses another port than usual, or does not start because a port is in use.',
    keywords: 'EADDRINUSE 4600 4680 4643 address already in use listen taken',
    body: [
      'Homeport listens on three ports: 4600 for the dashboard and the API, 4680 for apps over HTTP, and 4643 for apps over HTTPS. If a default port is in use, Homeport uses the next free one for this run, and every URL it shows has the right port. If a port that you set yourself is in use, Homeport prints an error and does not start.',
      'To see which program uses a port, on macOS and Linux, and on Windows:',
      { run: 'lsof -nP -iTCP:4680 -sTCP:LISTEN' },
      { run: 'netstat -ano | findstr :4680' },
      'To use other ports:',
      { run: 'npx homeport serve --port 5600 --edge-port 80 --edge-https-port 443', note: 'ports below 1024 may need administrator rights' },
      'If one of your apps reports `EADDRINUSE`, it listens on a fixed port instead of the one in `PORT` ([[health-check]]).',
    ],
  },
  {
    id: 'names',
    title: 'A .localhost name is not found',
    summary: 'A browser opens my-app.localhost, but Safari, curl or another program does not.',
    keywords: 'could not resolve host ENOTFOUND dns hosts file safari curl libnss-myhostname',
    body: [
      'Chrome, Edge and Firefox resolve every name under `localhost` to this machine. Safari, curl, Java and others ask the operating system, and not every system resolves these names.',
      {
        list: [
          'Linux: install `libnss-myhostname`. Then every program resolves them.',
          'macOS and Windows: add the names to the hosts file, once or automatically.',
        ],
      },
      { run: 'npx homeport hosts', note: 'prints the lines' },
      { run: 'sudo npx homeport hosts --write', note: 'adds them in a marked block; --remove deletes the block' },
      { run: 'npx homeport settings set hosts_file true', note: 'keeps them up to date if Homeport may write the file' },
      'For a single request you can send the host header yourself:',
      { run: "curl -H 'Host: my-app.localhost:4680' http://127.0.0.1:4680/" },
      { h: 'From inside a container' },
      'With Docker, an app can call the public address of its own project and those of the other projects of its account, such as `http://other.localhost:4680`. It knows the names that exist when its container starts: after you add a project, deploy or restart the ones that call it.',
      {
        list: [
          'These requests go through the edge, so only public services respond. Private services of other projects cannot be reached.',
          'Use HTTP: programs in a container do not trust the certificates of this instance.',
          'curl and browsers resolve every name under `localhost` to the container itself. Give curl the address: `curl --resolve`.',
          'A firewall on Linux may block it: allow connections from Docker’s networks to port 4680. Rootless Docker and Podman do not support this.',
        ],
      },
      'Other devices can never resolve these names: see [[phones]].',
    ],
  },
  {
    id: 'https',
    title: 'HTTPS certificate warnings',
    summary: 'The instance issues its own certificates. Browsers warn until this machine trusts them.',
    keywords: 'certificate not trusted NET::ERR_CERT_AUTHORITY_INVALID SSL_ERROR mkcert authority browser warning secure',
    body: [
      'Every app is also available over HTTPS, for example at `https://my-app.localhost:4643`. The certificates of local names come from a certificate authority that this instance created ([[public-names]] has those of public names). Its key never leaves this machine and signs certificates only for hostnames. Trust it under [[/instance/network?at=https|Network, HTTPS]], or run:',
      { run: 'npx homeport trust' },
      'Then restart the browser. Firefox and Chromium on Linux need the package `libnss3-tools`. To remove the authority and destroy its key:',
      { run: 'npx homeport trust --remove' },
      'If the connection closes immediately without a warning, no project uses that hostname: Homeport issues certificates only for hostnames that it routes.',
    ],
  },
  {
    id: 'public-names',
    title: 'Public names and certificates',
    summary: 'Give every project a public address below a domain of yours, with certificates that all browsers trust.',
    keywords: 'acme letsencrypt let’s encrypt apps domain wildcard ssl tls https server public internet http-01 dns-01 cloudflare certbot',
    body: [
      'With an apps domain, every project answers at a public name in addition to its local one: `my-app.apps.example.com` and `my-app.localhost`. Previews and services have their labels there too. Set an A record for all names below the domain, `*.apps.example.com`, with the address of this instance, and start Homeport on a server like this:',
      {
        run: 'npx homeport serve --host 0.0.0.0 --edge-port 80 --edge-https-port 443 --apps-domain apps.example.com --acme-email you@example.com --acme-accept-terms',
        note: 'ports below 1024 may need administrator rights',
      },
      'The options are also variables: `HOMEPORT_APPS_DOMAIN`, `HOMEPORT_ACME_EMAIL`, `HOMEPORT_ACME_ACCEPT_TERMS=true`, `HOMEPORT_ACME_DIRECTORY`. The dashboard keeps its own address: no project can have its name. If it has a public name too, give it another registered domain than the apps, because an app can set cookies for all names of its domain.',
      { h: 'Certificates' },
      'With `--acme-email` and `--acme-accept-terms`, Let’s Encrypt issues certificates for the names of projects and for verified custom domains, and Homeport renews them in the last third of their lifetime. A project gets its certificate when it is live, others with their first visitor. Until then, visitors see the certificate of this instance’s own authority, about which browsers warn. Try it first with `--acme-directory staging`, whose limits are high and whose certificates browsers do not trust. Any other ACME authority works by its directory URL.',
      'The authority connects to port 80 of the name. Forward it to the HTTP port of the apps (4680 by default). While a certificate is ordered, Homeport answers `/.well-known/acme-challenge/` of that name itself; at any other time the app does.',
      { h: 'One certificate for all projects' },
      'Let’s Encrypt issues at most 50 certificates for names of a domain in a week. With many projects, use one wildcard certificate, which needs a DNS record that Homeport sets:',
      {
        list: [
          'Cloudflare: `HOMEPORT_ACME_DNS=cloudflare` and `HOMEPORT_CLOUDFLARE_API_TOKEN`, a token that may edit the DNS of the zone.',
          'Others: `HOMEPORT_ACME_DNS=webhook` and `HOMEPORT_ACME_DNS_URL`, which gets POST `/present` and `/cleanup` with `{fqdn, value}`, as lego’s `httpreq` provider sends them. `HOMEPORT_ACME_DNS_TOKEN` is `user:password` or a bearer token.',
        ],
      },
      { h: 'There is no certificate' },
      'The reason is under [[/instance/network?at=public-names|Network, Public names]], at the domain, and in the doctor:',
      { run: 'npx homeport doctor' },
      {
        list: [
          'After a failure, Homeport waits 5, 15, 45 minutes and so on, at most a day. For a custom domain, `homeport domains verify` tries again at once.',
          'Homeport stays below the limits of Let’s Encrypt: at most 40 new names of a domain and 4 certificates of the same name in a week, 250 orders in three hours, 4 failed validations of a name in an hour. Then it waits, also after a restart.',
          'Not in DNS: add the A record. An AAAA record must point to this machine too.',
          'Cannot connect: check firewall and port forwarding of port 80.',
          'A CAA record of the domain must allow the authority.',
        ],
      },
    ],
  },
  {
    id: 'domains',
    title: 'Domains and DNS',
    summary: 'A domain stays “failed”, or is verified but does not open. How to buy domains.',
    keywords: 'a record cname cloudflare registrar porkbun verify ttl own domain buy transfer',
    body: [
      'Your own domain needs an A record with the IP address of this instance. The domain’s page shows the expected and the actual record and checks again every 15 seconds while it is open. An alias (CNAME) that resolves to this address works too.',
      { run: 'npx homeport domains verify www.example.com' },
      { h: 'The domain stays failed' },
      {
        list: [
          'DNS resolvers cache the old record until its TTL ends. Wait for the time that the check shows.',
          'Cloudflare: turn off the proxy for this record (“DNS only”), because the proxy hides the address behind it.',
          'Homeport asks the resolvers of the system. To use others, set `dns_resolvers`.',
        ],
      },
      { run: 'npx homeport settings set dns_resolvers 9.9.9.9,1.1.1.1' },
      { h: 'The domain is verified but does not open' },
      'The record points to this machine, but visitors connect to ports 80 and 443. Forward both ports on your router, start Homeport with `--edge-port 80 --edge-https-port 443`, and make the edge listen on the network (`--host`). [[public-names]] has how the domain gets a certificate.',
      { h: 'Buying domains' },
      'The instance itself sells names under `.test`, `.internal` and `.home.arpa`, free of charge and without a network. It can answer DNS queries for them, so that programs on this machine find them; `homeport doctor` shows how to make the system ask it.',
      { run: 'npx homeport settings set dns_server 4653' },
      'Public domains come from the registrar that the operator configures (`HOMEPORT_REGISTRAR`). If the registrar refuses an order, the message says why.',
    ],
  },
  {
    id: 'phones',
    title: 'A phone or another computer',
    summary: 'Open the instance to your local network, and why a phone cannot reach it.',
    keywords: 'lan network qr code wifi firewall 421 misdirected origin password share device',
    body: [
      'By default only this machine can reach Homeport. Set a password and open it under [[/instance/network?at=lan|Network]], which then shows a URL and a QR code for each app.',
      { run: 'npx homeport lan on' },
      { run: 'npx homeport lan --qr my-app' },
      { h: 'The phone cannot connect' },
      {
        list: [
          'The phone must be on the same network. Guest networks isolate devices from each other.',
          'The firewall of this machine may block connections: allow Homeport (or Node) on private networks.',
          'On the phone, a name that ends in `localhost` means the phone itself. Use the URL with its own port instead.',
          '421 `misdirected_request`: on the network the dashboard accepts only its own addresses and `NAME.local` as the hostname.',
          '`origin_not_allowed`: a page of another site sent the request. Open the dashboard at its own URL.',
        ],
      },
      'The connection is not encrypted. Open the instance only on networks you trust, and close it when you no longer need it.',
      { run: 'npx homeport lan off' },
    ],
  },
]
