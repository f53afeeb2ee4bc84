import type { HelpArticle } from '../topic.ts'

export const networkingTopics: HelpArticle[] = [
  {
    id: 'ports',
    title: 'A port is taken',
    summary: 'Homeport is at another port than usual, or does not start because one is in use.',
    keywords: 'EADDRINUSE 4600 4680 4643 address already in use listen',
    body: [
      'Homeport listens on three ports: 4600 for the dashboard and the API, 4680 for apps over HTTP, 4643 for apps over HTTPS. If a usual one is taken, it takes the next that is free for this run, and every address it shows has the right port. A port that you name yourself does not move: then the start says that it is taken.',
      'What holds a port, on macOS and Linux, and on Windows:',
      { run: 'lsof -nP -iTCP:4680 -sTCP:LISTEN' },
      { run: 'netstat -ano | findstr :4680' },
      'Other ports, for good:',
      { run: 'npx homeport serve --port 5600 --edge-port 80 --edge-https-port 443', note: 'ports under 1024 may need rights of an administrator' },
      'An app of yours that says `EADDRINUSE` is another thing: it listens on a fixed port instead of the one in `PORT` ([[health-check]]).',
    ],
  },
  {
    id: 'names',
    title: 'A name under .localhost is not found',
    summary: 'A browser opens my-app.localhost, but Safari, curl or another program does not.',
    keywords: 'could not resolve host ENOTFOUND dns hosts file safari curl libnss-myhostname',
    body: [
      'Chrome, Edge and Firefox know by themselves that every name under `localhost` is this machine. Safari, curl, Java and others ask the system, and not every system knows.',
      {
        list: [
          'Linux: install `libnss-myhostname`; from then on every program knows.',
          'macOS and Windows: put the names into the hosts file, once or for good.',
        ],
      },
      { run: 'npx homeport hosts', note: 'shows the lines' },
      { run: 'sudo npx homeport hosts --write', note: 'puts them there, between marks of their own; --remove takes them out' },
      { run: 'npx homeport settings set hosts_file true', note: 'keeps them in step, where Homeport may write the file' },
      'For one request there is a way without any of that:',
      { run: "curl -H 'Host: my-app.localhost:4680' http://127.0.0.1:4680/" },
      'Another device never finds these names: see [[phones]].',
    ],
  },
  {
    id: 'https',
    title: 'A browser warns of HTTPS',
    summary: 'The certificates of the instance are its own, and nobody trusts them until you say so.',
    keywords: 'certificate not trusted NET::ERR_CERT_AUTHORITY_INVALID SSL_ERROR mkcert authority warning secure',
    body: [
      'Every app answers over HTTPS too, such as `https://my-app.localhost:4643`. The certificates come from an authority that this instance made for itself; its key never leaves the machine and signs for hosts only. [[/instance/network?at=https|Network, HTTPS]] trusts it by a button, or:',
      { run: 'npx homeport trust' },
      'Then start the browser again. Firefox and Chromium on Linux need `libnss3-tools` for it. To take it back, the authority and its key:',
      { run: 'npx homeport trust --remove' },
      'If the connection closes at once instead of warning, no project has that name: certificates are made only for names that lead somewhere.',
    ],
  },
  {
    id: 'domains',
    title: 'Domains and DNS',
    summary: 'A domain stays “failed”, or is verified and opens nothing; names that are bought.',
    keywords: 'a record cname cloudflare registrar porkbun verify ttl own domain buy transfer',
    body: [
      'A name of your own needs an A record that names the address of this instance; its page shows both, expected and found, and looks again every 15 seconds while it is open. An alias (CNAME) that ends there is as good.',
      { run: 'npx homeport domains verify www.example.com' },
      { h: 'It stays failed' },
      {
        list: [
          'A record that was changed is remembered for its TTL by every resolver on the way: wait as long as the check says.',
          'Behind Cloudflare turn the proxy off for this record (“DNS only”): the proxy hides what is behind it.',
          'Homeport asks the system’s resolvers. Others may know more: set `dns_resolvers`.',
        ],
      },
      { run: 'npx homeport settings set dns_resolvers 9.9.9.9,1.1.1.1' },
      { h: 'It is verified and opens nothing' },
      'The record leads to this machine, but the world asks at ports 80 and 443: have your router lead them here, start with `--edge-port 80 --edge-https-port 443`, and let the edge listen beyond this machine (`--host`).',
      { h: 'Bought names' },
      'Names under `.test`, `.internal` and `.home.arpa` are sold by the instance itself, at no charge and without a network. For programs of this machine to find them it answers for them by DNS; the doctor gives the line that has the system ask it.',
      { run: 'npx homeport settings set dns_server 4653' },
      'Names of the real world come from a registrar that the operator configures (`HOMEPORT_REGISTRAR`). What a registrar refused, and why, stands in the message.',
    ],
  },
  {
    id: 'phones',
    title: 'A phone, or another computer',
    summary: 'Open the instance to the network around this machine, and why a phone may not reach it.',
    keywords: 'lan network qr code wifi firewall 421 misdirected origin password share',
    body: [
      'At first only this machine reaches Homeport. [[/instance/network?at=lan|Network]] opens it, after a password was set once, and shows for each app an address and a code to point a phone at.',
      { run: 'npx homeport lan on' },
      { run: 'npx homeport lan --qr my-app' },
      { h: 'The phone does not get through' },
      {
        list: [
          'It has to be in the same network; guest networks keep devices apart.',
          'The firewall of this machine may ask first: allow Homeport (or Node) for private networks.',
          'A name that ends in `localhost` means the phone itself, there: take the address with a port of its own.',
          '421 `misdirected_request`: on the network the dashboard answers to its addresses and to `NAME.local`, to no other name.',
          '`origin_not_allowed`: a page of another site asked in your name. Open the dashboard by its own address.',
        ],
      },
      'The connection is not encrypted: open it among people you trust, and close it when nobody needs it.',
      { run: 'npx homeport lan off' },
    ],
  },
]
