import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage } from '../../support/docker.ts'
import { runProgram } from '../../support/runtime.ts'

/** What a stand-in does of the image that it replaces. */
export interface StandIn {
  /** A server of Debian behind an entry point that knows the variables of the official image; without it, `stand-in.mjs`. */
  server?: 'redis' | 'postgres' | 'mariadb'
  ports?: number[]
  /** Addresses of other services, as `VARIABLE:PORT` or `=HOST:PORT`; with `!` the service must be ready first. */
  contacts?: string[]
  /** Files that must be there when it starts. */
  files?: string[]
  /** Whether it runs as the image's own user, who cannot write where root can. */
  user?: 'node'
  /** The command, if not `stand-in`. */
  run?: string
  /** The name of the build’s stage. */
  stage?: string
  /** Programs at a separate path, and the working directory. */
  programs?: string[]
  folder?: string
}

const label = 'homeport-test.stand-in'
/** Base image of the sources that tests build. */
export const standInBase = 'homeport-test/stand-in'

/** Programs that compose files run by name. */
const programs = 'curl wget envsubst nginx rabbitmq-diagnostics mc gunicorn celery bundle nodemon gotenberg logstash java python php-fpm'.split(' ')

/** Like the official images: an argument that is not a program is passed to the image's own. */
const entryPoint = `#!/bin/sh
if [ "\${1#-}" != "$1" ] || [ -z "$(command -v "$1")" ]; then set -- stand-in "$@"; fi
exec "$@"
`
const standInProgram = '#!/bin/sh\nexec node /stand-in.mjs "$(basename "$0")" "$@"\n'

/** The official server accepts unauthenticated connections from other hosts. */
const redisEntryPoint = `#!/bin/sh
case "$1" in -*|*.conf|'') set -- redis-server "$@";; esac
[ "$1" != redis-server ] || set -- "$@" --protected-mode no
exec docker-entrypoint.sh "$@"
`
const postgresEntryPoint = `#!/bin/bash
set -e
case "$1" in -*|'') set -- postgres "$@";; esac
if [ "$1" = postgres ] && [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  find "$PGDATA" \\! -user postgres -exec chown postgres {} +
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  [ -z "$POSTGRES_PASSWORD_FILE" ] || POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  [ "$POSTGRES_PASSWORD" ] || { echo 'Error: Database is uninitialized and superuser password is not specified.' >&2; exit 1; }
  export POSTGRES_USER=\${POSTGRES_USER:-postgres}; export POSTGRES_DB=\${POSTGRES_DB:-$POSTGRES_USER}
  chmod 700 "$PGDATA"
  initdb --no-sync --username="$POSTGRES_USER" --pwfile=<(printf '%s\\n' "$POSTGRES_PASSWORD") --auth-host=scram-sha-256 >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -o "-c listen_addresses='' -c unix_socket_directories=/tmp" -w start >/dev/null
  export PGHOST=/tmp PGUSER=$POSTGRES_USER
  [ "$POSTGRES_DB" = postgres ] || createdb "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do [ ! -f "$script" ] || . "$script"; done
  pg_ctl -m fast -w stop >/dev/null
  unset PGHOST PGUSER
fi
[ "$1" != postgres ] || set -- "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
exec "$@"
`
/** MySQL's variables, with a generated root password. */
const mysqlEntryPoint = `#!/bin/bash
set -e
case "$1" in -*|'') set -- mariadbd "$@";; esac
for name in ROOT_PASSWORD DATABASE USER PASSWORD RANDOM_ROOT_PASSWORD; do
  old=MYSQL_$name new=MARIADB_$name
  [ -z "\${!old}" ] || export "$new=\${!old}"
done
[ -z "$MARIADB_RANDOM_ROOT_PASSWORD" ] || export MARIADB_ROOT_PASSWORD=$(cat /proc/sys/kernel/random/uuid)
export MARIADB_USER=\${MARIADB_USER:-app} MARIADB_PASSWORD=\${MARIADB_PASSWORD:-$MARIADB_ROOT_PASSWORD} MARIADB_DATABASE=\${MARIADB_DATABASE:-app}
exec docker-entrypoint.sh "$@"
`

