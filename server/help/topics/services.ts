import type { HelpArticle } from '../topic.ts'

export const serviceTopics: HelpArticle[] = [
  {
    id: 'services',
    title: 'Workers, cron jobs and other services',
    summary: 'A repository contains more than one app: an API, a worker, a queue, a scheduled job, or a compose file.',
    keywords:
      'service worker cron schedule release migrate compose procfile redis queue volume homeport.yaml api restart background job service_not_found service_not_started volume_not_found snapshot_not_found',
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
      'A snapshot holds the files of one moment; the services stand still while it is taken. A restore stops them, takes a snapshot of the present files first, and starts them again.',
      { run: 'npx homeport volumes snapshot my-app cache' },
      { run: 'npx homeport volumes my-app', note: 'sizes, who uses them, snapshots' },
      { h: 'Sleep' },
      'An environment sleeps and wakes as a whole: a request to any of its addresses wakes it, and so does a cron run. While a worker uses the processor, it does not go to sleep.',
      { run: 'npx homeport services my-app', note: 'status, address and next run of each service' },
      { run: 'npx homeport logs my-app --service worker --follow' },
    ],
  },
]
