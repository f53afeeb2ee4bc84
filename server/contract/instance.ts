/**
 * What an instance says of itself and lets its owner do. These are no part of the customer's 45 operations
 * (a hosted service has none of them); the command line and the dashboard of this machine use them.
 * They ride in the same kind of record, so that routing, validation and the client come for nothing.
 */
import { z } from 'zod'
import { deployment } from './deployments.ts'
import { helpTopics } from './help.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { project } from './projects.ts'
import { dateTime, empty, okResponse, slug } from './shared.ts'

export const planName = z.enum(['starter', 'basic', 'pro', 'enterprise'])
export type PlanName = z.output<typeof planName>

export const runtimeStatus = z.object({
  name: z.enum(['docker', 'process']),
  version: z.string().nullable(),
  reason: z.string().describe('Why this runtime was taken, in one sentence.'),
  is_forced: z.boolean().describe('Set by --runtime, so that no other one is looked for.'),
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
  }, 'Give an address, with a port or without: 9.9.9.9 or 127.0.0.1:5353.')

export const settings = z.object({
  on_exit: z
    .enum(['default', 'stop', 'keep'])
    .describe('What becomes of running apps at an orderly exit; default stops processes and leaves Docker.'),
  build_concurrency: z.number().int().min(1).max(64).nullable().describe('Builds at once on this instance; null takes the plan’s.'),
  keep_deployments: z.number().int().min(1).max(1000).describe('Images and bundles kept per project.'),
  rate_limit_authenticated: z.number().int().min(1).max(1_000_000).describe('Requests a minute per account.'),
  rate_limit_anonymous: z.number().int().min(1).max(1_000_000).describe('Requests a minute per address without sign-in.'),
  build_memory_mb: z.number().int().min(256).max(65_536).describe('Memory ceiling of one build.'),
  build_timeout_s: z.number().int().min(10).max(86_400).describe('A build that takes longer fails with `timeout`.'),
  sleep_after_s: z.number().int().min(1).max(86_400).describe('An app that is not always warm goes cold after so many seconds without a visit.'),
  frozen_for_s: z
    .number()
    .int()
    .min(0)
    .max(604_800)
    .describe('A cold app is kept in memory, frozen, for so long before it is stopped; 0 stops it at once.'),
  frozen_budget_mb: z
    .number()
    .int()
    .min(0)
    .max(1_048_576)
    .describe('Memory that frozen apps may hold altogether; past it the longest asleep is stopped.'),
  cache_memory_mb: z.number().int().min(1).max(65_536).describe('Memory of the edge cache.'),
  cache_disk_mb: z.number().int().min(0).max(1_048_576).describe('Disk of the edge cache; 0 keeps it in memory alone.'),
  metrics: z.boolean().describe('Whether requests are counted and timed.'),
  https_redirect: z.boolean().describe('Whether plain HTTP at the edge is sent on to HTTPS.'),
  hosts_file: z.boolean().describe('Whether the hosts file of this machine is kept in step with the local names.'),
  screenshots: z.boolean().describe('Whether pictures are taken of what was deployed.'),
  lan: z.boolean().describe('Whether edge and dashboard are open to the network around this machine. Needs the owner’s password.'),
  platform_ip: z.ipv4().nullable().describe('The address that A records of own domains must name; null takes the one at which the edge is reached.'),
  dns_server: z
    .number()
    .int()
    .min(0)
    .max(65_535)
    .nullable()
    .describe('Port of 127.0.0.1 at which bought .test, .internal and .home.arpa names are answered by DNS, 0 for any; null: none.'),
  dns_resolvers: z
    .array(dnsResolver)
    .min(1)
    .max(8)
    .nullable()
    .describe('Resolvers that are asked about own domains, such as 9.9.9.9; null asks those of the system.'),
  sign_up: z.enum(['off', 'invited', 'open']).describe('Who may get an account: nobody new, whoever is invited, or everybody who proves an address.'),
  plan: planName.describe('Plan of the owner’s account, to try a client against every 402. With a payment processor, its subscription says it.'),
  email_verified: z.boolean().describe('Whether the owner’s email counts as verified.'),
  payment_method: z.boolean().describe('Whether the owner’s account has a card.'),
  trial_days: z
    .number()
    .int()
    .min(0)
    .max(365)
    .nullable()
    .describe('Days left of a trial of pro for the owner’s account, while its plan is starter; 0 is one that has ended, null none at all.'),
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
  mend: z.string().nullable().describe('What to do about it.'),
})

export type DoctorCheck = z.output<typeof doctorCheck>

/** As the doctor tells it: with the page that says more. */
export const doctorCheckWithHelp = doctorCheck.extend({
  help: z.enum(helpTopics).nullable().describe('The page of help about it: `/app/help/{help}` of the dashboard.'),
})
export type DoctorCheckWithHelp = z.output<typeof doctorCheckWithHelp>

export const instanceEvents = {
  project: z.object({ project }),
  project_removed: z.object({ id: z.string(), slug: z.string() }),
  deployment: z.object({ deployment }),
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
    summary: 'Who I am, and where I am',
    access: 'caller',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        user,
        account,
        instance: z.object({
          version: z.string(),
          api_url: z.string(),
          edge_url: z.string(),
          edge_https_url: z.string().nullable(),
          dashboard_url: z.string(),
          runtime: runtimeStatus,
          encryption: z.enum(['keychain', 'file_key']).describe('Where the master key lies.'),
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
    summary: 'Follow every project that I may see, over one stream',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, events: instanceEvents },
    errors: [],
  }),
  deployFolder: operation({
    method: 'POST',
    path: '/instance/deploy-folder',
    group: 'Instance',
    summary: 'Deploy a folder of this machine with its working tree',
    description: 'Makes the project when there is none. The commit and whether the tree is dirty are recorded.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({
      path: z.string().min(1).max(4096).describe('An absolute path on the machine of the instance.'),
      slug: slug.optional(),
      name: z.string().min(limits.name.min).max(limits.name.max).optional(),
    }),
    success: { status: 201, json: z.object({ project, deployment }) },
    errors: ['invalid_input', 'slug_reserved', 'slug_taken', 'plan_limit_reached', 'email_not_verified', 'runtime_not_isolated'],
  }),
  doctor: operation({
    method: 'GET',
    path: '/instance/doctor',
    group: 'Instance',
    summary: 'What works, what does not, and how to mend it',
    access: 'owner',
    params: empty,
    query: z.object({
      quick: z.literal('true').optional().describe('Leaves out what takes long: engines, git, names, the look through the whole database.'),
    }),
    success: { status: 200, json: z.object({ checks: z.array(doctorCheckWithHelp) }) },
    errors: [],
  }),
  getSettings: operation({
    method: 'GET',
    path: '/instance/settings',
    group: 'Instance',
    summary: 'The settings of this instance',
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
    summary: 'A one-time link that signs a browser in as me',
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
    summary: 'Everybody on this instance',
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
    summary: 'Add a person, with an account and a token of their own',
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
    summary: 'Count the email of a person as verified',
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
    summary: 'Remove a person with the account and all its projects',
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
    summary: 'Let a person see and use the projects of another account',
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
    summary: 'Take that right back',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ owner_email: email, member_email: email }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'user_not_found'],
  }),
}
