/**
 * Operations about the instance itself: session, settings, doctor, people. They are not part of the 45 operations of the /v1 API, and a
 * hosted service has none of them. The command line and the dashboard use them.
 */
import { z } from 'zod'
import { activityEntry } from './activity.ts'
import { deployment, runtimeName } from './deployments.ts'
import { helpTopics } from './help.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { project, projectOperations } from './projects.ts'
import { dateTime, empty, okResponse, slug } from './shared.ts'
import { tokenScopes } from './token-scopes.ts'

export const planName = z.enum(['starter', 'basic', 'pro', 'enterprise'])
export type PlanName = z.output<typeof planName>

export const runtimeStatus = z.object({
  name: runtimeName,
  version: z.string().nullable(),
  reason: z.string().describe('Why this runtime is used, in one sentence.'),
  is_forced: z.boolean().describe('Set by --runtime, so no other runtime is tried.'),
})
export type RuntimeStatus = z.output<typeof runtimeStatus>

const isIpAddress = (text: string): boolean => z.ipv4().safeParse(text).success || z.ipv6().safeParse(text).success

/** With a port or without: `9.9.9.9`, `127.0.0.1:5353`, `2620:fe::fe`, `[::1]:5353`. */
const dnsResolver = z
  .string()
  .max(60)
  .refine((text) => {
    const [, ipv6, ipv4 = '', port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
    if (port === undefined) return isIpAddress(text)
    return (
      Number(port) > 0 &&
      Number(port) < 65_536 &&
      (ipv6 === undefined ? !ipv4.includes('[') && isIpAddress(ipv4) : ipv6.includes(':') && isIpAddress(ipv6))
    )
  }, 'Use an IP address with or without a port, such as 9.9.9.9 or 127.0.0.1:5353.')

export const settings = z.object({
  on_exit: z
    .enum(['default', 'stop', 'keep'])
    .describe('What happens to running apps when Homeport exits; default stops processes and keeps Docker containers.'),
  build_concurrency: z.number().int().min(1).max(64).nullable().describe('Concurrent builds on this instance; null uses the limit of the plan.'),
  keep_deployments: z.number().int().min(1).max(1000).describe('Builds kept per project.'),
  rate_limit_authenticated: z.number().int().min(1).max(1_000_000).describe('Requests per minute per account.'),
  rate_limit_anonymous: z.number().int().min(1).max(1_000_000).describe('Unauthenticated requests per minute per IP address.'),
  build_memory_mb: z.number().int().min(256).max(65_536).describe('Memory limit of one build.'),
  build_timeout_s: z.number().int().min(10).max(86_400).describe('A build that takes longer fails with `timeout`.'),
  sleep_after_s: z.number().int().min(1).max(86_400).describe('Idle seconds until an app that is not always warm sleeps.'),
  frozen_for_s: z
    .number()
    .int()
    .min(0)
    .max(604_800)
    .describe('Seconds that a sleeping app stays frozen in memory before it is stopped; 0 stops it immediately.'),
  frozen_budget_mb: z
    .number()
    .int()
    .min(0)
    .max(1_048_576)
    .describe('Total memory of frozen apps; above it, the app that has slept longest is stopped.'),
  cache_memory_mb: z.number().int().min(1).max(65_536).describe('Memory limit of the edge cache.'),
  cache_disk_mb: z.number().int().min(0).max(1_048_576).describe('Disk limit of the edge cache; 0 caches in memory only.'),
  metrics: z.boolean().describe('Record request metrics.'),
  request_log: z.boolean().describe('Log the requests of apps.'),
  https_redirect: z.boolean().describe('Redirect HTTP to HTTPS at the edge.'),
  hosts_file: z.boolean().describe('Keep the local names in the hosts file of this machine.'),
  screenshots: z.boolean().describe('Take screenshots of deployments.'),
  lan: z.boolean().describe('Open apps and dashboard to the local network. Requires the owner’s password.'),
  platform_ip: z.ipv4().nullable().describe('IP address for the A records of custom domains; null uses the address of the edge.'),
  dns_server: z
    .number()
    .int()
    .min(0)
    .max(65_535)
    .nullable()
    .describe('Port on 127.0.0.1 of the DNS server for bought .test, .internal and .home.arpa names; 0 for any free port, null for off.'),
  dns_resolvers: z
    .array(dnsResolver)
    .min(1)
    .max(8)
    .nullable()
    .describe('DNS resolvers for checking custom domains, such as 9.9.9.9; null uses those of the system.'),
  sign_up: z
    .enum(['off', 'invited', 'open'])
    .describe('Who can create an account: off (no one), invited (people with an invitation), or open (everyone with a verified email address).'),
  plan: planName.describe('Plan of the owner’s account, for testing a client against every 402. With a payment processor, the subscription sets it.'),
  email_verified: z.boolean().describe('Treat the owner’s email address as verified.'),
  payment_method: z.boolean().describe('Treat the owner’s account as having a card.'),
  trial_days: z
    .number()
    .int()
    .min(0)
    .max(365)
    .nullable()
    .describe('Days left in a pro trial of the owner’s account while its plan is starter; 0 is an expired trial, null no trial.'),
})
export type Settings = z.output<typeof settings>

export const user = z.object({
  id: z.string(),
  account_id: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  is_instance_owner: z.boolean(),
  created_at: dateTime,
})
export const account = z.object({ id: z.string(), plan: planName, has_payment_method: z.boolean(), created_at: dateTime })
export type User = z.output<typeof user>
export type Account = z.output<typeof account>

export const doctorCheck = z.object({
  name: z.string(),
  status: z.enum(['ok', 'warning', 'failed']),
  message: z.string(),
  hint: z.string().nullable().describe('How to fix it.'),
})

export type DoctorCheck = z.output<typeof doctorCheck>

/** A check with its help topic. */
export const doctorCheckWithHelp = doctorCheck.extend({
  help: z.enum(helpTopics).nullable().describe('The help topic, at `/app/help/{help}` in the dashboard.'),
})
export type DoctorCheckWithHelp = z.output<typeof doctorCheckWithHelp>

export const instanceEvents = {
  project: z.object({ project }),
  project_removed: z.object({ id: z.string(), slug: z.string() }),
  deployment: z.object({ deployment }),
  activity: z.object({ entry: activityEntry }),
}

const email = z
  .email()
  .max(254)
  .transform((text) => text.toLowerCase())
const userParams = z.object({ email: z.string() })

export const instanceOperations = {
  getSession: operation({
    method: 'GET',
    path: '/instance/session',
    group: 'Instance',
    summary: 'Get the signed-in user and this instance',
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        user,
        account,
        token: z
          .object({ scope: z.enum(tokenScopes).nullable(), project_id: z.string().nullable() })
          .nullable()
          .describe('The limits of the API token of this request; null for a session.'),
        instance: z.object({
          version: z.string(),
          api_url: z.string(),
          edge_url: z.string(),
          edge_https_url: z.string().nullable(),
          // Missing in an older instance.
          apps_url: z
            .string()
            .nullable()
            .optional()
            .describe('Scheme, apps domain and port, if projects answer below an apps domain: `SLUG.` comes before the host.'),
          dashboard_url: z.string(),
          runtime: runtimeStatus,
          encryption: z.enum(['keychain', 'file_key']).describe('Where the master key is stored.'),
          is_local: z.boolean(),
        }),
      }),
    },
    errors: [],
  }),
  followInstance: operation({
    method: 'GET',
    path: '/instance/events',
    group: 'Instance',
    summary: 'Follow all my projects in one stream',
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    success: { status: 200, events: instanceEvents },
    errors: [],
  }),
  deployFolder: operation({
    method: 'POST',
    path: '/instance/deploy-folder',
    group: 'Instance',
    summary: 'Deploy a folder of this machine, including uncommitted changes',
    description: 'Creates the project if it does not exist. Records the commit and whether there are uncommitted changes.',
    access: 'owner',
    scope: 'deploy',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    body: z.strictObject({
      path: z.string().min(1).max(4096).describe('An absolute path on the machine of the instance.'),
      slug: slug.optional(),
      name: z.string().min(limits.name.min).max(limits.name.max).optional(),
      no_cache: z.boolean().optional().describe('Like `no_cache` of createDeployment.'),
      root_directory: projectOperations.updateProject.body.shape.root_directory.describe('The app’s folder, for a project that is created.'),
    }),
    success: { status: 201, json: z.object({ project, deployment }) },
    errors: ['invalid_input', 'slug_reserved', 'slug_taken', 'plan_limit_reached', 'email_not_verified', 'runtime_not_isolated'],
  }),
  doctor: operation({
    method: 'GET',
    path: '/instance/doctor',
    group: 'Instance',
    summary: 'Check the instance and get how to fix problems',
    access: 'owner',
    params: empty,
    query: z.object({
      quick: z
        .literal('true')
        .optional()
        .describe('Skips slow checks: engines, toolchains, git, names, and the full check of the instance’s own database.'),
    }),
    success: { status: 200, json: z.object({ checks: z.array(doctorCheckWithHelp) }) },
    errors: [],
  }),
  getSettings: operation({
    method: 'GET',
    path: '/instance/settings',
    group: 'Instance',
    summary: 'Get the settings of this instance',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ settings }) },
    errors: [],
  }),
  updateSettings: operation({
    method: 'PATCH',
    path: '/instance/settings',
    group: 'Instance',
    summary: 'Change settings',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject(settings.partial().shape),
    success: { status: 200, json: z.object({ settings }) },
    errors: ['invalid_input', 'owner_password_required'],
  }),
  createSignInLink: operation({
    method: 'POST',
    path: '/instance/sign-in-links',
    group: 'Instance',
    summary: 'Create a one-time link that signs a browser in as me',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 201, json: z.object({ url: z.string(), expires_at: dateTime }) },
    errors: [],
  }),
  signOut: operation({
    method: 'POST',
    path: '/instance/sign-out',
    group: 'Instance',
    summary: 'End the session of this browser',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: [],
  }),
  listUsers: operation({
    method: 'GET',
    path: '/instance/users',
    group: 'Instance',
    summary: 'List the people of this instance',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ users: z.array(user.extend({ account })) }) },
    errors: [],
  }),
  addUser: operation({
    method: 'POST',
    path: '/instance/users',
    group: 'Instance',
    summary: 'Add a person with their own account and token',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ email, plan: planName.optional(), verified: z.boolean().optional(), card: z.boolean().optional() }),
    success: { status: 201, json: z.object({ user, account, token: z.string() }) },
    errors: ['invalid_input', 'email_taken'],
  }),
  verifyUser: operation({
    method: 'POST',
    path: '/instance/users/{email}/verify',
    group: 'Instance',
    summary: 'Mark the email address of a person as verified',
    access: 'owner',
    params: userParams,
    query: empty,
    success: { status: 200, json: z.object({ user }) },
    errors: ['user_not_found'],
  }),
  removeUser: operation({
    method: 'DELETE',
    path: '/instance/users/{email}',
    group: 'Instance',
    summary: 'Remove a person with their account and all its projects',
    access: 'owner',
    params: userParams,
    query: empty,
    success: { status: 204 },
    errors: ['user_not_found', 'forbidden'],
  }),
  addTeamMember: operation({
    method: 'POST',
    path: '/instance/team',
    group: 'Instance',
    summary: 'Add a person to the team of another account',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ owner_email: email, member_email: email }),
    success: { status: 201, json: okResponse },
    errors: ['invalid_input', 'user_not_found'],
  }),
  removeTeamMember: operation({
    method: 'POST',
    path: '/instance/team/remove',
    group: 'Instance',
    summary: 'Remove a person from the team of another account',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ owner_email: email, member_email: email }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'user_not_found'],
  }),
}