/** Creates images with these names; existing ones stay. Returns the new names. */
export async function createStandIns(images: Record<string, StandIn>): Promise<string[]> {
  const created: string[] = []
  await build(standInBase, createBase(), { 'entry-point': entryPoint, 'stand-in': standInProgram })
  for (const [name, standIn] of Object.entries(images)) {
    const found = await runProgram('docker', ['image', 'inspect', '--format', `{{index .Config.Labels "${label}"}}`, name]).catch(() => undefined)
    if (found !== undefined && found.trim() === '') continue
    const { server } = standIn
    if (server === 'redis') await build(name, createServer('redis:7-bookworm', 'EXPOSE 6379\n'), { 'entry-point': redisEntryPoint })
    else if (server === 'postgres')
      await build(
        name,
        createServer(
          'postgres:15-bookworm',
          'ENV PGDATA=/var/lib/postgresql/data\nRUN install -d -o postgres -m 1777 /var/run/postgresql\nEXPOSE 5432\n',
        ),
        { 'entry-point': postgresEntryPoint },
      )
    else if (server === 'mariadb') await build(name, createServer('mariadb:10.11', 'EXPOSE 3306\n'), { 'entry-point': mysqlEntryPoint })
    else await build(name, createStandInDockerfile(name, standIn), {})
    created.push(name)
  }
  return [...created, standInBase]
}

export const removeStandIns = async (names: readonly string[]): Promise<void> => {
  for (const name of names) await runProgram('docker', ['rmi', '--force', name]).catch(() => {})
}

const createBase = () =>
  `FROM node:24-bookworm-slim\nCOPY stand-in.mjs /\nCOPY stand-in entry-point /usr/local/bin/\nRUN cd /usr/local/bin && for name in ${programs.join(' ')}; do ln -s stand-in $name; done && mkdir -p /etc/nginx/conf.d\nENTRYPOINT ["entry-point"]\nCMD ["stand-in"]\n`

const createServer = (base: string, more: string) => `FROM ${base}\nCOPY entry-point /usr/local/bin/\n${more}ENTRYPOINT ["entry-point"]\nCMD []\n`

/** Also used as the Dockerfiles of sources. */
export function createStandInDockerfile(name: string, standIn: StandIn): string {
  const { ports, contacts, files, user, folder } = standIn
  const variables = Object.entries({
    STAND_IN: /([^/:]+)(:[^/]*)?$/.exec(name)?.[1],
    STAND_IN_PORTS: ports?.join(' '),
    STAND_IN_CONTACTS: contacts?.join(' '),
    STAND_IN_FILES: files?.join(' '),
  })
  const lines = [
    `FROM ${standInBase}${standIn.stage === undefined ? '' : ` AS ${standIn.stage}`}`,
    ...variables.flatMap(([key, value]) => (value === undefined ? [] : [`ENV ${key}="${value}"`])),
    ...(folder === undefined ? [] : [`WORKDIR ${folder}`]),
    ...(standIn.programs ?? []).map((path) => `RUN mkdir -p $(dirname ${path}) && cp /usr/local/bin/stand-in ${path}`),
    ...(ports ?? []).map((port) => `EXPOSE ${port}`),
    ...(user === undefined ? [] : [`USER ${user}`]),
    ...(standIn.run === undefined ? [] : [`CMD ["${standIn.run}"]`]),
  ]
  return `${lines.join('\n')}\n`
}

async function build(name: string, dockerfile: string, files: Record<string, string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-stand-in-'))
  try {
    await copyFile(join(import.meta.dirname, 'stand-in.mjs'), join(folder, 'stand-in.mjs'))
    await writeFile(join(folder, 'Dockerfile'), dockerfile)
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text, { mode: 0o755 })
    await buildImage(name, folder, ['--label', `${label}=${name}`])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
