import type { HelpArticle } from '../topic.ts'

export const serviceTopics: HelpArticle[] = [
  {
    id: 'services',
    title: 'Workers, cron jobs and other services',
    summary: 'A repository contains more than one app: an API, a worker, a queue, a scheduled job, or a compose file.',
    keywords:
      'service worker cron schedule release migrate compose procfile redis queue volume homeport.yaml api restart background job service_not_found service_not_started volume_not_found snapshot_not_found volume_file_not_found volume_in_use',
    body: [
      'A project has one or more services. List them in `homeport.yaml` at the root of the source. A `compose.yaml` without a `homeport.yaml` is read the same way, and so is a `Procfile`.',
      {
        file: 'homeport.yaml',
        text: [
          'services:',
          '  web:     { build: ., command: node server.js, port: 3000 }',
          '  api:     { build: ./api, port: 4000, public: true }',
          '  worker:  { build: ., command: node worker.js }',
          '  nightly: { build: ., command: node clean.js, schedule: "0 3 * * *" }',
          '  cache:   { image: "redis:7", volumes: ["cache:/data"] }',
          'release:   npm run migrate',
          'volumes:   { cache: {} }',
        ].join('\n'),
      },
      {
        list: [
          '`web` answers at the address of the project. Another service with `public: true` answers at `NAME--SLUG.localhost`.',
          'In containers, services reach each other by name: `http://api:4000`, `redis://cache:6379`. As processes, and in containers too, `HOMEPORT_SERVICE_API_URL` is the address of the service `api`.',
          'A ready image needs Docker. It gets only the variables that the file gives it, and keeps running while new versions of the other services are deployed.',
          'Each preview has services, networks and volumes of its own.',
        ],
      },
      { h: 'Release command' },
      'It runs in the new version, with its variables and database, after the build and before traffic. If it fails, the deployment fails, and the previous version stays live.',
      { h: 'Cron' },
      'A service with a `schedule` runs its command when it is due, in UTC unless it has a `time_zone`, and only in production. A run that is due while the previous one still runs is skipped. A run that was due while Homeport was closed is recorded as missed, and not made up for.',
      { run: 'npx homeport services my-app run nightly' },
      { h: 'Volumes' },
      'Files outside of a volume are lost with the next deployment. A volume is kept across deployments, restarts and rollbacks, and is deleted with its project or preview.',
      'A preview begins with empty volumes, or with a snapshot of production’s if `preview_volumes` is `snapshot` in `homeport.yaml` or in the settings of the project ([[project-settings]]).',
      'A snapshot holds the files of one moment; the services stand still while it is taken. A restore stops them, takes a snapshot of the present files first, and starts them again. A volume that the live version no longer uses can be deleted, and a snapshot is taken before.',
      { run: 'npx homeport volumes snapshot my-app cache' },
      { run: 'npx homeport volumes files my-app cache', note: 'its files; volumes get saves one of them' },
      { run: 'npx homeport volumes my-app', note: 'sizes, who uses them, snapshots' },
      { h: 'Sleep' },
      'An environment sleeps and wakes as a whole: a request to any of its addresses wakes it, and so does a cron run. While a worker uses the processor, it does not go to sleep.',
      { run: 'npx homeport services my-app', note: 'status, address and next run of each service' },
      { run: 'npx homeport logs my-app --service worker --follow' },
    ],
  },
  {
    id: 'managed-services',
    title: 'Redis, MariaDB and the mail catcher',
    summary: 'Services that a project gets with one command, without a configuration file.',
    keywords: 'redis mariadb mysql cache queue smtp mail email catcher mailhog mailpit managed add-on REDIS_URL MYSQL_URL SMTP_URL message_not_found',
    body: [
      { h: 'Redis and MariaDB' },
      { run: 'npx homeport services my-app add redis' },
      { run: 'npx homeport services my-app add', note: 'what there is, and what the project has' },
      {
        list: [
          'The project is deployed again. Its apps get `REDIS_URL` or `MYSQL_URL`, and the parts of the address as variables of their own. These replace variables of the same names.',
          'Host names are `redis` and `mariadb`. They exist for the services of the project alone; there is no port on this machine.',
          'A project without a configuration file becomes the service `web`. With one, the managed service is added to those of the file.',
          'The password is random and encrypted in the data folder. Builds get the variables too, but the service does not run for them.',
          'Each preview has a Redis or MariaDB of its own. Whether it begins empty is the setting `preview_volumes`.',
          'Managed services need Docker.',
        ],
      },
      'Data is in the volumes `managed-redis` and `managed-mariadb`, with snapshots like those of other volumes. `homeport db` and its dumps are for PostgreSQL alone.',
      { run: 'npx homeport volumes snapshot my-app managed-mariadb' },
      { run: 'npx homeport services my-app remove redis', note: 'the data is kept until the project is deleted' },
      { h: 'Mail catcher' },
      'While it is on, the mail of the apps is stored here and never sent on, so that you can see what they send without reaching anybody.',
      { run: 'npx homeport mail my-app on' },
      { run: 'npx homeport mail my-app', note: 'the messages, newest first' },
      {
        list: [
          'Apps get `SMTP_URL`, `SMTP_HOST`, `SMTP_PORT`, `SMTP_USER` and `SMTP_PASSWORD`, which replace their own. The connection is without TLS.',
          'The last 500 messages of a project are kept, up to 512 MB together. A message may have 25 MB.',
          'A message is shown without scripts and remote images. Backups of the instance do not include messages.',
          'Containers reach the catcher at the gateway of their network. With Docker in a virtual machine the host is `host.docker.internal`; rootless Docker on Linux has no such name, and apps there cannot send.',
        ],
      },
    ],
  },
]
