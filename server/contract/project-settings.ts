import { z } from 'zod'
import { autoscaling } from './autoscaling.ts'
import { limits } from './limits.ts'
import { requiredNodeLabels } from './nodes.ts'
import { operation } from './operation.ts'
import { projectOperations } from './projects.ts'
import { empty, projectParams } from './shared.ts'

const healthPath = z
  .string()
  .max(limits.health_path.max)
  .regex(/^\/[!-"$-~]*$/, 'Use a path that starts with /, such as /healthz, without spaces and #.')
  .describe(`Path that the health check requests, such as /healthz (default ${limits.health_path.default}).`)
const healthTimeout = z
  .number()
  .int()
  .min(limits.health_timeout_s.min)
  .max(limits.health_timeout_s.max)
  .describe(`Seconds that a new version may take to pass its health check (default ${limits.health_timeout_s.default}).`)
const cpuLimit = z
  .number()
  .min(limits.cpu.min)
  .max(limits.cpu.max)
  .nullable()
  .describe(`CPU cores for the app, and for each of its builds; null is ${limits.cpu.default} for the app and all for builds. Needs Docker.`)

const previewVolumes = z
  .enum(['empty', 'snapshot'], { error: 'Write empty or snapshot.' })
  .describe('What the volumes of a new preview start with: nothing, or a snapshot of production’s (default empty).')
export type PreviewVolumes = z.output<typeof previewVolumes>

const watchPaths = z
  .array(
    z
      .string()
      .trim()
      .max(limits.watch_paths.length)
      .regex(/^!?[^!#\s][^\n\r]*$/, 'Write a path or a pattern such as apps/web/**, or !**/*.md for what does not count.'),
  )
  .max(limits.watch_paths.count)
  .describe(
    'Patterns of .gitignore, relative to the root of the repository. A push that changes no matching file is not deployed. `!` excludes files, and the last pattern that matches decides; a list that starts with `!` applies to all other files. Empty: every push is deployed.',
  )

const publicPorts = z
  .array(z.number().int().min(1).max(65_535))
  .max(limits.public_ports)
  .describe(
    'Additional HTTP ports of the app, each with its own address: `web-PORT--SLUG.localhost`, or the name of its service instead of `web`. The app finds the port to listen on in the variable `PORT_9090` for 9090.',
  )

const apps = z
  .array(projectOperations.updateProject.body.shape.root_directory.unwrap())
  .max(limits.apps)
  .describe(
    'Folders of apps that are deployed together, each as a service named like its folder. Used when the root of the source has no configuration file and `root_directory` is the root. Empty: the source is one app.',
  )

const tracing = z
  .boolean()
  .describe(
    'Whether apps get the variables with which OpenTelemetry SDKs send their traces to Homeport, and whether those are stored (default true).',
  )

const replicas = z
  .number()
  .int()
  .min(limits.replicas.min)
  .max(limits.replicas.max)
  .describe(
    `How many replicas of the app run, 1 to ${limits.replicas.max}; requests are distributed over them. Applies to the live version at once, unless its configuration file has its own number. While autoscaling is on, this is the current number, which autoscaling changes. Previews run one.`,
  )

const stickySessions = z.boolean().describe('Whether a cookie keeps a browser at the same replica while that one is healthy (default false).')

/** Settings of a project beyond the fields of the /v1 API. */
export const projectSettings = z.object({
  health_path: healthPath,
  health_timeout_s: healthTimeout,
  cpu_limit: cpuLimit,
  preview_volumes: previewVolumes,
  watch_paths: watchPaths,
  public_ports: publicPorts,
  apps,
  tracing,
  replicas,
  autoscaling: autoscaling.nullable().describe('Null: off, so that `replicas` run all the time (default). Applies at once.'),
  sticky_sessions: stickySessions,
  node_labels: requiredNodeLabels.describe(
    'Labels of nodes, such as disk=ssd. On a cluster, the app runs only on nodes that have all of them (default none).',
  ),
})
export type ProjectSettings = z.output<typeof projectSettings>

const settingsResponse = {
  status: 200,
  json: z.object({ settings: projectSettings, cpus: z.number().describe('CPU cores of this machine, the highest cpu_limit.') }),
} as const

export const projectSettingsOperations = {
  getProjectSettings: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/settings',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the settings of a project beyond those of the /v1 API',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: settingsResponse,
    errors: ['project_not_found'],
  }),
  updateProjectSettings: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/settings',
    resource: 'project',
    group: 'Instance',
    summary: 'Change the settings of a project beyond those of the /v1 API',
    description:
      'A changed setting takes effect with the next deployment; `replicas`, `autoscaling` and `sticky_sessions` take effect at once. `cpu_limit` is limited to the cores of this machine, and `replicas` and the maximum of `autoscaling` to those of the plan.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: projectSettings.partial().strict(),
    success: settingsResponse,
    errors: ['invalid_input', 'plan_limit_reached', 'project_not_found'],
  }),
}
