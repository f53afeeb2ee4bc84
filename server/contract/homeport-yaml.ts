import { z } from 'zod'
import { normalizeCronExpression, validateCronExpression } from './cron-expression.ts'
import { isReservedKey, keyPattern, keyPatternMessage, reservedKeyMessage, validateValue } from './env-var-rules.ts'
import { autoscaling } from './autoscaling.ts'
import { limits } from './limits.ts'
import { type ManagedName, managedNames } from './managed-names.ts'
import { projectSettings } from './project-settings.ts'
import { projectOperations } from './projects.ts'

/**
 * The file homeport.yaml. Where compose has a word, it is compose's word. The JSON Schema for editors is generated from it; `builder/config/` checks
 * what depends on other files of the source.
 */

const maxText = 10_000

export const serviceNamePattern = /^[a-z0-9][a-z0-9_-]{0,39}$/
export const serviceNameMessage = 'A name has up to 40 lower-case letters, digits, hyphens and underscores.'
const serviceName = z.string().regex(serviceNamePattern, serviceNameMessage)

export const volumeNamePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
export const volumeNameMessage = 'A volume has a name of up to 63 letters, digits, dots, hyphens and underscores.'

export const hostNamePattern = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/

/** `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`, as the distribution project defines it. */
export const imagePattern =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/
export const imageMessage = 'Write an image as NAME:TAG, such as redis:7 or registry.example/team/app:1.2.'
export const maxImage = 300

const durationPattern = /^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/

/** Seconds of a duration such as `1m30s`; undefined for other text. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 40 || !durationPattern.test(text)) return undefined
  const units: Record<string, number> = { us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }
  let seconds = 0
  for (const [, amount = '0', unit = 's'] of text.matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g)) seconds += Number(amount) * (units[unit] ?? 1)
  return seconds
}

/** Megabytes of a size such as `512m` or `1.5gb`, rounded up; undefined for other text. */
export function parseMemory(text: string): number | undefined {
  const [, amount, unit = 'b'] = /^(\d{1,15}(?:\.\d{1,6})?) ?(b|k|kb|ki|kib|m|mb|mi|mib|g|gb|gi|gib)?$/i.exec(text.trim()) ?? []
  if (amount === undefined) return undefined
  const factors: Record<string, number> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }
  return Math.ceil((Number(amount) * (factors[unit.charAt(0).toLowerCase()] ?? 1)) / 1024 ** 2)
}

export const memory_mb = { min: 6, max: 1024 * 1024 }
export const cpus = { min: 0.01, max: 256 }
export const maxReplicas = limits.replicas.max
export const maxServices = 50

const word = z
  .string()
  .max(maxText)
  .refine((text) => !text.includes('\0'), 'A command must not contain a NUL character.')
export const commandInput = z
  .union([word.min(1), z.array(word).min(1).max(200)], { error: 'Write a command as text, or as a list of its words.' })
  .describe('Text is split into words; text with the syntax of a shell ($, &&, |, quotes ...) is run by /bin/sh. A list is used unchanged.')

const environmentValue = z.union([z.string().max(maxText), z.number(), z.boolean(), z.null()], {
  error: 'A value is text, a number, true, false or empty.',
})

export const environmentInput = z
  .union([z.record(z.string().max(200), environmentValue), z.array(z.string().max(maxText + 201)).max(500)], {
    error: 'Write variables as NAME: value, or as a list of NAME=value.',
  })
  .describe(
    'Variables of this service. They override the project’s. ${NAME} and ${NAME:-default} insert a variable of the project; $$ is a dollar sign.',
  )

/** The problem with a variable that a file sets, or undefined. Some images have settings such as `discovery.type`, which projects cannot set. */
export function validateServiceVariable(name: string, value: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,199}$/.test(name)) return keyPatternMessage
  return isReservedKey(name) ? reservedKeyMessage : validateValue(value)
}

const duration = z.string().max(40).regex(durationPattern, 'Write a duration with a unit, such as 30s or 1m30s.')

