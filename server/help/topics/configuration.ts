import type { HelpArticle } from '../topic.ts'

export const configurationTopics: HelpArticle[] = [
  {
    id: 'configuration',
    title: 'Services in homeport.yaml or compose.yaml',
    summary: 'Run workers, scheduled jobs, databases and more web services next to an app, from a file in its source.',
    keywords:
      'homeport.yaml compose.yaml docker-compose.yml Procfile fly.toml railway.json netlify.toml vercel.json app.json configuration worker cron schedule release migration services multi-container depends_on healthcheck volumes env_file schema yaml',
    body: [
      'A source without such a file is one web service, which is detected. A file adds what else it runs. The first one that exists is read: `homeport.yaml`, a compose file (`compose.yaml`, `compose.yml`, `docker-compose.yaml`, `docker-compose.yml`), `Procfile`, `fly.toml`, `railway.json` or `railway.toml`, `app.json`, `netlify.toml`, `vercel.json`.',
      { run: 'npx homeport config check .', note: 'shows what is read and where each fact comes from, and names every line that cannot be used' },
      {
        run: 'npx homeport plan https://git.example.com/me/shop.git',
        note: 'the same for a repository, a folder or `--project my-app`, from a running instance',
      },
      { run: 'npx homeport config init .', note: 'writes a homeport.yaml with the same services' },
      { h: 'The plan' },
      'Before the first deployment, the page of a project draws what Homeport will do: services, images and volumes with their connections, and every fact with the file, the line or the default that it comes from. **New project** has **Show plan** for a git address or a folder. Nothing is deployed, and **Deploy** does not require looking at the plan.',
      'In a repository with several apps, use one of them, which sets `root_directory`, or select several: they are then services of one project. The choice is the setting `apps` of the project ([[project-settings]]), so that nothing has to be committed; a `homeport.yaml` in the root of the repository replaces it.',
      { h: 'Services' },
      'homeport.yaml uses the terms of compose where it has them. Each service has a name, by which the others reach it. [[services]] explains how they run.',
      {
        list: [
          '`build`: a folder of the source, or `context`, `dockerfile`, `target` and `args`. `image`: a prebuilt image instead, such as `redis:7`.',
          '`command`, `entrypoint`, `working_dir`: text is split into words, and run by `/bin/sh` if it has the syntax of a shell.',
          '`port`, `public`: the service named `web`, or the only one with a port, answers on the project’s address. Another one with `public: true` answers on `NAME--SLUG.localhost`. Each port under `ports` answers on `NAME-PORT--SLUG.localhost`.',
          '`schedule`: runs the command at these times, such as `"0 3 * * *"`, in `time_zone` or UTC.',
          '`environment`, `env_file`: variables. `${NAME}` and `${NAME:-default}` insert a variable of the project, and `$$` is a dollar sign. A prebuilt image gets only the variables that are named here.',
          '`volumes`: `NAME:/path` keeps files, and `./file:/path` copies a file of the source into the image. Add `:ro` for read-only. Declare each name under `volumes` at the end of the file.',
          '`healthcheck`: a path such as `/healthz`, `{ path: /healthz, timeout: 2m, interval: 5s }`, or a command in `test`. `timeout` is how long a new version may take to answer, from 5s to 10m; a command may take its `start_period` and `retries` times its `interval`.',
          '`depends_on`, `restart`, `replicas`, `autoscaling`, `memory`, `cpus`, `aliases`.',
        ],
      },
      'Besides `services`: `managed` lists services that Homeport provides, such as `managed: [postgres, redis, s3, mail]` ([[managed-services]]). `release` runs in each new version before it gets traffic, such as a migration. `required_variables` lists variables without which the project is not started. Every project setting can be given under its name in the API, such as `memory_limit_mb` or `health_path`. An unknown key is an error.',
      { h: 'Compose files' },
      'Services, health checks, conditions of `depends_on`, named volumes, `extends` within the file, anchors, `x-` keys, `configs` and `secrets` that are files of the source, and limits under `deploy` are read. The build log names each line that has no effect.',
      {
        list: [
          'An address: the first HTTP port in `ports`. Additional ones have their own addresses, `NAME-PORT--SLUG.localhost`, except those for HTTPS and those published on 127.0.0.1. Ports of databases and other protocols are not published on this machine, because each project and preview has its own; services reach each other by name.',
          'Variables: `${NAME}` inserts a variable of the project, only in `environment`. Elsewhere it uses `.env` of the source, or its default.',
          'Paths: `./data:/data` is a volume if the source has no such folder, else its files are copied. A service with `build` has the files that its build copies.',
          'Services with `profiles` are not started. `compose.override.yaml` is not read.',
          'A file that only starts a database for development is not used: the app is detected.',
        ],
      },
      'Anything that reaches outside of the project is rejected: paths of this machine, the socket of the engine, `privileged`, `cap_add`, `devices`, `network_mode: host`, `pid`, `ipc`, `security_opt`, `sysctls`, external networks, volume drivers, build contexts outside of the source, `include` and other files.',
      { h: 'Other files' },
      {
        list: [
          '`Procfile`: `web`, `release`, and all others as workers. An `app.json` next to it adds required variables, numbers of processes and Dokku’s `cron`.',
          '`fly.toml`: processes, ports, health check with `grace_period` or `wait_timeout`, variables, mounts, release command, memory.',
          '`railway.json`, `railway.toml`: build, start and release commands, health check with its timeout, replicas, schedule.',
          '`netlify.toml`: build command, base folder, build variables. Redirects and headers are read from `_redirects` and `_headers` of the site.',
          '`vercel.json`: build and install commands, and `crons` for apps with a server.',
        ],
      },
      { h: 'Help from your editor' },
      'The first line that `config init` writes names the schema of the file, which an instance serves at `/schemas/homeport.json`. Editors with a YAML language server complete and check keys with it.',
      { run: 'npx homeport config schema > homeport.schema.json' },
    ],
  },
]
