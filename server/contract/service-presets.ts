import type { TemplatePart } from './environment-template.ts'
import type { ServiceHealthCheck } from './project-config.ts'

/** A service that a project gets without a configuration file. `variables` are for the app; `environment` is for the container. */
export interface ServicePreset {
  label: string
  summary: string
  image: string
  port: number
  /** Replaces the image's ENTRYPOINT; null keeps it. */
  entrypoint: string[] | null
  command: string[] | null
  /** Absolute path of the data in the container. */
  data_path: string
  /** By name; the password is filled in when they are read. */
  variables: (host: string, port: number, password: string) => Record<string, string>
  /** For the container. Values with a password are templates over `variables`, because they are stored with each version. */
  environment: Record<string, TemplatePart[]>
  health: Extract<ServiceHealthCheck, { kind: 'command' }>
}

const health = (script: string): ServicePreset['health'] => ({
  kind: 'command',
  command: ['sh', '-c', script],
  interval_s: 10,
  timeout_s: 5,
  retries: 5,
  start_period_s: 60,
})

const variable = (name: string): TemplatePart[] => [{ variable: name, operator: null, word: [] }]

/** The presets by the name of their service, which is also its host name. Adding one is adding an entry. */
export const servicePresets = {
  redis: {
    label: 'Redis',
    summary: 'Key-value store for caches, queues and sessions. Data is saved every second.',
    image: 'redis:7-bookworm',
    port: 6379,
    entrypoint: null,
    // The configuration comes from a pipe, so that the password is in no argument and no file.
    command: [
      'sh',
      '-c',
      'printf "requirepass %s\\nappendonly yes\\nport 6379\\ndir /data\\n" "${REDIS_PASSWORD:?}" | exec docker-entrypoint.sh redis-server -',
    ],
    data_path: '/data',
    variables: (host, port, password) => ({
      REDIS_URL: `redis://:${password}@${host}:${port}`,
      REDIS_HOST: host,
      REDIS_PORT: String(port),
      REDIS_PASSWORD: password,
    }),
    environment: { REDIS_PASSWORD: variable('REDIS_PASSWORD'), REDISCLI_AUTH: variable('REDIS_PASSWORD') },
    health: health('[ "$(redis-cli ping)" = PONG ]'),
  },
  mariadb: {
    label: 'MariaDB',
    summary: 'Relational database with the protocol of MySQL.',
    image: 'mariadb:10.11',
    port: 3306,
    entrypoint: null,
    command: null,
    data_path: '/var/lib/mysql',
    variables: (host, port, password) => ({
      MYSQL_URL: `mysql://app:${password}@${host}:${port}/app`,
      MYSQL_HOST: host,
      MYSQL_PORT: String(port),
      MYSQL_USER: 'app',
      MYSQL_PASSWORD: password,
      MYSQL_DATABASE: 'app',
    }),
    environment: {
      MARIADB_USER: ['app'],
      MARIADB_DATABASE: ['app'],
      MARIADB_PASSWORD: variable('MYSQL_PASSWORD'),
      // A random one would be printed into the log. It is for connections inside the container alone.
      MARIADB_ROOT_PASSWORD: variable('MYSQL_PASSWORD'),
      MARIADB_ROOT_HOST: ['localhost'],
    },
    // During its first start the server accepts no TCP connections.
    health: health('MYSQL_PWD="$MARIADB_PASSWORD" mariadb --host=127.0.0.1 --user="$MARIADB_USER" --execute="SELECT 1" "$MARIADB_DATABASE"'),
  },
} as const satisfies Record<string, ServicePreset>

export type PresetName = keyof typeof servicePresets

export const presetNames = Object.keys(servicePresets) as PresetName[]

export const getPreset = (name: PresetName): ServicePreset => servicePresets[name]
export const isPresetName = (name: string): name is PresetName => Object.hasOwn(servicePresets, name)
