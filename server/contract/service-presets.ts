import type { TemplatePart } from './environment-template.ts'
import type { ManagedName } from './managed-names.ts'
import { mariadbHealthScript } from './mariadb-restore.ts'
import type { ServiceHealthCheck } from './project-config.ts'

/** The address at which the apps of a project reach a service. */
export interface ServiceAddress {
  host: string
  port: number
  password: string
  /** For a public service: its address at the edge for browsers, without a trailing slash. */
  public_url: string
}

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
  /** Its data contains the password that it was created with. */
  keeps_password: boolean
  /** It has a separate address at the edge, `NAME--SLUG.localhost`. */
  is_public: boolean
  /** By name; the password is filled in when they are read. */
  variables: (address: ServiceAddress) => Record<string, string>
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

/**
 * A copy of production's data has production's passwords, so those of the environment are set before the server listens. A file next to the data records
 * whose passwords it has. The passwords come from a pipe, so that they are in no argument and no file.
 */
const startMariadb = `
hash=$(printf %s "$MARIADB_PASSWORD" | sha256sum | cut -c 1-64)
mark=/var/lib/mysql/.homeport-password
if [ -d /var/lib/mysql/mysql ] && [ "$(cat "$mark" 2>/dev/null)" != "$hash" ]; then
  printf "FLUSH PRIVILEGES;\\nALTER USER IF EXISTS 'app'@'%%' IDENTIFIED BY '%s';\\nALTER USER IF EXISTS 'root'@'localhost' IDENTIFIED BY '%s';\\n" \\
    "$MARIADB_PASSWORD" "$MARIADB_ROOT_PASSWORD" | mariadbd --user=mysql --bootstrap || exit
fi
printf %s "$hash" >"$mark"
exec docker-entrypoint.sh mariadbd`

const variable = (name: string): TemplatePart[] => [{ variable: name, operator: null, word: [] }]

/** The presets by the name of their service, which is also its host name. A new preset is a new entry. */
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
    keeps_password: false,
    is_public: false,
    variables: ({ host, port, password }) => ({
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
    summary: 'MySQL-compatible relational database.',
    image: 'mariadb:10.11',
    port: 3306,
    entrypoint: null,
    command: ['sh', '-c', startMariadb],
    data_path: '/var/lib/mysql',
    keeps_password: true,
    is_public: false,
    variables: ({ host, port, password }) => ({
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
      // A random password would be printed to the log. This one is only for connections inside the container.
      MARIADB_ROOT_PASSWORD: variable('MYSQL_PASSWORD'),
      MARIADB_ROOT_HOST: ['localhost'],
    },
    health: { ...health(''), command: ['bash', '-c', mariadbHealthScript] },
  },
  s3: {
    label: 'S3 storage',
    summary: 'S3-compatible object storage (VersityGW) with one bucket. Browsers use presigned URLs.',
    image: 'versity/versitygw:v1.7.0',
    port: 7070,
    // A folder of the data is a bucket. Metadata is in files, because archives of volumes have no extended attributes.
    entrypoint: ['/bin/sh', '-c'],
    command: ['mkdir -p /data/buckets/app /data/metadata && exec versitygw posix /data/buckets'],
    data_path: '/data',
    keeps_password: false,
    is_public: true,
    variables: ({ host, port, password, public_url }) => ({
      S3_ENDPOINT: `http://${host}:${port}`,
      S3_PUBLIC_ENDPOINT: public_url,
      S3_REGION: 'us-east-1',
      S3_BUCKET: 'app',
      S3_ACCESS_KEY_ID: 'app',
      S3_SECRET_ACCESS_KEY: password,
      // The variable names that the AWS SDKs read.
      AWS_ENDPOINT_URL_S3: `http://${host}:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'app',
      AWS_SECRET_ACCESS_KEY: password,
    }),
    environment: {
      ROOT_ACCESS_KEY_ID: ['app'],
      ROOT_SECRET_ACCESS_KEY: variable('S3_SECRET_ACCESS_KEY'),
      VGW_META_SIDECAR: ['/data/metadata'],
      VGW_HEALTH: ['/healthz'],
      // A presigned URL grants access by itself, without a cookie.
      VGW_CORS_ALLOW_ORIGIN: ['*'],
    },
    health: health('wget -q -O /dev/null http://127.0.0.1:7070/healthz'),
  },
} as const satisfies Record<Exclude<ManagedName, 'postgres' | 'mail'>, ServicePreset>

export type PresetName = keyof typeof servicePresets

export const presetNames = Object.keys(servicePresets) as PresetName[]

/** Services whose content can be dumped and restored as SQL. The dump of any other is a snapshot of its volume. */
export const dumpedServices = ['mariadb'] as const satisfies PresetName[]

export const getPreset = (name: PresetName): ServicePreset => servicePresets[name]
export const isPresetName = (name: string): name is PresetName => Object.hasOwn(servicePresets, name)

/** Its name for people, the names of its variables, and what removes it from a project. */
export function describeManaged(name: ManagedName): { label: string; variables: string[]; remove(slug: string): string } {
  if (name === 'postgres') return { label: 'PostgreSQL', variables: ['DATABASE_URL'], remove: (slug) => `homeport db drop ${slug} --yes` }
  if (name === 'mail')
    return {
      label: 'Mail catcher',
      variables: ['SMTP_URL', 'SMTP_HOST', 'SMTP_PORT', 'SMTP_USER', 'SMTP_PASSWORD'],
      remove: (slug) => `homeport mail ${slug} off`,
    }
  const { label, port, variables } = getPreset(name)
  return {
    label,
    variables: Object.keys(variables({ host: name, port, password: '', public_url: '' })),
    remove: (slug) => `homeport services ${slug} remove ${name}`,
  }
}