const healthCheckObject = z.strictObject({
  path: z.string().regex(/^\//, 'Write a path such as /healthz.').max(500).optional().describe('A path that must answer with a status under 500.'),
  test: commandInput.optional().describe('The command, as text or as ["CMD", "program", ...] or ["CMD-SHELL", "text"].'),
  interval: duration.optional().describe('The time between two checks. For a path: 1s to 60s; by default half a second or less.'),
  timeout: duration
    .optional()
    .describe('For a path: how long a new version may take to respond, 5s to 10m. For a command: how long one run may take.'),
  retries: z.number().int().min(1).max(100).optional(),
  start_period: duration.optional(),
  start_interval: duration.optional(),
  disable: z.boolean().optional(),
})

const positiveInteger = z.number().int().min(1)

const build = z.union(
  [
    z.string().min(1).max(500),
    z.strictObject({
      context: z.string().min(1).max(500).optional().describe('Folder of the source.'),
      dockerfile: z.string().min(1).max(500).optional().describe('Relative to the folder.'),
      target: z.string().min(1).max(100).optional().describe('The stage of the Dockerfile.'),
      args: environmentInput.optional().describe('Build arguments. They are visible in the image: not for secrets.'),
    }),
  ],
  { error: 'Write build as a folder of the source, or as a map with context, dockerfile, target and args.' },
)

export const homeportService = z.strictObject({
  build: build.optional().describe('The folder of the source that is built. Without build and image it is the source itself.'),
  image: z.string().max(maxImage).regex(imagePattern, imageMessage).optional().describe('A prebuilt image, such as redis:7.'),
  command: commandInput.optional(),
  entrypoint: commandInput.optional(),
  working_dir: z.string().regex(/^\//, 'Write an absolute path.').max(500).optional(),
  port: positiveInteger.max(65_535).optional().describe('The port on which the service listens. Without it: the port in PORT.'),
  public: z.boolean().optional().describe('Whether the service has an address. The main service has the project’s, others NAME--SLUG.localhost.'),
  ports: z
    .array(
      z.union(
        [
          positiveInteger.max(65_535),
          z
            .string()
            .regex(/^\d{1,5}$/)
            .transform(Number),
        ],
        { error: 'Write the port on which the service listens, such as 9090.' },
      ),
    )
    .max(limits.public_ports)
    .optional()
    .describe('Additional HTTP ports, each with its own address: NAME-PORT--SLUG.localhost. The service finds the port to listen on in PORT_9090.'),
  schedule: z
    .string()
    .max(200)
    .refine((text) => validateCronExpression(text) === undefined, {
      error: (issue) => validateCronExpression(String(issue.input)) ?? 'Fix the schedule.',
    })
    .transform(normalizeCronExpression)
    .optional()
    .describe('Runs the command at these times: a cron expression of five or six fields.'),
  time_zone: z
    .string()
    .max(60)
    .refine(isTimeZone, 'Use a time zone such as Europe/Berlin or UTC.')
    .optional()
    .describe('Time zone of the schedule; UTC by default.'),
  environment: environmentInput.optional(),
  env_file: z
    .union([z.string().min(1).max(500), z.array(z.string().min(1).max(500)).max(50)], { error: 'Write env_file as a file of the source, or a list.' })
    .optional()
    .describe('Files of the source with variables. `environment` wins.'),
  aliases: z
    .array(z.string().regex(hostNamePattern, 'Write a host name such as db.'))
    .max(20)
    .optional()
    .describe('Additional names by which other services reach this one.'),
  volumes: z
    .array(z.string().max(1000))
    .max(50)
    .optional()
    .describe('NAME:/path or NAME:/path:ro for a volume; ./file:/path for a file of the source, copied into the image.'),
  depends_on: z
    .union(
      [
        z.array(serviceName).max(maxServices),
        z.record(
          z.string(),
          z.strictObject({
            condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']).optional(),
            restart: z.boolean().optional(),
            required: z.boolean().optional(),
          }),
        ),
      ],
      { error: 'Write depends_on as a list of services, or as a map of services with a condition.' },
    )
    .optional(),
  restart: z.enum(['always', 'unless-stopped', 'on-failure', 'no']).optional().describe('on-failure: a service that ends with 0 is complete.'),
  healthcheck: z
    .union([z.string().regex(/^\//).max(500), healthCheckObject, z.literal(false)], {
      error: 'Write healthcheck as a path such as /healthz, or as a map with path or test, interval, timeout, retries and start_period.',
    })
    .optional()
    .describe('A path that must answer with a status under 500, or a command that must exit with 0.'),
  memory: z
    .string()
    .refine((text) => isBetween(parseMemory(text), memory_mb), 'Write memory with a unit, such as 512m or 1g.')
    .optional()
    .describe('The memory limit, such as 512m.'),
  cpus: z
    .union([z.number(), z.string().regex(/^\d{1,4}(\.\d{1,4})?$/)], { error: 'Write cpus as a number, such as 0.5.' })
    .refine((value) => isBetween(Number(value), cpus), `Use a number from ${cpus.min} to ${cpus.max}.`)
    .optional(),
  replicas: positiveInteger
    .max(maxReplicas)
    .optional()
    .describe(`How many replicas of a web service or worker run, up to ${maxReplicas}. One with volumes runs once.`),
  autoscaling: autoscaling.optional(),
})

/** Other words for managed services. */
const managedSynonyms: Record<string, ManagedName> = {
  database: 'postgres',
  db: 'postgres',
  postgresql: 'postgres',
  valkey: 'redis',
  mysql: 'mariadb',
  minio: 's3',
  smtp: 'mail',
  mailpit: 'mail',
}

function explainManagedName(input: unknown): string {
  const synonym = typeof input === 'string' && Object.hasOwn(managedSynonyms, input) ? managedSynonyms[input] : undefined
  return synonym === undefined ? `Use ${managedNames.slice(0, -1).join(', ')} or ${managedNames.at(-1)}.` : `Write ${synonym}.`
}

const settings = projectOperations.updateProject.body.shape

/** Project settings that its source may set. The location of the source is not one of them. */
export const fileSettings = {
  node_version: z.union([settings.node_version, z.number().transform(String)], { error: 'Write a version such as 24, 22.11.0 or ">=20".' }),
  install_command: settings.install_command,
  build_command: settings.build_command,
  root_directory: settings.root_directory,
  memory_limit_mb: settings.memory_limit_mb,
  always_warm: settings.always_warm,
  caching_enabled: settings.caching_enabled,
  ...projectSettings.omit({ apps: true }).partial().shape,
}

export const homeportYaml = z
  .strictObject({
    services: z.record(serviceName, homeportService).optional().describe('The services. `web` responds at the project’s address.'),
    release: z
      .union([commandInput, z.strictObject({ service: serviceName.optional(), command: commandInput })], {
        error: 'Write release as a command, or as a map with service and command.',
      })
      .optional()
      .describe('Runs in the new version after the build and before traffic, such as a migration.'),
    dev: z
      .union([commandInput, z.strictObject({ command: commandInput, port: positiveInteger.max(65_535).optional() })], {
        error: 'Write dev as a command, or as a map with command and port.',
      })
      .optional()
      .describe('The development server that homeport dev starts. Without a port it must listen on the one in PORT.'),
    volumes: z
      .record(
        z.string().regex(volumeNamePattern, volumeNameMessage),
        z.union([z.strictObject({}), z.null()], { error: 'A volume has no options: write {}.' }),
      )
      .optional()
      .describe('The volumes that services use by name.'),
    managed: z
      .array(z.enum(managedNames, { error: ({ input }) => explainManagedName(input) }))
      .max(20)
      .optional()
      .describe(
        'Services that Homeport provides: postgres, redis, mariadb, s3, and mail, which catches what the apps send. A deployment of production adds those that the project does not have. One that is no longer listed is kept.',
      ),
    required_variables: z
      .array(z.string().max(200).regex(keyPattern, keyPatternMessage))
      .max(200)
      .optional()
      .describe('Variables of the project without which it is not started.'),
    ...fileSettings,
  })
  .describe('homeport.yaml: the services of a source.')

export type HomeportYaml = z.output<typeof homeportYaml>
export type HomeportService = z.output<typeof homeportService>

function isBetween(value: number | undefined, { min, max }: { min: number; max: number }): boolean {
  return value !== undefined && value >= min && value <= max
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== ''
  } catch {
    return false
  }
}

/** The JSON Schema of homeport.yaml, for editors. */
export function createHomeportSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(homeportYaml, { target: 'draft-07', io: 'input' })
  const extensions = { '^x-': {} }
  const services = schema.properties?.services
  const service = typeof services === 'object' ? services.additionalProperties : undefined
  if (typeof service === 'object') service.patternProperties = extensions
  return { ...schema, title: 'homeport.yaml', patternProperties: extensions }
}
