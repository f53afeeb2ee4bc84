import type { HelpArticle } from '../topic.ts'

export const runningTopics: HelpArticle[] = [
  {
    id: 'engine',
    title: 'The engine is not found',
    summary: 'Docker runs, or should, and Homeport says that it works without containers.',
    keywords: 'docker engine not found socket DOCKER_HOST colima orbstack podman runtime process isolated daemon',
    body: [
      'At its start Homeport looks for a Docker engine: where `DOCKER_HOST` says, in the current `docker context`, and at the usual sockets of Docker Desktop, OrbStack, Colima, Rancher Desktop and Podman. It takes the first that answers. Without one it builds and runs apps as processes of this machine: that works, and does not isolate them. Run only what you would run by hand. On Linux install the package `bubblewrap`: then they see their own project and programs of the system, but not the data and keys of this instance, your home folder or other projects; the network stays shared. [[/instance|Instance, Health]] says whether it works (sandbox), or what is exposed because it does not. Accounts other than yours may not deploy then (`runtime_not_isolated`), nor ever deploy a folder of this machine.',
      'A process listens where it wants: it is told 127.0.0.1 in `HOST`, and one that takes all addresses can be reached from your network. Its log and [[/instance|Instance, Health]] name it, on Linux; macOS and Windows do not tell what was bound.',
      {
        steps: [
          'See where it looked and what answered: [[/instance|Instance, Health]], or the command below.',
          'Start the engine, and ask it yourself with `docker version`.',
          'Start Homeport again. A running one stays with what it found.',
        ],
      },
      { run: 'npx homeport doctor' },
      { run: 'docker context ls', note: 'the one with the star is asked' },
      {
        list: [
          'Linux: `permission denied` at the socket means that you are not in the group `docker`: `sudo usermod -aG docker $USER`, then sign in anew.',
          'Colima: `colima start`; Podman: `podman machine start`, or on Linux `systemctl --user start podman.socket`.',
          'Somewhere else entirely: name it, such as `DOCKER_HOST=unix:///path/to/docker.sock`.',
        ],
      },
      { run: 'npx homeport serve --runtime docker', note: 'insists: it does not start without an engine, and says why' },
    ],
  },
  {
    id: 'sleep',
    title: 'Apps that sleep, and cold starts',
    summary: 'The first request after a while is slow, or a job inside an app does not run at night.',
    keywords: 'cold start idle always warm frozen scale to zero cron background job wake websocket',
    body: [
      'An app that nobody visits for 15 minutes goes to sleep: at first frozen, with its memory kept, from which it wakes in tens of milliseconds; stopped after an hour, or when sleeping apps hold too much memory. The next request wakes it and waits, 30 seconds at most. What the cache holds is answered without waking it.',
      'Visits keep an app awake: requests, open WebSockets, streams and downloads. Health checks and readers of its log do not.',
      {
        list: [
          'A job that has to run at night: make the project always warm, in its settings.',
          'Slow to wake: what it does before it listens is what everybody waits for. Metrics of the project shows each cold start.',
          'Longer before sleep, for all: the setting below.',
        ],
      },
      { run: 'npx homeport settings set sleep_after_s 3600' },
    ],
  },
  {
    id: 'cache',
    title: 'The cache',
    summary: 'An old page comes back, or a page is never kept.',
    keywords: 'X-Cache HIT MISS stale purge Cache-Control Surrogate-Key tags webhook Cache-Status cdn 502 cache_purge_failed',
    body: [
      'The edge keeps what an app says that everybody may see, for as long as it says: `Cache-Control: public, max-age=60`. A production deployment empties it. The header `X-Cache` of each answer says `HIT`, `MISS` and so on, and `Cache-Status` why. Cache of the project asks that for any address.',
      { run: 'npx homeport cache my-app inspect /news --send' },
      { h: 'An old page comes back' },
      'It is within the time that the app gave it, and perhaps in your browser’s own cache too. Purge it: all, by address, or by a tag that the app sends as `Surrogate-Key` or `Cache-Tag`.',
      { run: 'npx homeport cache my-app purge --tags news' },
      { h: 'A page is never kept' },
      {
        list: [
          'The app does not say that it may be: no `Cache-Control`, or `private`, `no-store`.',
          'The answer sets a cookie, or the request came with one and the app did not say `s-maxage`.',
          'It is an error, or larger than 8 MB.',
          'Caching is off, in the project’s settings.',
        ],
      },
      'A CMS purges by a webhook with a token of its own, under Cache. `cache_purge_failed` means that the purge is not certain: ask again.',
    ],
  },
  {
    id: 'environment',
    title: 'Variables',
    summary: 'A variable is missing, is an old one, or is not what was set.',
    keywords: 'env environment variable dotenv .env secret production preview not defined undefined redeploy',
    body: [
      'Variables are set under Environment of a project, for production, previews or both. An app has them from its next start on: a change that production sees deploys it anew by itself when it is live; after a deployment that failed press Build again.',
      { run: 'npx homeport env set my-app API_URL=https://api.example.com' },
      {
        list: [
          'A whole `.env` can be pasted or dropped there; you see what would be made and what is left out before anything is saved.',
          'Builds have them too. What a bundler puts into a page (names such as `VITE_`, `NEXT_PUBLIC_`) is as it was when it was built, and everybody can read it.',
          '`PORT`, and names that begin with `HOMEPORT_`, are the platform’s own.',
          '`DATABASE_URL` is that of the project’s database, while there is one: it wins over a variable of that name.',
          'A preview does not see the variables of production.',
        ],
      },
    ],
  },
  {
    id: 'databases',
    title: 'Databases',
    summary: 'A database cannot be made, reached, or restored.',
    keywords: 'postgres postgresql DATABASE_URL psql connection refused database_unavailable restore_failed dump import pg_dump',
    body: [
      'A project may have a PostgreSQL database; its app finds it in `DATABASE_URL` and is deployed anew for that. The page Database has the address and a line for `psql`.',
      { run: 'npx homeport db create my-app' },
      { run: 'psql "$(npx homeport db url my-app)"' },
      { h: 'It is not reached' },
      {
        list: [
          '`database_unavailable` names what is away: Docker, or the server of this machine. [[/instance|Instance, Health]] shows it too. With Docker: `docker ps`, and the log of the container that the message names.',
          'Without Docker the server’s own log is `postgres/postgres.log` in the data folder. As root its programs are copied to `/var/lib/homeport`, which another user has to reach.',
          '`database_busy`: something else works on it, such as a dump. Try again in a moment.',
          'The app cannot reach it: deploy again after you moved to the other runtime. An app in a container does not reach a database that lies outside of Docker; its build log says so.',
        ],
      },
      { h: 'A file does not go in' },
      '`restore_failed` names the line. A dump has to be plain SQL, without the database itself; with the first mistake everything stays as it was.',
      { run: 'pg_dump --format=plain --no-owner mydb > mydb.sql' },
      { run: 'npx homeport db restore my-app mydb.sql' },
    ],
  },
  {
    id: 'screenshots',
    title: 'Screenshots',
    summary: 'A project shows no picture.',
    keywords: 'thumbnail picture browser chromium chrome sandbox screenshot_not_taken',
    body: [
      'What was deployed is pictured by a browser of this machine: in the desktop by Homeport itself, otherwise by Chromium, Chrome or Edge. The doctor says which one, or that there is none.',
      {
        list: [
          'None is found: install one, or name it in `HOMEPORT_CHROMIUM`.',
          '`No usable sandbox`: take the system’s own package of Chromium.',
          'The app sleeps, is empty, answers with an error, or leads elsewhere: then there is none, and the log of the instance says which.',
          'They are switched off in the settings of the instance.',
        ],
      },
    ],
  },
]
